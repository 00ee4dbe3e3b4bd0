"""The tournament: every buyer against every seller of the open market, on the same scenarios.

`players.py` puts two players at a table, `scenarios.py` says what they play for. `games.py` plays a
pair by the fastest engine, through `batch_sellers.py` or `model_games.py`, or one game at a time.
`figures.py` computes the matrix, `ranking.py` ranks and exploitability, `report.py` the artifact.
"""
