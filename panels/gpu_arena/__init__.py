"""GPU arena: the visitor plays `lab_0`, or lets a script or a language model act for it.

`tab.py` wires what `layout.py` places to `callbacks.py`. `calendar.py`, `offers.py`, `view.py` and
`settlement.py` draw a game in the `words.py` of the page; `booking.py` and `form.py` turn presses
and fields into actions. `players.py` lists who can act, `first_world.py` chooses the first world.
"""
