"""Checks of artifacts: seals, replays and recorded code hashes.

`verify.py` checks an artifact by `recompute.py`, which plays it again; `recorded_hashes.py` lists
every code hash in it beside today's, `rehash.py` renews those hashes after a proof.
"""
