"""GPU arena: the visitor plays `lab_0`, or lets a script or a language model act for it.

`tab.py` places a component per region of `screen.py`, and hands each press that `press.js` reports
to `callbacks.py`, which makes a new `visit.py`. `board.py`, `offers.py`, `form.py`, `view.py` and
`settlement.py` draw a game in the `words.py` and `names.py` of the page. `players.py` lists who can
act, `first_world.py` chooses the first world.
"""
