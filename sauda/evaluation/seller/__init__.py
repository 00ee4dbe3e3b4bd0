"""How good a seller's words are: `quality.py` makes the artifact.

`games.py` has the games and their buyers, `texts.py` the words, `published_criteria.py`,
`hard_criteria.py` and `judges.py` the rows, `listeners.py` the small models that judge.
"""
