"""How well `sauda.language` reads what people write, and what training for a role changes.

`acts.py` scores dialogue acts in annotated dialogues. `roles.py` compares losses of role runs,
`role_play.py` lets their models say a script's moves in games, `contrasts.py` tests what they win
in games.
"""
