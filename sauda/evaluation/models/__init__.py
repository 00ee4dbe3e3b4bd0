"""Language models before and after training, bare and wrapped, beside scripts.

`config.py` says what is played, `comparison.py` plays it and makes the tables, `sources.py` says
what is recorded of the models, `before_after.py` chooses games to show.
"""
