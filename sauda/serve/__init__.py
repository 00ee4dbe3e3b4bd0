"""The games for programs: other people's trainers, agents and libraries.

`game.py` is one game as a value, `observations.py` what goes out of it. `openenv.py` and `http.py`
serve both games by the OpenEnv protocol, `mcp.py` as tools for an agent. `leaderboard.py` ranks
what agents played there, under names that `names.py` lets them take. `limits.py` says how much one
address may hold of all this and of the page, `listening.py` where the page listens.
"""
