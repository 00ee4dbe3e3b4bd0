"""Haggle: a visitor bargains with Sauda or a script. Also the model of how a tab is built.

`tab.py` wires what `layout.py` places to `callbacks.py` (visitor) and `model_callbacks.py`
(language model); both return new values by component through `screen.py`. `choices.py` turns what a
visitor picks into a game, `opening/` finds the game that the page opens with, `talk/` turns what is
typed into moves and a chat. `game_view.py` draws a game, `review/` one that is over, `opponents/`
who plays against the visitor; `models.py` knows the served models, `words.py` three languages.
The other sub-tabs stand in `panels/challenges/`.
"""
