"""The best response to a seller of the open market.

`sellers.py` models the replies of many sellers as arrays, `solver.py` solves the buyer's decision
process against them, `informed.py` plays the optimum against one known seller.
"""
