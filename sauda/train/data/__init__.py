"""Training data.

`teacher.py` and `arena.py` make the rows that SFT learns, `own_games.py` and `soft.py` those of
distillation, `preferences.py` collects the pairs that DPO learns. `dialogues/` holds examples of
the buyer and of the seller from negotiations in words.
"""
