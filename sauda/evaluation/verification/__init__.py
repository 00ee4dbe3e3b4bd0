"""Checks of artifacts: checksums, replays and recorded fingerprints.

`verify.py` checks an artifact by `recompute.py`, which plays it again; `recorded_hashes.py` lists
every fingerprint in it beside today's.
"""
