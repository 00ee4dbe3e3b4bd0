"""`python -m sauda bench`: speed of the games, the model and the page.

`command.py` runs and prints the measurements; `games.py`, `model.py` and `page.py` each take some;
`load_test.py` plays many visitors of a page that `page_process.py` starts.
"""
