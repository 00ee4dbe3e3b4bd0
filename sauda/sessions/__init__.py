"""A visitor's game as a value, one module a game."""
