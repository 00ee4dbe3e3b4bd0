"""The player: policies, their evaluation, artifacts and the command line."""
