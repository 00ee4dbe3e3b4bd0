"""Where completions come from.

`weights.py` finds the small base model, `model.py` loads base, adapter and precision. `decoding.py`
samples tokens over `kv_cache.py` (rows side by side) and `prefix_cache.py` (conversations read
before), for one reply or for many at a time (`batch.py`). `remote.py` calls endpoints elsewhere.
"""
