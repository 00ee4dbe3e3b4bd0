"""Who beats whom? The tournament of the scripts that buy and sell.

`question.py` lays out the answer: the verdict, the map of `matrix.py`, and the tables of
`tables.py` below it. `pair_games.py` plays some games of a pair again.
"""
