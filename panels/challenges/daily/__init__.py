"""Bargain of the day: one item and seed for everybody, a rank, a link that replays the game.

`tab.py` wires what `layout.py` places to `callbacks.py`; `screen.py` says what a game shows.
`view.py` draws the result and a friend's game, `card.py` the picture to share; `sauda_plays.py`
lets the served model play the same seed.
"""
