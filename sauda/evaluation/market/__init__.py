"""The open market measured: regret at fixed positions, and who wins against whom.

`tournament/` plays every buyer against every seller, `profile/` says why a buyer wins or loses.
"""
