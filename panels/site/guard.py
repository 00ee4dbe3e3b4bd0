"""The guard before Gradio: which routes exist, what a call may hold, how many run at a time.

Gradio runs the functions of events in the threads that serve its files too, so calls without a
limit freeze the page. Events outside its queue pass a fair gate, and so do those that join it. A
call that its caller no longer waits for leaves the gate.
"""

import asyncio
import contextlib
import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from gradio.block_function import BlockFunction
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from panels.site.calls import (
    BUSY,
    MOST_BYTES,
    NO_EVENT,
    BadCall,
    by_position,
    called_event,
    checked,
    read,
)
from panels.site.front import NO_OPENING, Front, Kept, Opening
from panels.site.headers import with_headers
from panels.site.hosts import Hosts
from panels.site.internals import has_answers, own_components
from panels.site.queue_door import Answered, QueueDoor
from panels.site.routes import API, SOCKET, Kind, route_of
from panels.site.streams import Streams
from sauda.fairness import FairGate, QueueFull
from sauda.serve.limits import address_of
from sauda.serve.mcp import McpServer
from sauda.serve.openenv import Sockets

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POST_ALONE = BadCall(405, "This is the address of an MCP server; a client sends messages to it.")
NO_ANSWERS = BadCall(404, "No event of this name, or of this session, is in the queue.")
CLOSING = BadCall(503, "The page is being restarted; open it again in a minute.")
REFUSED = 1008  # the code of a socket that is not opened
BODY_SECONDS = 10  # within which the body of a call has come
# Calls of public events, with their values in a list or under the names of the parameters.
BY_LIST = f"{API}/call/"
BY_NAME = f"{BY_LIST}v2/"
NEW_CALLS = (
    Kind.RUN,
    Kind.JOIN,
    Kind.OPENENV,
    Kind.MCP,
)  # which a page that is about to end refuses
# By the first of these a caller would choose the page's own address, and Gradio fails on the last.
NEVER_READ = {b"x-gradio-server", b"range"}
OF_PROXIES = {b"x-forwarded-host", b"x-forwarded-proto"}


@dataclass
class Doors:
    """Whether the page takes new calls; it takes none once it is about to end."""

    open: bool = True


class Guard:
    """ASGI middleware for Gradio's app."""

    def __init__(
        self,
        app: App,
        gate: FairGate,
        streams: Streams,
        doors: Doors,
        pages: Kept,
        sockets: Sockets,
        mcp: McpServer,
        hosts: Hosts,
        queue_door: QueueDoor,
        opening: Opening = NO_OPENING,
    ) -> None:
        self.app, self.gate, self.streams, self.doors = app, gate, streams, doors
        self.sockets = sockets  # of the OpenEnv environment, with its app and its gate
        self.mcp = mcp  # the tools for agents, likewise
        self.front = Front(app, pages, opening)
        self.hosts = hosts
        self.queue_door = queue_door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] == SOCKET:
            await self._socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = with_headers(send)
        try:
            await self._answer(self._named(scope), receive, send)
        except BadCall as refused:
            await refusal(refused)(scope, receive, send)

    def _named(self, scope: Scope) -> Scope:
        """The scope without headers that nobody should read; BadCall under a foreign name."""
        self.hosts.check(Headers(scope=scope))
        left_out = NEVER_READ if self.hosts.behind_proxy else NEVER_READ | OF_PROXIES
        return scope | {"headers": [pair for pair in scope["headers"] if pair[0] not in left_out]}

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a socket of the OpenEnv environment; a refused one is never opened."""
        try:
            self.hosts.check_origin(Headers(scope=self._named(scope)))
            if not self.doors.open:
                raise CLOSING
        except BadCall:
            await receive()
            await send({"type": "websocket.close", "code": REFUSED})
            return
        await self.sockets.serve(scope, receive, send, address_of(scope))

    def _check_site(self, scope: Scope) -> None:
        """Raise BadCall where a browser says that the page of another site makes the call.

        The page's own calls are never refused, whatever name a proxy gives to the page.
        """
        if Headers(scope=scope).get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise BadCall(403, "The page takes no calls from the pages of other sites.")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = route_of(scope["method"], scope["path"], scope["query_string"])
        address = address_of(scope)
        if route is None:
            raise BadCall(404, "The page has nothing at this address.")
        if not self.doors.open and route.kind in NEW_CALLS:
            raise CLOSING
        if scope["method"] == "POST":
            self._check_site(scope)
        if route.kind is Kind.MESSAGES and not has_answers(scope["app"].get_blocks(), route.name):
            raise NO_ANSWERS
        if route.kind in (Kind.HEARTBEAT, Kind.MESSAGES):
            with self.streams.open(address, route.kind, route.name):
                await self.app(scope, receive, send)
        elif route.kind is Kind.RUN:
            _, session, body = await self._call(scope, receive, route.name, queued=False)
            place = self.gate.place(address, session, len(body))
            await self._run(scope, replayed(body, receive), send, place, self.app)
        elif route.kind is Kind.JOIN:
            event, session, body = await self._call(scope, receive, route.name, queued=True)
            if scope["path"].startswith(BY_NAME):
                scope = scope | {"path": BY_LIST + route.name}
            gate = self.queue_door.gate(event.concurrency_id)
            place = gate.place(address, session, len(body))
            await self._run(scope, replayed(body, receive), send, place, self.app, self.queue_door)
        elif route.kind is Kind.CONTROL:
            await self.app(scope, replayed(json.dumps(await _body(receive)), receive), send)
        elif route.kind in (Kind.OPENENV, Kind.MCP):
            door = self.mcp if route.kind is Kind.MCP else self.sockets
            if door is self.mcp and scope["method"] != "POST":
                raise POST_ALONE
            self.hosts.check_origin(Headers(scope=scope))
            body = await _bytes(receive, self.sockets.limits.frame_bytes)
            if body:
                read(body)
            place = door.gate.place(address, size=len(body))
            await self._run(scope, replayed(body, receive), send, place, door.app)
        else:
            await self.front(scope, receive, send)

    async def _call(
        self, scope: Scope, receive: Receive, name: str, queued: bool
    ) -> tuple[BlockFunction, str, bytes]:
        """The event of a call, its session, and its body as checked, for Gradio to read."""
        body = await _body(receive)
        blocks = scope["app"].get_blocks()
        named, public = (scope["path"].startswith(start) for start in (BY_NAME, BY_LIST))
        event = called_event({} if named else body, name, blocks.fns, queued)
        if public and event.api_visibility != "public":
            raise NO_EVENT
        if named:
            body = by_position(body, event)
        call = checked(body, event, own_components(scope["app"], body.get("session_hash")))
        if public:
            call.setdefault("session_hash", uuid.uuid4().hex)
        if call.get("session_hash") is None:
            raise BadCall(422, "A call names its session_hash.")
        scope["app"].state_holder.claim(call["session_hash"], address_of(scope))
        return event, call["session_hash"], json.dumps(call).encode()

    async def _run(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        place: contextlib.AbstractAsyncContextManager,
        app: App,
        keeper: QueueDoor | None = None,
    ) -> None:
        """Let `app` answer once the call has its place, unless the caller leaves.

        Where the call puts an event into the queue, `keeper` holds the place from then on.
        """
        body = await receive()
        gone = asyncio.ensure_future(receive())  # answers once the caller is gone
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(gone.cancel)
            held = await stack.enter_async_context(contextlib.AsyncExitStack())
            entering = asyncio.ensure_future(held.enter_async_context(place))
            await asyncio.wait([entering, gone], return_when=asyncio.FIRST_COMPLETED)
            if not entering.done():
                entering.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await entering
                return
            try:
                entering.result()
            except QueueFull:
                raise BUSY from None
            receive = _in_turn(body, gone)
            if keeper is None:
                await app(dict(scope), receive, send)
                return
            answer = Answered(send)
            await app(dict(scope), receive, answer)
            if answer.status == 200:
                keeper.hold(held, answer.body, scope["app"].get_blocks())


async def _body(receive: Receive) -> dict[str, Any]:
    """The JSON object that a request brings."""
    return read(await _bytes(receive, MOST_BYTES))


async def _bytes(receive: Receive, most: int) -> bytes:
    """The body of a request, of at most so many bytes."""
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BadCall(400, "The body of the call ended early.")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise BadCall(413, f"A call has at most {most // 1024} KiB.")
                more = message.get("more_body", False)
    except TimeoutError:
        raise BadCall(408, f"The call did not come within {BODY_SECONDS} s.") from None
    return b"".join(parts)


def replayed(body: str | bytes, receive: Receive) -> Receive:
    """A `receive` that brings `body` first, and then what `receive` brings."""
    content = body.encode() if isinstance(body, str) else body
    whole = {"type": "http.request", "body": content, "more_body": False}
    messages = iter([whole])

    async def replay() -> dict[str, Any]:
        return next(messages, None) or await receive()

    return replay


def _in_turn(body: dict[str, Any], later: asyncio.Future) -> Receive:
    """A `receive` that brings `body` first, and then what `later` holds."""
    messages = iter([body])

    async def replay() -> dict[str, Any]:
        return next(messages, None) or await asyncio.shield(later)

    return replay


def refusal(refused: BadCall) -> Response:
    """The answer to a call that is refused; Gradio's clients show `error` or `detail`.

    With the status 422 they read `detail` as a list of faults, FastAPI's or their own.
    """
    sentence = str(refused)
    own = {"__type__": "validate", "is_valid": False, "parameter_name": "call", "message": sentence}
    fault = {"loc": ["body"], "msg": sentence, "type": "value_error", **own}
    detail = [fault] if refused.status == 422 else sentence
    return JSONResponse({"error": sentence, "detail": detail}, refused.status)
