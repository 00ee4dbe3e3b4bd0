"""Both games as one OpenEnv environment, for the package `openenv` 0.10.

`game.py` is one episode as a value. `actions.py` and `observations.py` hold what goes over the
wire, `briefing.py` the rules in words, `rubrics.py` the named parts of the reward, `task_list.py`
the numbered tasks of a split.
`environment.py` is the environment, `routes.py` the web app around it, `sockets.py` the limits of
`/ws`.
"""
