"""Pitches between labs and the rule judge that scores them, claim by claim.

`claim_types.py` names the kinds of claims, `parser.py` finds and checks them in a text,
`facts.py` computes what is true, `judge.py` scores, `strategies.py` writes pitches.
"""
