"""The open market: `pilot.py` the pilot, `tournament.py` who wins against whom and why."""
