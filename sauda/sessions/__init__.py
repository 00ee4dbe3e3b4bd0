"""A visitor's game as a value: `bazaar.py` and `arena.py`.

`review.py` says what each move of a finished bazaar game cost, `search.py` finds the better lines.
"""
