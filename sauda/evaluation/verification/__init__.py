"""Checks of artifacts: checksums, replays and recorded code hashes.

`verify.py` checks an artifact by `recompute.py`, which plays it again; `recorded_hashes.py` lists
every code hash in it beside today's.
"""
