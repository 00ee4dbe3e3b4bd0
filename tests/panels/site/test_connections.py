"""How many connections the web server holds, and how long one may say nothing."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
import uvicorn
from websockets.sync.client import connect

from panels.site import serving
from panels.site.serving import LEAST, Connections, Limits
from tests.support.site import served_page, toy_models, without_tabs

SECONDS = 0.4  # for a head
PATIENCE = 20  # seconds; tests share the cores
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG, PIECE = 8 * 2**20, 32 * 1024  # bytes: of a long answer, more than the system takes at once


async def app(scope, receive, send):
    """Answers a request at once and a socket's frames with the same words."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
    elif scope["type"] == "http":
        sizes = {"/long": [PIECE] * (LONG // PIECE), "/large": [LONG]}.get(scope["path"], [])
        bodies = [*map(bytes, sizes[:-1]), bytes(sum(sizes[-1:])) + b"done"]
        headers = [(b"content-length", b"%d" % sum(map(len, bodies)))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for body in bodies[:-1]:
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": bodies[-1]})


@dataclass(frozen=True)
class Listening:
    """A web server of this process."""

    port: int
    connections: Connections

    def open(self, stack: ExitStack) -> socket.socket:
        wire = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE))
        wire.settimeout(PATIENCE)
        return wire

    def until(self, count: int) -> None:
        """Return once so many connections are counted; fails after PATIENCE."""
        wait(lambda: self.connections.held.total == count)


def wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def listening(limits: Limits, proxies: tuple[str, ...] = ()) -> Iterator[Listening]:
    """Context: a server with these limits."""
    connections = Connections(limits, proxies)
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off")
    config.load()
    connections.limit(config)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait(lambda: server.started)
    try:
        yield Listening(server.servers[0].sockets[0].getsockname()[1], connections)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def slow(server: "Listening", stack: ExitStack, path: bytes) -> socket.socket:
    """A connection that has asked for `path` and has room for a few bytes of the answer."""
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    wire.settimeout(PATIENCE)
    wire.connect(("127.0.0.1", server.port))
    wire.sendall(GET.replace(b"/", path, 1))
    return stack.enter_context(wire)


@pytest.fixture
def server() -> Iterator[Listening]:
    limits = Limits(most=6, of_address=4, head_seconds=SECONDS, read_seconds=SECONDS)
    with listening(limits) as served:
        yield served


def ended(wire: socket.socket) -> bool:
    """Whether the server has closed the connection, once it has; what comes before is read."""
    while wire.recv(4096):
        pass
    return True


def drip(wire: socket.socket) -> None:
    """Send byte after byte until the server has closed the connection; fails after PATIENCE."""
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        wait(lambda: wire.sendall(b"x") or time.sleep(SECONDS / 4))


def answered(wire: socket.socket) -> bytes:
    wire.sendall(GET)
    answer = b""
    while not answer.endswith(b"done") and (part := wire.recv(4096)):
        answer += part
    return answer


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local", None])
def test_a_connection_that_does_not_ask_is_closed(server, sent):
    with ExitStack() as stack:
        wire = server.open(stack)
        if sent is None:
            drip(wire)
        else:
            wire.sendall(sent)
            assert ended(wire)
        server.until(0)


def test_a_connection_is_used_again_and_closed_once_it_is_idle(server):
    with ExitStack() as stack:
        wire = server.open(stack)
        for _ in range(3):
            assert b"200 OK" in answered(wire)
            time.sleep(SECONDS / 2)
        assert ended(wire)


@pytest.mark.parametrize("path", [b"/long", b"/large"])
def test_whoever_does_not_read_an_answer_loses_the_connection_and_its_place(server, path):
    with ExitStack() as stack:
        for _ in range(4):
            slow(server, stack, path)
        server.until(4)
        server.until(0)
        assert b"200 OK" in answered(server.open(stack))


@pytest.mark.parametrize("path", [b"/long", b"/large"])
def test_whoever_reads_slowly_gets_the_whole_answer(server, path):
    with ExitStack() as stack:
        wire, size, began = slow(server, stack, path), 0, time.monotonic()
        while time.monotonic() < began + 3 * SECONDS and size < LONG // 2:
            size += len(wire.recv(LEAST))
            time.sleep(SECONDS / 40)
        while part := wire.recv(2**20):
            size += len(part)
            if part.endswith(b"done"):
                break
        assert size > LONG


def test_one_more_connection_than_an_address_may_have_is_told_so_and_the_others_live():
    with listening(Limits(most=6, of_address=4, head_seconds=PATIENCE)) as server:
        with ExitStack() as stack:
            own = [server.open(stack) for _ in range(4)]
            server.until(4)
            surplus = server.open(stack)
            assert b"503" in surplus.recv(4096)
            assert ended(surplus)
            assert all(b"200 OK" in answered(wire) for wire in own)
        server.until(0)
        with ExitStack() as stack:
            assert b"200 OK" in answered(server.open(stack))


def test_a_trusted_proxy_speaks_for_many_and_may_open_them_all():
    limits = Limits(most=6, of_address=2, head_seconds=PATIENCE)
    with listening(limits, ("127.0.0.1",)) as server, ExitStack() as stack:
        assert all(b"200 OK" in answered(server.open(stack)) for _ in range(6))
        server.until(6)
        assert b"503" in server.open(stack).recv(4096)


def test_an_open_socket_outlives_the_time_for_a_head_and_counts_once(server):
    with connect(f"ws://127.0.0.1:{server.port}") as wire:
        time.sleep(2 * SECONDS)
        wire.send("still here")
        assert wire.recv(PATIENCE) == "still here"
        server.until(1)
    server.until(0)


def test_the_page_has_such_limits(monkeypatch):
    few = Limits(most=6, of_address=1, head_seconds=SECONDS)
    monkeypatch.setattr(serving, "limits_of_system", lambda: few)
    with toy_models(), served_page(without_tabs) as page, ExitStack() as stack:
        port = int(page.address.rpartition(":")[2])
        first, second = (
            stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            for _ in range(2)
        )
        assert b"503" in second.recv(4096)
        assert ended(first)
        assert page.shared.get("/health").status_code == 200
