"""The open market, the benchmark of this project: every episode draws its prices and its seller.

`sellers.py` holds the hidden seller types, their replies, claims and tells; `tasks.py` the tasks,
how an episode is drawn, and the grader.
"""
