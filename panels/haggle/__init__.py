"""Haggle: a visitor bargains with Sauda or a script. Also the model of how a tab is built.

`tab.py` wires what `layout.py` places to `callbacks.py` (visitor) and `model_callbacks.py`
(language model); both return new values by component through `screen.py`. `choices.py` turns what a
visitor picks into a game, `talk/` what is typed into moves and a chat. The `*_view.py` modules draw
a game, `review/` one that is over; `models.py` knows the language models, `words.py` the three
languages. The other sub-tabs stand in `panels/challenges/`.
"""
