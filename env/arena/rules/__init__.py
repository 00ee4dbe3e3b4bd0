"""The rules of the GPU arena, one module for each group of actions.

`offers.py`, `capacity.py` and `messages.py` apply the actions to the draft in `transaction.py`; a
refused action leaves no trace. `legal_actions.py` lists what a lab may do now. `round_end.py`
closes a round.
"""
