"""What the page and its model process send each other, and how far a model is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sauda.llm.backends.decoding import ReplyRequest
from sauda.llm.types import Reply

# Conversations that a model process keeps, of all its models together. The
# process holds besides them its libraries, its models, and the replies that are being decoded.
CACHE_BYTES = 448 * 2**20


@dataclass(frozen=True)
class Loading:
    """The model is being loaded."""

    name: str
    since: float  # time.monotonic
    again: bool = False  # after a crash


@dataclass(frozen=True)
class Ready:
    """The model can reply; `source` names the model, its precision and its device."""

    name: str
    source: str
    seconds: float  # it took to load


@dataclass(frozen=True)
class Failed:
    """The model could not be loaded; `reason` is a sentence."""

    name: str
    reason: str


Stage = Loading | Ready | Failed


@dataclass(frozen=True)
class Load:
    """To the engine: load the model called `name`."""

    name: str


@dataclass(frozen=True)
class Begin:
    """To the engine: decode a reply of the model called `name`."""

    key: int
    name: str
    request: ReplyRequest


@dataclass(frozen=True)
class Cancel:
    """To the engine: nobody waits for this reply any more."""

    key: int


@dataclass(frozen=True)
class Piece:
    """From the engine: a reply after one more of its tokens."""

    key: int
    reply: Reply


@dataclass(frozen=True)
class Broken:
    """From the engine: a reply that ended in an error."""

    key: int
    reason: str


@dataclass(frozen=True)
class Ended:
    """From the engine: its process ended, and with it all models and replies."""

    reason: str


Order = Load | Begin | Cancel
Event = Ready | Failed | Piece | Broken | Ended
Report = Callable[[Event], None]


class Engine(Protocol):
    """Whatever decodes replies. It reports events from threads of its own."""

    def send(self, order: Order) -> None:
        """Carry out an order, later; returns at once."""

    def restart(self) -> None:
        """End everything that runs, and report Ended."""
