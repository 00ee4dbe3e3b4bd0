"""GPU arena: the visitor plays `lab_0`, or lets a script or a language model act for it.

`tab.py` wires what `layout.py` places to `callbacks.py`. `board/`, `offers.py`, `view.py` and
`settlement.py` draw a game in the `words.py` and `names.py` of the page; `form.py` turns fields
into actions, `address.py` names the world in the page's address. `players.py` lists who can act,
`first_world.py` chooses the first world.
"""
