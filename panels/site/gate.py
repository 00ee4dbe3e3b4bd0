"""ASGI middleware before Gradio: size, rate and origin of requests, by path and address.

Gradio runs the functions of events in the threads that serve its files too, so calls without a
limit freeze the page. Calls pass a fair gate, in which addresses take turns, and each address has
limits on how many events and sessions it begins.
"""

import asyncio
import math
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from panels.site.cache import PageCache, messages_of
from panels.site.sessions import OPEN
from panels.ui.visitor import CALLER
from sauda.fairness import FairGate, QueueFull, Visitor
from sauda.fairness import Limits as GateLimits
from sauda.serve.limits import Limiter, Refused, address_of, is_this_machine, json_object
from sauda.serve.mcp import ADDRESS as MCP_ADDRESS
from sauda.serve.mcp import NO_TOOLS, McpServer
from sauda.serve.openenv import Sockets

API = "/gradio_api"
TOOLS = f"{MCP_ADDRESS}/schema"  # the list of the tools for agents
MCP = re.compile(rf"{MCP_ADDRESS}/?")
NOT_MCP = re.compile(rf"/mcp/?|{MCP_ADDRESS}/(?!schema$).+")  # where agents look for it as well
SOCKET = "/ws"  # of the OpenEnv environment; the page has no other
OPENENV = {
    "GET": r"/(openapi\.json|docs|metadata|schema|state|score|tasks|list_environments)"
    r"|/sauda/splits|/leaderboard(/games|/people|/typical)?",
    "POST": r"/(reset|step|leaderboard/(enter|turn|withdraw)"
    rf"|sauda/(tasks|num_tasks|task|task_range))|{NOT_MCP.pattern}",
}
# The page takes no files, fetches none, and keeps no links to a state of it.
NOT_HERE = re.compile(rf"{API}/(upload|proxy=|deep_link|file=https?:)", re.IGNORECASE)
JOINS = re.compile(rf"{API}/(queue/join|call/)")  # begin an event in Gradio's queue
ANSWERS = re.compile(rf"{API}/(queue/data|call/)")  # stay open until an event is over
# What Gradio sends there of an event, and of a session, that it does not know.
NO_EVENT, NO_SESSION = b'event: error\ndata: "404', b'"session_not_found":true'

MOST_BYTES = 1024 * 1024  # of a call
BODY_SECONDS = 10  # within which the body of a call has come
STREAMS_OF_ADDRESS = 512  # open requests of the API, up to two per tab
JOINS_OF_ADDRESS, JOINS_SECONDS = 256, 10.0  # events that begin in the queue, within so long
SESSIONS_OF_ADDRESS, SESSIONS_SECONDS = 300, 60.0  # that begin, within so long
# A tab that opens starts about 20 events; a hundred tabs of one address may open at once.
EVENTS = GateLimits(waiting_of_address=2048)
# Programs that play have a gate of their own: no trainer and no agent takes a visitor's turn.
STEPS = GateLimits(running=4, running_of_address=3)
# Gradio fetches, stores and serves what an object with some of these names points at; one with the
# last is an update of a component.
FILE_NAMES = gr.FileData.model_fields.keys() - {"size"} | {"is_file", "__type__"}
# By the first of these a caller would choose the page's own address, and Gradio fails on the last.
NEVER_READ = {b"x-gradio-server", b"range"}
OF_PROXIES = {b"x-forwarded-host", b"x-forwarded-proto"}
REFUSED = 1008  # the code of a socket that is not opened

FRAMES = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space"
HEADERS = {  # as strict as a page in a frame of huggingface.co can have
    # Gradio's scripts and styles stand in the page itself, so no rule for scripts is possible.
    "content-security-policy": f"frame-ancestors {FRAMES}; object-src 'none'; base-uri 'self'",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
}


FULL = Refused(
    429,
    "Your network address has as many tabs open as the page allows; close one and load this again.",
)
SECONDS = 30  # until a call is given up, which gives its place to the next one
LATE = Refused(
    503, f"This took longer than {SECONDS} seconds and was given up; try again in a minute."
)
FOREIGN = Refused(403, "The page takes no calls from the pages of other sites.")
CLOSING = Refused(503, "The page is being restarted; open it again in a minute.")


# The page's names ---------------------------------------------------------------------------------

# A page of another site can let its own name lead to this machine, and its scripts then count as
# the page's own in the browser. So a name has to be known. An address of the network is no name and
# leads nowhere else, so it always may stand in `Host`.
MORE_HOSTS = "SAUDA_HOSTS"  # more names, with commas between them; ".example.com" is all below it
LOOPBACK = ("localhost", ".localhost")
OF_SPACES = ".hf.space"
HOST = re.compile(
    r"(?P<name>[\w.\-]{1,253}|\[[\da-f:.]{2,45}\])(:\d{1,5})?", re.ASCII | re.IGNORECASE
)
SCHEMES = ("http", "https")  # a proxy may take the latter and pass on the former


@dataclass(frozen=True)
class Hosts:
    """The names of a page."""

    names: tuple[str, ...]  # one that begins with a dot stands for all names that end like it
    behind_proxy: bool = False  # that may say under which name the page is reached
    on_space: bool = False  # whose proxy is the only way in, and may call the page what it likes

    def are_own(self, name: str) -> bool:
        """Whether this name, or this address of the network, is the page's."""
        name = name.lower().rstrip(".")
        try:
            ip_address(name.strip("[]"))
            return True
        except ValueError:
            return any(
                name.endswith(host) if host.startswith(".") else name == host for host in self.names
            )

    def check(self, headers: Headers) -> None:
        """Raise Refused where a request came under a name that is not the page's."""
        ours, foreign = self._claimed(headers)
        if foreign and not (self.on_space and ours):
            raise Refused(
                421,
                f"This page is not known as {foreign[0]}; whoever runs it can add a name to"
                f" {MORE_HOSTS}.",
            )

    def check_origin(self, headers: Headers) -> None:
        """Raise Refused where a browser sends a request for the page of another site."""
        origin, (ours, _) = headers.get("origin"), self._claimed(headers)
        if origin is not None and origin not in {f"{s}://{host}" for s in SCHEMES for host in ours}:
            raise FOREIGN

    def _claimed(self, headers: Headers) -> tuple[list[str], list[str]]:
        """The hosts under which a request says that it reached the page: own and foreign ones."""
        forwarded = headers.get("x-forwarded-host", "") if self.behind_proxy else ""
        # Of several proxies the first counts, and one may add a path.
        first = re.split("[,/]", forwarded, maxsplit=1)[0].strip()
        ours, foreign = [], []
        for host in filter(None, (headers.get("host"), first)):
            match = HOST.fullmatch(host)
            if not match:
                raise Refused(400, "The Host header names no host.")
            (ours if self.are_own(match["name"]) else foreign).append(host)
        return ours, foreign


def own_hosts(environment: Mapping[str, str], host: str, behind_proxy: bool) -> Hosts:
    """The names of a page that listens on `host`: of this machine, of its Space, and those set."""
    machine, on_space = socket.gethostname(), "SPACE_ID" in environment
    names = [host, *LOOPBACK, machine, f"{machine}.local"]
    if on_space:
        names += [OF_SPACES, environment.get("SPACE_HOST", "")]
    names += environment.get(MORE_HOSTS, "").split(",")
    # A port or a scheme that somebody wrote as well says nothing of the name.
    bare = [
        urlsplit(f"//{name.strip().lstrip('*').rpartition('//')[2]}").hostname for name in names
    ]
    return Hosts(tuple(filter(None, bare)), behind_proxy, on_space)


class OtherSites:
    """ASGI middleware before Gradio's own, which lets the pages of other sites start events.

    On plain http a browser does not say whether the page that calls is of another site, only which
    it is.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            headers = Headers(scope=scope)
            try:
                self.hosts.check(headers)
                if headers.get("sec-fetch-site") != "same-origin":
                    self.hosts.check_origin(headers)
            except Refused as refused:
                await _tell(refused, scope, receive, with_headers(send))
                return
        await self.app(scope, receive, send)


# The gate -----------------------------------------------------------------------------------------


@dataclass
class Served:
    """The page as it is served: its names and kept answers, doors of programs, what is open."""

    hosts: Hosts
    page: PageCache
    sockets: Sockets  # of the OpenEnv environment, with its app and its gate
    mcp: McpServer  # the tools for agents, likewise
    is_open: bool = True  # False once the page is about to end
    calls: FairGate = field(default_factory=lambda: FairGate(EVENTS))
    streams: Limiter = field(default_factory=lambda: Limiter(STREAMS_OF_ADDRESS))
    answers: Limiter = field(default_factory=lambda: Limiter(STREAMS_OF_ADDRESS))
    joins: Limiter = field(default_factory=lambda: Limiter(JOINS_OF_ADDRESS, seconds=JOINS_SECONDS))
    sessions: Limiter = field(
        default_factory=lambda: Limiter(SESSIONS_OF_ADDRESS, seconds=SESSIONS_SECONDS)
    )


class Gate:
    """ASGI middleware for Gradio's app."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self.app, self.served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] == SOCKET:
            await self._socket(scope, receive, send)
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            send = with_headers(send)
            try:
                await self._answer(self._named(scope), receive, send)
            except Refused as refused:
                await _tell(refused, scope, receive, send)

    def _named(self, scope: Scope) -> Scope:
        """The scope without headers that nobody should read; Refused under a foreign name."""
        hosts = self.served.hosts
        hosts.check(Headers(scope=scope))
        left_out = NEVER_READ if hosts.behind_proxy else NEVER_READ | OF_PROXIES
        return scope | {"headers": [pair for pair in scope["headers"] if pair[0] not in left_out]}

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a socket of the OpenEnv environment; a refused one is never opened."""
        try:
            self.served.hosts.check_origin(Headers(scope=self._named(scope)))
            if not self.served.is_open:
                raise CLOSING
        except Refused:
            await receive()
            await send({"type": "websocket.close", "code": REFUSED})
            return
        await self.served.sockets.serve(scope, receive, send, address_of(scope))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path, served = scope["method"], scope["path"], self.served
        if NOT_HERE.match(path):
            raise Refused(404, "The page has nothing at this address.")
        if method == "POST":
            # What a browser says of the page that makes the call. The page's own calls are never
            # refused, whatever name a proxy gives to the page.
            site = Headers(scope=scope).get("sec-fetch-site", "none")
            if site not in ("same-origin", "none"):
                raise FOREIGN
            if not served.is_open:
                raise CLOSING
        if MCP.fullmatch(path):
            if method != "POST":
                raise Refused(
                    405, "This is the address of an MCP server; a client sends messages to it."
                )
            await self._program(scope, receive, send, served.mcp)
        elif method in OPENENV and re.fullmatch(OPENENV[method], path):
            await self._program(scope, receive, send, served.sockets)
        elif NOT_MCP.fullmatch(path):
            raise Refused(404, NO_TOOLS)
        elif method == "POST":
            await self._call(scope, receive, send)
        elif path.startswith(f"{API}/"):
            is_answer = ANSWERS.match(path)
            held, app = (served.answers, self._stream) if is_answer else (served.streams, self.app)
            with held.hold(address_of(scope), full=FULL):
                await app(scope, receive, send)
        else:
            await served.page.answer(self.app, scope, receive, send)

    async def _program(
        self, scope: Scope, receive: Receive, send: Send, door: Sockets | McpServer
    ) -> None:
        """Let the environment, or the tools for agents, answer a program."""
        self.served.hosts.check_origin(Headers(scope=scope))
        body = await _bytes(receive, self.served.sockets.limits.frame_bytes)
        if body:
            _json(body)
        async with _place(door.gate, scope, "", body):
            answer = await messages_of(door.app, scope, replay_body(body, receive))
        for message in answer:
            await send(message)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Gradio answer a call, which names its session and no file, within SECONDS.

        No thread can be stopped: a function that is late runs on alone, and nobody waits for it.
        """
        path, address, served = scope["path"], address_of(scope), self.served
        body = await _bytes(receive, MOST_BYTES)
        call = _json(body)
        if names_file(call):
            raise Refused(422, "The events of this page take no files.")
        session = str(call.get("session_hash") or "")
        is_new = session not in OPEN.session_data
        for limiter, counts in ((served.sessions, is_new), (served.joins, JOINS.match(path))):
            if counts and not limiter.take(address, is_this_machine(address)):
                raise busy(limiter.seconds_left(address))
        if is_new and session:
            OPEN.begin(session, address)  # before it waits: its other calls are not new any more
        CALLER.set(Visitor(session, address))
        async with _place(served.calls, scope, session, body):
            answer = messages_of(self.app, scope, replay_body(body, receive))
            answering = asyncio.ensure_future(answer)
            try:
                done, _ = await asyncio.wait({answering}, timeout=SECONDS)
            finally:
                answering.cancel()
            if not done:
                raise LATE
        for message in answering.result():
            await send(message)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Gradio send the messages of an event or of a session.

        Of one that it does not know it sends a message that says so, and then fails with the answer
        half sent. A browser needs that message of a session.
        """
        start, is_unknown = None, False  # the start is held back until it is clear what follows

        async def pass_on(message: dict[str, Any]) -> None:
            nonlocal start, is_unknown
            if message["type"] == "http.response.start":
                start = message
                return
            body = message.get("body", b"")
            is_unknown |= body.startswith(NO_EVENT) or NO_SESSION in body
            if start and not body.startswith(NO_EVENT):
                await send(start)
                start = None
            if not start:
                await send(message)

        try:
            await self.app(scope, receive, pass_on)
        except RuntimeError:
            if not is_unknown:
                raise
            if start:
                raise Refused(404, "There is no such event, or its answer was read.") from None
            await send({"type": "http.response.body", "body": b""})


async def _tell(refused: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a refusal; FastAPI's clients show the detail."""
    body = {"error": str(refused), "detail": str(refused)}
    await JSONResponse(body, refused.status)(scope, receive, send)


@asynccontextmanager
async def _place(gate: FairGate, scope: Scope, session: str, body: bytes) -> AsyncIterator[None]:
    """Context: a place behind the gate, once it is the caller's turn."""
    try:
        async with gate.place(address_of(scope), session, len(body)):
            yield
    except QueueFull as full:
        raise busy(full.seconds) from None


def busy(seconds: float) -> Refused:
    """The refusal of a call that may be made again in so many seconds."""
    wait = math.ceil(seconds)
    return Refused(429, f"Too many requests come from your network address; try again in {wait} s.")


def with_headers(send: Send) -> Send:
    """`send`, which adds HEADERS to the start of an answer."""

    async def added(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {"headers": [], **message}
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return added


def _json(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`; raises Refused where it holds none that can be written again."""
    try:
        return json_object(body, "The body of a call")
    except ValueError as error:
        raise Refused(400, str(error)) from None


async def _bytes(receive: Receive, most: int) -> bytes:
    """The body of a request, of at most so many bytes."""
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "The body of the call ended early.")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise Refused(
                        413, f"A call has at most {most // 1024} KiB; send less at a time."
                    )
                more = message.get("more_body", False)
    except TimeoutError:
        raise Refused(408, f"The call did not come within {BODY_SECONDS} s.") from None
    return b"".join(parts)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that brings `body` first, and then what `receive` brings."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> dict[str, Any]:
        return next(messages, None) or await receive()

    return replay


def names_file(value: Any) -> bool:
    """Whether Gradio may take something in a value of JSON, at any depth, for a file."""
    values = [value]
    while values:
        part = values.pop()
        if isinstance(part, dict):
            if FILE_NAMES & part.keys() or str(part.get("data")).startswith("data:"):
                return True
            values += part.values()
        elif isinstance(part, list):
            values += part
    return False
