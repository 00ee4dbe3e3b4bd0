"""How the page is served. `serving.py` opens it behind `gate.py`, which admits requests.

The gate knows names, sizes, rates, files and origins, by path and address. `cache.py` keeps the
page as all visitors get it, `sessions.py` the states of their sessions, the one place that reads an
undocumented module of Gradio.
"""
