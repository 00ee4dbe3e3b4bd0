"""The limits of `/ws`, between the web server and the package's own handler.

The handler ends a session at its first frame that is no JSON object, has no time-out for an open
socket and no limit but its capacity. Here each frame is read first; what the handler cannot take is
answered with a typed error, and the session goes on. A frame holds a place at the fair gate until
its answer is sent.
"""

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from openenv.core.env_server import WSErrorCode, WSErrorResponse

from sauda.fairness import FairGate, QueueFull
from sauda.serve.json_object import json_object
from sauda.serve.openenv.environment import SaudaEnvironment

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

KINDS = ("reset", "step", "state", "close")
OPTIONS = tuple(inspect.signature(SaudaEnvironment().reset).parameters)
LATER, LEAVES, WENT_AWAY = 1013, 1001, 1006  # codes of a close
WHERE_FULL = "try again in a minute"


@dataclass(frozen=True)
class Limits:
    """What a session, and the sessions of one address, may have."""

    of_address: int = 48  # sessions; the others stay free for other addresses
    frame_bytes: int = 64 * 1024
    idle_seconds: float = 600.0  # without a frame
    session_seconds: float = 6 * 3600.0


class Fault(Exception):
    """A frame that is not handed on; `code` is OpenEnv's, the text a sentence."""

    def __init__(self, code: WSErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Sockets:
    """The open sockets of `/ws`; `app` is the package's handler behind them."""

    def __init__(self, app: Any, gate: FairGate, limits: Limits | None = None) -> None:
        self.app, self.gate, self.limits = app, gate, limits or Limits()
        self.of_address: Counter[str] = Counter()

    async def serve(self, scope: Message, receive: Receive, send: Send, address: str) -> None:
        """Serve one socket of `address` to its end."""
        session = Session(receive, send, self.gate, self.limits, address)
        if self.of_address[address] >= self.limits.of_address and not is_this_machine(address):
            await session.refuse(
                f"Your network address has {self.limits.of_address} sessions open, as many as it"
                f" may; close one, or {WHERE_FULL}."
            )
            return
        self.of_address[address] += 1
        try:
            await self.app(scope | {"query_string": b""}, session.receive, session.send)
        finally:
            await session.leave_place()
            self.of_address[address] -= 1
            if not self.of_address[address]:
                del self.of_address[address]


def is_this_machine(address: str) -> bool:
    """Whether a caller runs on the machine that serves; it may use every session."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def check_frame(message: Message, limits: Limits) -> None:
    """Raises Fault, with what is wrong, unless the handler can take the frame in `message`."""
    text = message.get("text")
    if text is None:
        raise Fault(WSErrorCode.INVALID_JSON, "A message is text, not bytes.")
    if len(text) > limits.frame_bytes or len(text.encode()) > limits.frame_bytes:
        raise Fault(
            WSErrorCode.VALIDATION_ERROR,
            f"A message has at most {limits.frame_bytes // 1024} KiB.",
        )
    try:
        frame = json_object(text, "A message")
    except ValueError as error:
        raise Fault(WSErrorCode.INVALID_JSON, str(error)) from None
    if frame.get("type") not in KINDS:
        raise Fault(
            WSErrorCode.UNKNOWN_TYPE, f"The type of a message is one of {', '.join(KINDS)}."
        )
    options = frame.get("data") if frame["type"] == "reset" else None
    if isinstance(options, dict) and not options.keys() <= set(OPTIONS):
        raise Fault(WSErrorCode.VALIDATION_ERROR, f"A reset takes {', '.join(OPTIONS)} alone.")


class Session:
    """One socket: `receive` and `send` as its handler sees them."""

    def __init__(
        self, receive: Receive, send: Send, gate: FairGate, limits: Limits, address: str
    ) -> None:
        self._receive, self._send = receive, send
        self._gate, self._limits, self._address = gate, limits, address
        self._ends = time.monotonic() + limits.session_seconds
        self._place = AsyncExitStack()
        self._gone = False

    async def receive(self) -> Message:
        """The next message for the handler: a frame that it can take, or the end."""
        await self.leave_place()
        while True:
            message = await self._next()
            if message["type"] != "websocket.receive":
                self._gone = message["type"] == "websocket.disconnect"
                return message
            try:
                check_frame(message, self._limits)
                await self._place.enter_async_context(self._gate.place(self._address))
                return message
            except Fault as fault:
                await self._error(fault.code, str(fault))
            except QueueFull:
                await self._error(
                    WSErrorCode.EXECUTION_ERROR, "Too many calls of your network address wait."
                )

    async def send(self, message: Message) -> None:
        """Send an answer and give the place up; nothing is sent to a client that has gone."""
        if not self._gone:
            try:
                await self._send(message)
            except OSError:  # the client went while its answer was made
                self._gone = True
        await self.leave_place()

    async def leave_place(self) -> None:
        """Give up the place at the gate, if there is one."""
        await self._place.aclose()

    async def refuse(self, sentence: str) -> None:
        """Open the socket, say why it is closed, and close it."""
        await self._receive()
        await self.send({"type": "websocket.accept"})
        await self._end(WSErrorCode.CAPACITY_REACHED, sentence, LATER)

    async def _next(self) -> Message:
        if self._gone:
            return {"type": "websocket.disconnect", "code": WENT_AWAY}
        left = self._ends - time.monotonic()
        try:
            if left <= 0:  # a frame that has come already would be taken before the time-out
                raise TimeoutError
            async with asyncio.timeout(min(self._limits.idle_seconds, left)):
                return await self._receive()
        except TimeoutError:
            why = (
                f"sent nothing for {self._limits.idle_seconds:.0f} seconds"
                if left > self._limits.idle_seconds
                else f"was open for {self._limits.session_seconds:.0f} seconds, the longest"
            )
            await self._end(WSErrorCode.SESSION_ERROR, f"This session {why}; it ends.", LEAVES)
            return {"type": "websocket.disconnect", "code": LEAVES}

    async def _end(self, code: WSErrorCode, sentence: str, closing: int) -> None:
        await self._error(code, sentence)
        await self.send({"type": "websocket.close", "code": closing, "reason": ""})
        self._gone = True

    async def _error(self, code: WSErrorCode, sentence: str) -> None:
        answer = WSErrorResponse(data={"message": sentence, "code": code})
        await self.send({"type": "websocket.send", "text": answer.model_dump_json()})
