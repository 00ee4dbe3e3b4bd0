"""How the page is served. `serving.py` opens it behind `gate.py`, which admits requests.

The gate knows sizes, rates, files and origins, by path and address; `hosts.py` has the page's names
and `connections.py` limits what the web server holds. `cache.py` keeps the page as all visitors get
it, `sessions.py` their states, the one place that reads an undocumented module of Gradio.
"""
