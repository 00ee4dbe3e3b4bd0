"""`python -m sauda loadtest`: many visitors of a running page, polite and hostile ones.

`command.py` parses and prints, `run.py` starts pages and plays the mixes of `mixes.py` and
`hostile.py`. `visits.py` says what one visitor does; `haggle.py` reads the page's description of
itself, `client.py` speaks Gradio's protocol, `tally.py` keeps seconds and failures.
`page_process.py` runs the page, `checkout.py` an earlier commit.
"""
