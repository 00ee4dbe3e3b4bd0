"""The open market measured: the oracle, calibration of beliefs, what sellers give away.

`tournament/` plays every buyer against every seller, `profile/` says why a buyer wins or loses.
"""
