"""The open market measured: the oracle, calibration of beliefs, what sellers give away."""
