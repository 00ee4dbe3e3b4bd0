"""The bazaar over numpy arrays: thousands of episodes at once, equal to the scalar rules.

`types.py` holds the arrays, `games.py` makes games, `rollout.py` plays them. `buyers.py`,
`sellers.py` and `grades.py` mirror the scalar policies and graders, `rounding.py` Python's
arithmetic.
"""
