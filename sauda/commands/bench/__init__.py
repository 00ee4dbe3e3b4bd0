"""`python -m sauda bench`: speed of the games, the model and the page."""
