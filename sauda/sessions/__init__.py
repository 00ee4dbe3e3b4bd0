"""A visitor's game as a value: `bazaar.py` and `arena.py`.

`daily.py` is the bargain of the day, `spot.py` two hidden buyers before one seller.
`review.py` says what each move of a finished bazaar game cost and finds the better lines.
"""
