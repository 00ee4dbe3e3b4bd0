"""GPU arena: a policy or the visitor plays `lab_0`, step by step.

`tab.py` wires what `layout.py` places to `callbacks.py`; `form.py` turns what a visitor picks and
types into an action; `view.py` draws a game.
"""
