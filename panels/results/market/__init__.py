"""Results of the open market that have a folder of their own: who beats whom."""
