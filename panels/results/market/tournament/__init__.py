"""Who beats whom? The tournament of all buyers and all sellers.

`question.py` lays out the answer: the verdict, the map of `matrix.py`, and the tables of
`tables.py` below it, with the contrasts of roles in `contrasts.py`. `pair_games.py` plays some
games of a pair again, each with `plane.py`.
"""
