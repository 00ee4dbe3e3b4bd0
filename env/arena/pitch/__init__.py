"""Public pitches of labs, and the rule judge that grades them claim by claim.

`claim_types.py` lists the kinds of claims, `parser.py` finds them in a text, `facts.py` checks them
against the state, `judge.py` grades a pitch and decides a round, `strategies.py` writes pitches.
"""
