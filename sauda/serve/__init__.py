"""The games for programs: other people's trainers, agents and libraries.

`openenv/` serves them by the OpenEnv protocol, `mcp/` as tools for an agent, `leaderboard/` keeps
what agents played there to be ranked. `address.py` says who calls, and the gate of `sauda.fairness`
lets few calls run at a time; `listening.py` says where the page listens, `episodes.py` keeps games
between calls, `json_object.py` reads what a stranger sends.
"""
