"""What result types share: `base.py` has their strict class, tables, means, intervals."""
