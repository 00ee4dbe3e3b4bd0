"""Dialogues to learn from, and examples of one role's turns in them.

`sources.py` lists the data sets and loads them from files, the Hub or the set that is shipped;
`reading.py` counts what is malformed or left out, `craigslist.py` and `dond.py` read a row each.
`examples.py` makes examples of a role, `generated.py` the shipped set.
"""
