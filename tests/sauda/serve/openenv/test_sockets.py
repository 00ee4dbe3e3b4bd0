"""The limits of `/ws`, with a handler that echoes and a wire that the test holds."""

import asyncio
import json
from collections import deque

import pytest

from sauda.fairness import FairGate
from sauda.fairness import Limits as GateLimits
from sauda.serve.openenv.sockets import LATER, LEAVES, Limits, Sockets, is_this_machine
from tests.support.coroutines import run

STATE = '{"type": "state"}'
GOOD = ['{"type": "reset", "data": {"seed": 1}}', '{"type": "step", "data": {}}', STATE]


async def echo(scope, receive, send) -> None:
    """Accepts, sends each frame back, ends with the client; as the package's handler does."""
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
    await send({"type": "websocket.close"})


class Wire:
    """The web server's side of one socket; when the frames are out, the client leaves or waits."""

    def __init__(self, *frames: str | bytes, stays: bool = False, fails: bool = False) -> None:
        kinds = {str: "text", bytes: "bytes"}
        messages = [{"type": "websocket.receive", kinds[type(f)]: f} for f in frames]
        leaving = [] if stays else [{"type": "websocket.disconnect", "code": 1006}]
        self.incoming = deque([{"type": "websocket.connect"}, *messages, *leaving])
        self.sent: list[dict] = []
        self.fails = fails  # as when the client has gone

    async def receive(self) -> dict:
        while not self.incoming:
            await asyncio.sleep(0.001)
        return self.incoming.popleft()

    async def send(self, message: dict) -> None:
        if self.fails and message["type"] == "websocket.send":
            raise OSError("the client has gone")
        self.sent.append(message)

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.sent if message["type"] == "websocket.send"]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The typed errors: code and sentence."""
        answers = [json.loads(text) for text in self.texts]
        return [(a["data"]["code"], a["data"]["message"]) for a in answers if a["type"] == "error"]


def served(wire: Wire, sockets: Sockets | None = None, address: str = "10.0.0.1") -> Wire:
    sockets = sockets or Sockets(echo, FairGate())
    run(sockets.serve({"type": "websocket"}, wire.receive, wire.send, address))
    return wire


def test_frames_that_the_handler_can_take_reach_it_as_they_are():
    assert served(Wire(*GOOD)).texts == GOOD


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("", "INVALID_JSON"),
        ("5", "INVALID_JSON"),
        ("[]", "INVALID_JSON"),
        ("null", "INVALID_JSON"),
        ('{"type": "state"', "INVALID_JSON"),
        ('{"type": "step", "data": {"price": NaN}}', "INVALID_JSON"),
        ('{"type": "step", "data": {"message": "\\ud800"}}', "INVALID_JSON"),
        ("[" * 50_000, "INVALID_JSON"),
        (STATE.encode(), "INVALID_JSON"),
        ("{}", "UNKNOWN_TYPE"),
        ('{"type": []}', "UNKNOWN_TYPE"),
        ('{"type": "mcp", "data": {"method": "openenv/session/create"}}', "UNKNOWN_TYPE"),
        ('{"type": "reset", "data": {"self": 1}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"sed": 1}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"message": "' + "x" * 65_536 + '"}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"message": "' + "₹" * 30_000 + '"}}', "VALIDATION_ERROR"),
    ],
)
def test_any_other_frame_gets_a_typed_error_and_the_session_goes_on(frame, code):
    wire = served(Wire(frame, STATE))
    ((seen, sentence),) = wire.errors
    assert seen == code
    assert sentence.endswith(".")
    assert wire.texts[-1] == STATE


def test_a_session_without_a_frame_for_too_long_is_told_so_and_ends():
    limits = Limits(idle_seconds=0.01)
    wire = served(Wire(STATE, stays=True), Sockets(echo, FairGate(), limits))
    assert wire.errors == [("SESSION_ERROR", "This session sent nothing for 0 seconds; it ends.")]
    assert wire.sent[-1] == {"type": "websocket.close", "code": LEAVES, "reason": ""}


def test_a_session_that_is_open_for_too_long_ends_although_it_is_busy():
    limits = Limits(session_seconds=0.05)
    wire = Wire(stays=True)

    async def busy(scope, receive, send) -> None:
        while (await receive())["type"] != "websocket.disconnect":
            wire.incoming.append({"type": "websocket.receive", "text": STATE})
            await asyncio.sleep(0.001)

    served(wire, Sockets(busy, FairGate(), limits))
    assert "was open for 0 seconds, the longest" in wire.errors[0][1]


def test_an_address_has_so_many_sessions_and_the_next_is_refused_in_a_sentence():
    sockets = Sockets(echo, FairGate(), Limits(of_address=2))

    async def crowd() -> tuple[Wire, Wire, Wire, list[Wire]]:
        first = [Wire(stays=True), Wire(stays=True)]
        scope = {"type": "websocket"}
        tasks = [
            asyncio.create_task(sockets.serve(scope, wire.receive, wire.send, "10.0.0.1"))
            for wire in first
        ]
        await asyncio.sleep(0.01)
        refused, other, later = Wire(), Wire(STATE), Wire(STATE)
        await sockets.serve(scope, refused.receive, refused.send, "10.0.0.1")
        await sockets.serve(scope, other.receive, other.send, "10.0.0.2")
        first[0].incoming.append({"type": "websocket.disconnect", "code": 1006})
        await tasks[0]
        await sockets.serve(scope, later.receive, later.send, "10.0.0.1")
        first[1].incoming.append({"type": "websocket.disconnect", "code": 1006})
        await tasks[1]
        return refused, other, later, first

    refused, other, later, _ = run(crowd())
    ((code, sentence),) = refused.errors
    assert code == "CAPACITY_REACHED"
    assert "has 2 sessions open, as many as it may" in sentence
    assert refused.sent[-1]["code"] == LATER
    assert other.texts == later.texts == [STATE]
    assert not sockets.of_address


def test_only_the_machine_itself_may_take_every_session():
    assert is_this_machine("127.0.0.1")
    assert is_this_machine("::1")
    assert not any(map(is_this_machine, ("10.0.0.1", "2001:db8::1", "unknown", "")))


def test_a_frame_holds_a_place_at_the_gate_until_its_answer_is_sent():
    gate = FairGate(GateLimits(running=1))
    seen = []

    async def watching(scope, receive, send) -> None:
        for message in [await receive(), await receive()]:
            seen.append(gate.running)
            await send({"type": "websocket.send", "text": message.get("text", "")})
            seen.append(gate.running)
        await receive()

    served(Wire(STATE), Sockets(watching, gate))
    assert seen == [1, 0, 0, 0]
    assert not gate.running


def test_frames_of_an_address_beyond_those_that_may_wait_get_an_error_and_lose_nothing():
    gate = FairGate(GateLimits(running=1, running_of_address=1, waiting_of_address=1))
    sockets = Sockets(echo, gate)

    async def crowd() -> Wire:
        wire = Wire(STATE)
        async with gate.place("10.0.0.1"):
            waiting = asyncio.create_task(gate.place("10.0.0.1").__aenter__())
            await asyncio.sleep(0.01)
            await sockets.serve({}, wire.receive, wire.send, "10.0.0.1")
        await waiting
        return wire

    assert run(crowd()).errors == [
        ("EXECUTION_ERROR", "Too many calls of your network address wait.")
    ]


def test_nothing_more_is_sent_to_a_client_that_has_gone():
    wire = served(Wire(STATE, STATE, stays=True, fails=True))
    assert wire.texts == []


def test_the_query_string_of_a_socket_cannot_choose_another_session():
    scopes = []

    async def handler(scope, receive, send) -> None:
        scopes.append(scope)

    async def serve() -> None:
        wire = Wire()
        scope = {"type": "websocket", "query_string": b"session_id=1"}
        await Sockets(handler, FairGate()).serve(scope, wire.receive, wire.send, "10.0.0.1")

    run(serve())
    assert scopes[0]["query_string"] == b""
