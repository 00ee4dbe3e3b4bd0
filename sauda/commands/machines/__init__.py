"""Commands beyond one machine.

`jobs.py` trains on rented machines, `shards.py` spreads an evaluation and `rollouts.py` a model's
games, `deploy.py` puts the page on a Space and tests an address, `engine.py` has their options.
"""
