"""Language models for the visitors of a page.

`served.py` lists the models that the page offers, `worker.py` is one of them as a tab uses it.
`service.py` puts requests in a fair line (`line.py`) before an engine: `process.py` keeps the
page's own models in a process (`engine.py` decodes there), `threads.py` calls a GPU of this process
or another machine. `events.py` is what the two sides send each other.
"""
