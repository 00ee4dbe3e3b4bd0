"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums, `schemas/` holds the shapes, `code_hash/` names code by
its content, `provenance.py` the origin.
"""
