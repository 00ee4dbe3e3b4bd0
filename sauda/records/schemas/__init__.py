"""What result types share: `base.py` has the strict class of which all are, means, intervals."""
