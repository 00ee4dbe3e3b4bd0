"""Whom a visitor can play against, and what was measured of each.

`stages.py` takes the stages of training and their figures from the artifacts, so that a new stage
with rows is offered; `badge.py` shows who plays, `model_view.py` what a language model reads and
writes; `hearing.py` shows what is heard in the words of both sides; `words.py` and
`hearing_words.py` name all of it in three languages.
"""
