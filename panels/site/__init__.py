"""How the page is served. `serving.py` opens it behind `guard.py`, which admits requests.

`routes.py` lists what may be asked for and `calls.py` what an event may be given; `streams.py`,
`queue_door.py` and `sauda.serve.limits` limit an address, and `sauda.fairness` orders those who
wait. `front.py` keeps the page as all visitors get it, `sessions.py` their states; `internals.py`
is all that is read of Gradio's inside. `health.py`, `headers.py` and `shutdown.py` do what they are
called.
"""
