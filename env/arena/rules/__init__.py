"""The rules of the GPU arena, one module a kind of action.

`transaction.py` is the draft of the next state that every action works on; `legal_actions.py`
lists the actions a lab may take now; `round_end.py` closes a round.
"""
