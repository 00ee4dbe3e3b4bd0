"""A language model as a player.

`games/` holds one adapter a game (prompt, parser, JSON schema), `backends/` loads and runs models,
`seller/` is the model that words a seller's decisions. `registry.py` resolves names of models,
`wrappers.py` steers a policy, `batched_rollout.py` plays many games in one forward pass,
`seats.py` seats a model across from a visitor, `types.py` holds messages and replies.
"""
