"""Opens the page behind its gate, keeps its log small, and ends it on SIGTERM."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.routing import Route

from panels.site import sessions
from panels.site.cache import Opening, PageCache
from panels.site.connections import Connections, limits_of_system
from panels.site.gate import STEPS, TOOLS, Gate, Served
from panels.site.health import health_route
from panels.site.hosts import own_hosts
from panels.site.visitor import trust_proxies
from panels.ui import theme
from sauda.fairness import FairGate
from sauda.serve.http import openenv_app
from sauda.serve.mcp import McpServer, tool_schemas
from sauda.serve.openenv import Sockets

# Gradio runs events in threads of their own then, and never in those that serve the page's files.
THREADS = 104  # as many as run at once, by the limits of all groups
QUEUE = 512  # events in all; `gate.py` limits those of one address
MOST_FRAME = 256 * 1024  # bytes; a larger message over a socket closes it
SCHEMAS = ("api_info", "api_info_as_input", "api_info_as_output", "example_inputs")
MINUTE = 60.0  # seconds, of the log
LONGEST = 300  # characters of an entry in the log
GRACE = 10.0  # seconds for the replies in progress at the end; a Space gives about thirty


def serve(
    blocks: gr.Blocks, host: str, port: int, opening: Opening | None = None
) -> tuple[Any, Served]:
    """Open the page at this address, in threads of its own: Gradio's app, and what its gate keeps.

    OSError where it cannot listen.
    """
    steps = FairGate(STEPS)
    served = Served(
        own_hosts(os.environ, host, behind_proxy=trust_proxies()),
        PageCache(opening or Opening()),
        Sockets(openenv_app(), steps),
        McpServer(steps),
    )
    blocks.queue(max_size=QUEUE, api_open=False)  # what is queued cannot skip the queue
    app, _, _ = blocks.launch(
        server_name=host,
        server_port=port,
        theme=theme.THEME,
        head=theme.HEAD,
        ssr_mode=False,
        enable_monitoring=False,
        footer_links=["api", "settings"],
        quiet=True,
        prevent_thread_lock=True,
        run_history=False,
        max_threads=THREADS,
        max_file_size=0,
        state_session_capacity=sessions.SESSIONS,
        app_kwargs={
            "middleware": [Middleware(Gate, blocks=blocks, served=served)],
            "routes": [health_route(served), Route(TOOLS, tool_schemas)],
            "lifespan": lambda _: served.mcp.running(),
        },
    )
    drop_schemas(blocks)
    sessions.OPEN.session_data.clear()
    sessions.OPEN.set_blocks(blocks)
    app.state_holder = sessions.OPEN
    config = blocks.server.config
    # A client whose model is generating in its event loop answers no ping meanwhile.
    config.ws_max_size, config.ws_ping_timeout = MOST_FRAME, served.sockets.limits.idle_seconds
    Connections(limits_of_system(), config.loaded_app.trusted_hosts).limit(config)
    return app, served


def drop_schemas(blocks: gr.Blocks) -> None:
    """Take out of the page's configuration the schemas of what no public event takes or returns.

    The description of the API alone reads them, and tells nothing of private events.
    """
    public = [event for event in blocks.fns.values() if event.api_visibility != "private"]
    kept = {part._id for event in public for part in (*event.inputs, *event.outputs)}
    for part in blocks.config["components"]:
        for name in SCHEMAS if part["id"] not in kept else ():
            part.pop(name, None)


def stay_until_stopped(blocks: gr.Blocks, served: Served, grace: float = GRACE) -> None:
    """Return after SIGTERM or SIGINT, when no answer is awaited or `grace` seconds are over.

    New calls are refused meanwhile with a sentence. Call it in the main thread.
    """
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    while not stopped.wait(0.2):  # a signal that came to another thread waits for this one
        continue
    served.is_open = False
    deadline = time.monotonic() + grace
    while (served.answers.total or served.calls.running) and time.monotonic() < deadline:
        time.sleep(0.05)
    blocks.close()  # tells the browsers that still wait that the page stopped


# The log of warnings and errors ------------------------------------------------------------------


class OncePerMinute(logging.Filter):
    """Lets the first entry of a kind in a minute pass, with the number of those left out before.

    A stranger can cause most entries, so what a request sends is cut, and a thousand requests fill
    no disk. A kind is a line of code that writes, and the type of the error that it writes about.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds: dict[tuple, tuple[float, int]] = {}  # when last written, how many left out

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the entry is written; its text becomes one line."""
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.pathname, record.lineno, error)
        now, (last, left_out) = self._clock(), self._kinds.get(kind, (-MINUTE, 0))
        if now - last < MINUTE:
            self._kinds[kind] = (last, left_out + 1)
            return False
        self._kinds[kind] = (now, 0)
        line = " ".join(record.getMessage().split())
        more = f" ({left_out} more like it)" if left_out else ""
        record.msg, record.args = line[:LONGEST] + more, ()
        return True


def log_once_per_minute() -> None:
    """Filter what goes to the handlers that there are: the root's, and those of the web server."""
    logging.basicConfig()
    for name in (None, "uvicorn"):
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(OncePerMinute())
