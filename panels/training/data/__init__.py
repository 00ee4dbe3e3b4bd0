"""The data explorer: role examples from the shipped dialogues.

`explorer.py` lays it out, `view.py` draws an example, its dialogue and its loss mask, `rows.py`
finds examples and counts them.
"""
