"""The games for programs: other people's trainers, agents and libraries.

`openenv.py` and `http.py` serve them by the OpenEnv protocol, `mcp.py` as tools for an agent, and
`leaderboard.py` keeps what agents played there to be ranked. `limits.py` says who may call how
often; the gate of `sauda.fairness` lets few calls run at a time.
"""
