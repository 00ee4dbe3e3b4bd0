"""A language model that sells: code decides, the model words the decision, code checks the words.

`personas.py` holds the sellers by numbers, `policy.py` the seat and its decisions, `wording.py` the
prompt and the accepted text, `checks.py` the faults of a text, `seating.py` the task around it.
"""
