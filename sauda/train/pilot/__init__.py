"""Training of the pilot, a small network for the open market: PPO on games drawn at once.

`games.py` plays games with an unsteady hand and records them, `ppo.py` learns from them, `run.py`
has the settings and runs the stage from its start, or its last checkpoint, to its artifact.
`tuned.py` searches for a linear rule on such games, to compare with.
"""
