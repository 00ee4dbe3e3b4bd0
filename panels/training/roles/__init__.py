"""Roles: `losses.py` shows what their training changed, `role_play.py` how they fare in games."""
