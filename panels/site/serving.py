"""Opens the page behind its gate, limits connections and log, and ends it on SIGTERM."""

import logging
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from panels.site import card
from panels.site.cache import PageCache
from panels.site.gate import STEPS, TOOLS, Gate, OtherSites, Served, own_hosts
from panels.site.health import add_pulse, health_route
from panels.site.sessions import OPEN, SESSIONS, trust_proxies
from panels.ui import theme
from sauda.fairness import FairGate
from sauda.records.store import ROOT
from sauda.serve.http import openenv_app
from sauda.serve.mcp import McpServer, tool_schemas
from sauda.serve.openenv import Sockets

LOG = logging.getLogger(__name__)
# Gradio runs events in threads of their own then, and never in those that serve the page's files.
THREADS = 104  # as many as run at once, by the limits of all groups
QUEUE = 512  # events in all; `gate.py` limits those of one address
CONNECTIONS = 2048  # at a time, where the system lets one process have twice as many files
MOST_FRAME = 256 * 1024  # bytes; a larger message over a socket closes it
MINUTE = 60.0  # seconds, of the log
LONGEST = 300  # characters of an entry in the log
GRACE = 5.0  # seconds for the replies in progress at the end
CLOSING_SECONDS = 1  # for the connections that are open then


def serve(
    blocks: gr.Blocks, host: str, port: int, page: PageCache | None = None
) -> tuple[Any, Served]:
    """Open the page at this address, in threads of its own: Gradio's app, and what its gate keeps.

    OSError where it cannot listen.
    """
    steps = FairGate(STEPS)
    served = Served(
        own_hosts(os.environ, host, behind_proxy=trust_proxies()),
        page or PageCache(),
        Sockets(openenv_app(), steps),
        McpServer(steps),
    )
    add_pulse(blocks)
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
        state_session_capacity=SESSIONS,
        app_kwargs={
            "middleware": [Middleware(Gate, served=served)],
            "routes": [
                health_route(served),
                Route(card.PATH, card.answer),
                Route(TOOLS, tool_schemas),
                Mount("/artifacts", StaticFiles(directory=ROOT)),
                Mount("/fonts", StaticFiles(directory=theme.FONTS)),
            ],
            "lifespan": lambda _: served.mcp.running(),
        },
    )
    served.page.kept.clear()  # Gradio asks for the page once as it opens
    OPEN.session_data.clear()
    OPEN.set_blocks(blocks)
    app.state_holder = OPEN
    config = blocks.server.config
    # A client whose model is generating in its event loop answers no ping meanwhile.
    config.ws_max_size, config.ws_ping_timeout = MOST_FRAME, served.sockets.limits.idle_seconds
    config.timeout_graceful_shutdown = CLOSING_SECONDS
    # Gradio's own middleware comes before the gate, and answers the preflight of any site.
    config.loaded_app.app = OtherSites(config.loaded_app.app, served.hosts)
    config.limit_concurrency = most_connections()
    return app, served


def most_connections() -> int:
    """How many connections the web server holds: half of the files that it may then open at most.

    A process without free file descriptors serves nobody, so the system's limit is raised first.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return files // 2


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
