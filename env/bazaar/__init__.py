"""The bazaar: one item, one seller, one or more buyers.

`env.py` holds the two-party rules and `multi_buyer_env.py` those with several buyers. `classic/`
is the published game, `market/` the open market, `vectorized/` the same rules over arrays.
`selling_task.py` is the task in which the learner sells; `listings`, `tells` and
`time_dependent` serve all of them.
"""
