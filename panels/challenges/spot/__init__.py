"""Spot the trained one: two hidden stages of the model answer the same ask; a guess, then scores.

`stages.py` chooses the two stages and the recorded games from the artifacts, `layout.py` places the
components, `callbacks.py` says what happens, `view.py` draws, `tab.py` wires.
"""
