"""Artifacts on disk and what belongs to a record.

`store.py` loads and saves, `schemas.py` holds the shapes, `seal.py` and `code_hash.py` the
digests, `provenance.py` the origin, `transcript.py` episodes as JSON and Markdown.
"""
