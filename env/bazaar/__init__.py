"""The bazaar: one item, one seller, one or more buyers.

`types.py` holds the values of a game, `env.py` the two-party rules, `multi_buyer_env.py` those with
several buyers. `classic/` is the published game, `market/` the open market, `vectorized/` the same
rules over arrays. `selling_task.py` is the task in which the learner sells. `listings.py` (items),
`tells.py` (a seller's manner) and `time_dependent.py` (a policy for either seat) serve all of them.
"""
