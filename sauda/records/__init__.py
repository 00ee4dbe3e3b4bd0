"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums and provenance, `schemas/` holds the shapes, `seeds.py`
the splits, and `fingerprint.py` tells by play whether two rows mean the same game.
"""
