"""Judge: recorded rounds of pitches, and a pitch of the visitor's own.

`tab.py` lays out and wires; `view.py` draws a round, `pitch.py` judges the visitor's pitch,
`learning.py` shows whether advocates learn from the judge.
"""
