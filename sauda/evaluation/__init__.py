"""Policies x tasks x seeds, and every other measurement that becomes an artifact.

`evaluate.py` plays and tabulates, `models/` compares language models before and after training,
`reproduction.py` compares our classic game with its source. `market/` measures the open market,
`language/` the readers of text, `seller/` the words of a model that sells, `verification/` checks
artifacts.
"""
