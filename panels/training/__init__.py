"""Training: the curves of real runs, from their logs."""
