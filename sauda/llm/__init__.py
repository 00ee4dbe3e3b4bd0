"""A language model as a player.

`engine.py` decodes tokens, `model.py` loads weights into a model that replies. `server.py` lets
visitors take turns at the models that `process.py` keeps in a process; `backends.py` says which
models a page serves, those on other machines too. `turn.py` plays a model in a game, `wrappers.py`
steers its moves and `seller.py` lets it sell.
"""
