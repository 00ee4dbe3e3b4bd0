"""A small network that plays the open market, trained by `python -m sauda train pilot`.

`numbers.py` reads a position as the prompt shows it, `network.py` runs the network, `buyer.py`
plays it as a contestant. `tuned.py` plays a linear rule in its place.
"""
