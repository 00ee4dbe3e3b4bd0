"""Results of the open market: its optimum, what its sellers give away, what the buyer believes."""
