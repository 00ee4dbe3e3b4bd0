"""Checks of artifacts: seals, replays and recorded code hashes.

`verify.py` plays an artifact again, `recorded_hashes.py` lists every code hash in it beside
today's, `rehash.py` renews those hashes after proving that they name the same code.
"""
