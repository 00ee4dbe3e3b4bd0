"""Policies x tasks x seeds, and every other measurement that becomes an artifact.

`evaluate.py` plays and tabulates, `columns.py` holds the per-episode columns, `statistics.py` the
intervals, `verify.py` plays artifacts again. `market/` measures the open market, `seller/` the
words of a model that sells.
"""
