"""How well `sauda.language` reads what people write, and what training for a role changes.

`sentences.py` scores prices and tells in labelled sentences, `acts.py` dialogue acts in annotated
dialogues. `roles.py` compares losses of role runs, `role_play.py` lets their models say a script's
moves in games, `contrasts.py` tests what they win in games.
"""
