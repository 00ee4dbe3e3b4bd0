"""A language model as a seller: code decides, the model words it, `checks.py` checks the words."""
