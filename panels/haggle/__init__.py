"""Haggle: a visitor bargains with Sauda or a script. Also the model of how a tab is built.

`tab.py` wires what `layout.py` places to `callbacks.py` and `model_callbacks.py`, which return new
values by component through `screen.py`: a value for each region of HTML, and the `Visit` that one
`gr.State` holds. `choices.py` turns what a visitor picks into a game, `resume.py` finds it again,
`visitor_text.py` turns what is typed into moves, `conversation.py` tells the chat. `game_view.py`
draws a game, `result.py` and `review.py` one that is over, `badge.py`, `hearing.py` and
`opponents.py` who plays against the visitor; `words.csv` has the words in three languages.
The other sub-tabs stand in `panels/challenges/`.
"""
