"""The profile of a buyer: what it wins, where it loses, what it reads, believes and breaks.

One number hides why a player wins; TERMS-Bench (arXiv 2605.13909) diagnoses players by such parts.
`players.py` makes a player of any name, `endpoint.py` one of a model elsewhere. `cues.py` has the
same sellers with candid, neutral and misleading signals, `calibration.py` scores beliefs,
`report.py` computes the profile.
"""
