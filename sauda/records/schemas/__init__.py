"""What artifacts hold, by subject; `base.py` has the strict class, tables, means and intervals."""
