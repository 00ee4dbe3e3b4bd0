"""The bazaar: one item, one seller, one or more buyers.

`types.py` holds the values of a game, `rules.py` the two-party rules, `sealed_bids.py` those with
several buyers. `classic.py` is the published game, `market.py` the open market, `speech.py` what
can be said in it, `sale.py` the task in which the learner sells by a published brief. `people.py`
holds sellers that answer as people do, `customers.py` such buyers.
"""
