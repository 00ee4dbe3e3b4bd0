"""`python -m sauda bench`: speed of the games, the model and the page.

`command.py` runs and prints the measurements; `games.py`, `tables.py`, `model.py`, `throughput.py`,
`openenv.py` and `page.py` each take some.
Many visitors at once are the load test's: `sauda/commands/loadtest/`.
"""
