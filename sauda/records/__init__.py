"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums, `schemas/` holds the shapes, `provenance.py`
the origin, and `fingerprint.py` tells by play whether two rows mean the same game.
"""
