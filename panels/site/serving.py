"""Opens the page behind its gate, limits connections and log, and ends it on SIGTERM."""

import asyncio
import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import gradio as gr
import uvicorn
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
from sauda.serve.limits import Limiter, normalize_address
from sauda.serve.mcp import McpServer, tool_schemas
from sauda.serve.openenv import Sockets

LOG = logging.getLogger(__name__)
# Gradio runs events in threads of their own then, and never in those that serve the page's files.
THREADS = 104  # as many as run at once, by the limits of all groups
QUEUE = 512  # events in all; `gate.py` limits those of one address
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
                card.route(),
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
    Connections(limits_of_system(), config.loaded_app.trusted_hosts).limit(config)
    return app, served


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


# The connections to the web server ----------------------------------------------------------------

# uvicorn has a time-out for what follows an answer, none for a connection that never asks, and no
# limit by address; a process without free file descriptors serves nobody.
FILES = 8192  # file descriptors that the page asks the system for
LEAST = 16 * 1024  # bytes
# That the system takes of an answer at once. By itself it takes megabytes, and then says of nobody
# who reads slowly that anything was read.
SENT_AHEAD = 128 * 1024
SENTENCE = b"Too many connections are open; close some, or try again in a minute.\n"
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(SENTENCE), SENTENCE)
)


@dataclass(frozen=True)
class Limits:
    """What the connections may have, those that became sockets of `/ws` included."""

    most: int = 2048
    of_address: int = 512  # a trusted proxy speaks for many, and has no limit but the first
    head_seconds: float = 15.0  # until the head of the first or next request has come
    read_seconds: float = 30.0  # in which a slow reader has read LEAST of an answer


def limits_of_system() -> Limits:
    """The limits, with room for as many files beside the connections; raises that of the system."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft := wanted, hard))
    most = Limits.most if soft == resource.RLIM_INFINITY else min(Limits.most, soft // 2)
    return Limits(most, min(Limits.of_address, most // 2))


class Connections:
    """The open connections, by address."""

    def __init__(self, limits: Limits, proxies: Container[str] = ()) -> None:
        self.limits, self.proxies = limits, proxies
        self.held = Limiter(limits.of_address, limits.most)

    def limit(self, config: uvicorn.Config) -> None:
        """Let the server of a loaded configuration hold connections to come within the limits."""
        for name, counts in (("http_protocol_class", _Asked), ("ws_protocol_class", _Counted)):
            own = type("Limited", (counts, getattr(config, name)), {"among": self})
            setattr(config, name, own)

    def enter(self, host: str) -> str | None:
        """Count one more connection; the address that has it, or None where there is no room."""
        address = normalize_address(host)
        if self.held.take(address, is_exempt=host in self.proxies):
            return address
        LOG.warning("refused a connection: %d are open", self.held.total)
        return None


class _Counted:
    """Comes before a protocol of uvicorn's, whatever package reads the messages."""

    among: Connections
    _address: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._address = self.among.enter(self.client[0] if self.client else "")
        if self._address is None:
            transport.write(REFUSAL)
            transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._leave()
        super().connection_lost(error)

    def _leave(self) -> None:
        if self._address is not None:
            self.among.held.give_back(self._address)
            self._address = None


class _Asked(_Counted):
    """The same before a protocol of HTTP: who neither asks nor reads in time loses the connection.

    What is closed still waits until all that was sent is read.
    """

    _timer: asyncio.TimerHandle | None = None
    _reads: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        if not self.transport.is_closing():
            self._stop_timer("_reads")
        super().resume_writing()

    def connection_made(self, transport: asyncio.Transport) -> None:
        wire = transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT_AHEAD)
        super().connection_made(transport)
        self._await_head()

    def handle_websocket_upgrade(self, *request: Any) -> None:
        self._leave()  # the protocol of the socket takes the connection over, and its place
        super().handle_websocket_upgrade(*request)

    def on_response_complete(self) -> None:
        self._await_head()
        super().on_response_complete()

    def _await_head(self) -> None:
        """Close the connection unless a request begins in time; its bytes alone do not count."""
        self._stop_timer("_timer")
        former = self.cycle

        def give_up() -> None:
            if self.cycle is former:
                self.transport.close()
                self._await_reader()

        self._timer = self.loop.call_later(self.among.limits.head_seconds, give_up)

    def _await_reader(self) -> None:
        """Cut the connection unless enough of what waits to be sent is read in time."""
        self._stop_timer("_reads")
        before = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() > before - LEAST:
                self.transport.abort()
            else:
                self._await_reader()

        self._reads = self.loop.call_later(self.among.limits.read_seconds, look)

    def _stop_timer(self, name: str) -> None:
        if (timer := getattr(self, name)) is not None:
            timer.cancel()

    def _leave(self) -> None:
        self._stop_timer("_timer")
        self._stop_timer("_reads")
        super()._leave()
