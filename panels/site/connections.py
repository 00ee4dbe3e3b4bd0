"""The connections to the web server: how many there may be, and how long one may say nothing.

uvicorn has a time-out for what follows an answer, none for a connection that never asks, and no
limit by address; a process without free file descriptors serves nobody.
"""

import asyncio
import logging
import resource
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import uvicorn

from sauda.serve.limits import Limiter, normalize_address

LOG = logging.getLogger(__name__)
FILES = 8192  # file descriptors that the page asks the system for
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
    """The same before a protocol of HTTP, which has so long for the head of each request."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
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
        self._stop_timer()
        former = self.cycle

        def give_up() -> None:
            if self.cycle is former:
                self.transport.close()

        self._timer = self.loop.call_later(self.among.limits.head_seconds, give_up)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _leave(self) -> None:
        self._stop_timer()
        super()._leave()
