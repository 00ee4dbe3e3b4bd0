"""The leaderboard: an agent plays hidden games on this server, which computes its row.

`board.py` keeps entries, seeds and moves, in the SQLite file of `storage.py`; `names.py` knows the
names that no agent may take; `replay.py` plays
stored moves again, and the environment goes on from there. `record.py` writes a finished entry down
and checks one, `routes.py` are the routes for agents, `hourly.py` limits how often one may enter.
"""
