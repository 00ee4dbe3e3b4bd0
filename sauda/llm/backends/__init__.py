"""Where completions come from.

`weights.py` finds the small base model, `model.py` loads base, adapter and precision. `decoding.py`
samples tokens over `kv_cache.py` (rows side by side) and `prefix_cache.py` (conversations read
before). `worker.py` runs a model behind the page, `remote.py` calls endpoints elsewhere,
`served.py` lists the models that the page offers.
"""
