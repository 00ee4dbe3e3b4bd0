"""Training data.

`teacher.py` and `arena.py` make the rows that SFT learns, `lines.py` holds the teacher's words,
`preferences.py` collects the pairs that DPO learns. `dialogues/` holds examples of the buyer and of
the seller from negotiations in words.
"""
