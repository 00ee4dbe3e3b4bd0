"""Results of the open market: its optimum, what sellers give away, beliefs, and who beats whom."""
