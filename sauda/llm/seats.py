"""Language models in the seat across from a visitor.

A buyer writes its whole move. A seller's move is decided in code, and the model words it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from env import Observation, Task, market_seller
from sauda.games import BAZAAR
from sauda.games.adapter import ParsedReply, Reply, Request
from sauda.llm.registry import PlayerSpec, is_model, player_spec
from sauda.llm.seller.policy import SellerSeat, persona_seat
from sauda.llm.seller.seating import seated
from sauda.llm.turn import ModelSeat


class VisitorSeat(ModelSeat, Protocol):
    """A language model across the table from a visitor."""

    agent: str  # "buyer" or "seller"
    knows_limit: bool  # whether its prompt holds its limit, which its replies might tell

    def take_seat(self, task: Task) -> Task:
        """`task` with this model in its seat; ValueError where it cannot sit there."""

    def preview(self, text: str, obs: Observation) -> str:
        """The readable part of a reply that still grows."""


@dataclass(frozen=True)
class Buyer:
    """A model that buys, with its decoding and its wrapper."""

    player: PlayerSpec
    agent = "buyer"
    tries = 1
    knows_limit = True

    def take_seat(self, task: Task) -> Task:
        if task.learner != "seller":
            raise ValueError(f"a language model that buys is no seller for {task.name}")
        return task

    def request(self, obs: Observation, seed: int, invalid_replies: Sequence[str]) -> Request:
        return self.player.seat(BAZAAR).request(obs, seed)

    def parse(self, obs: Observation, reply: Reply, invalid_replies: Sequence[str]) -> ParsedReply:
        return self.player.seat(BAZAAR).parse(obs, reply)

    def preview(self, text: str, obs: Observation) -> str:
        return BAZAAR.preview(text, obs)


@dataclass(frozen=True)
class Seller(SellerSeat):
    """A model that words the moves of a persona."""

    agent = "seller"
    knows_limit = False

    def take_seat(self, task: Task) -> Task:
        """`task` with the persona's numbers in the seller's seat; code decides its moves."""
        return seated(task, self.persona, market_seller)

    def preview(self, text: str, obs: Observation) -> str:
        return text


def visitor_seat(name: str) -> VisitorSeat | None:
    """The model seat called `name`, MODEL:PERSONA for a seller; None if `name` is a script.

    Raises ValueError for a persona or a part of a model's name that does not exist.
    """
    if ":" in name:
        return Seller(persona_seat(name.partition(":")[2]).persona)
    return Buyer(player_spec(name)) if is_model(name) else None
