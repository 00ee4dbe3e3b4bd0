"""Training data: teacher rows of both games, their lines, preference pairs."""
