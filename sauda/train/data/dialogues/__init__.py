"""Dialogues to learn from.

`sources.py` lists the data sets and loads them from files, the Hub or the set that is shipped;
`reading.py` counts and reports what is malformed or left out, `craigslist.py` and `dond.py` read a
row each, `filters.py` says which dialogues are used.
`generated.py` makes the shipped set, `sequences.py` the sequences that a role learns.
"""
