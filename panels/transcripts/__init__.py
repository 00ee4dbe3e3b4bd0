"""Transcripts: one seed under several policies, side by side.

`tab.py` wires what `layout.py` places to `callbacks.py`; `episodes.py` plays and saves episodes;
`view.py` draws those of the bazaar, `arena.py` those of the GPU arena. `before_after.py` draws one
game before and after training, `pair_tab.py` lays it out. `playing.py` is play and pause of both.
"""
