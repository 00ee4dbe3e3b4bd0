"""Language models that play against a visitor.

A buyer writes its whole move; a seller's move is decided in code, and the model words it.
"""

from dataclasses import dataclass
from typing import Protocol

from env import Observation, Task
from sauda.games import BAZAAR
from sauda.llm.registry import is_model, player_spec
from sauda.llm.seller import SellerSeat, persona_seat, seat_persona
from sauda.llm.turn import ModelSeat, PromptSeat


class VisitorSeat(ModelSeat, Protocol):
    """A language model that plays against a visitor."""

    agent: str  # "buyer" or "seller"
    knows_limit: bool  # whether its prompt holds its limit, which its replies might tell

    def take_seat(self, task: Task) -> Task:
        """`task` with this model in its seat; ValueError where it cannot sit there."""

    def preview(self, text: str, obs: Observation) -> str:
        """The readable part of a reply that still grows."""


@dataclass(frozen=True)
class Buyer(PromptSeat):
    """A model that buys, with its decoding and its wrapper."""

    agent = "buyer"
    knows_limit = True

    def take_seat(self, task: Task) -> Task:
        if task.learner != "seller":
            raise ValueError(f"a language model that buys is no seller for {task.name}")
        return task

    def preview(self, text: str, obs: Observation) -> str:
        return BAZAAR.prompt.preview(text, obs)


@dataclass(frozen=True)
class Seller(SellerSeat):
    """A model that words the moves of a persona."""

    agent = "seller"
    knows_limit = False

    def take_seat(self, task: Task) -> Task:
        """`task` against sellers of the persona's type; code decides their moves."""
        return seat_persona(task, self.persona)

    def preview(self, text: str, obs: Observation) -> str:
        return text


def visitor_seat(name: str) -> VisitorSeat | None:
    """The model seat called `name`, MODEL:PERSONA for a seller; None if `name` is a script.

    Raises ValueError for a persona or a part of a model's name that does not exist.
    """
    if ":" in name:
        return Seller(persona_seat(name.partition(":")[2]).persona)
    if not is_model(name):
        return None
    player = player_spec(name)
    return Buyer(BAZAAR.prompt, player.constrained, player.wrapper)
