"""Language models across the table from a visitor: what each is asked, what its reply becomes.

A buyer writes its whole move. A seller's move is decided in code, and the model words it; words
that differ from the decision are said again, up to a limit, then the scripted line stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from env import Accept, IllegalAction, Observation, Offer, Task, WalkAway, market_seller
from sauda.llm.games.bazaar import Null, glimpse, render, schema, seed_of
from sauda.llm.registry import Contestant, contestant, is_model, proposed
from sauda.llm.seller.policy import PERSONAS, LLMSeller, brief, check, decide, seated, settled
from sauda.llm.types import Messages, Reply, Schema

Action = Offer | Accept | WalkAway


@dataclass(frozen=True)
class Asked:
    """What a language model is asked for its next move."""

    messages: Messages
    seed: int
    schema: Schema | None = None


@dataclass(frozen=True)
class Made:
    """A move, whose reply it came from, and what was changed of it on the way."""

    action: Action
    source: str
    changes: tuple[str, ...] = ()


class Speaker(Protocol):
    """A language model in one of the two seats.

    `missed` holds the replies to the same question that made no move; each attempt has another
    seed. `tries` is how often it is asked without being told to.
    """

    seat: str
    tries: int
    knows: bool  # whether its prompt holds its limit, which its replies might tell

    def sits(self, task: Task) -> Task:
        """`task` as it is with this speaker in its seat; ValueError where it cannot sit there."""

    def asked(self, obs: Observation, rng: np.random.Generator, missed: Sequence[str]) -> Asked:
        """The question at `obs`."""

    def growing(self, text: str, obs: Observation) -> str:
        """What a reply that still grows says so far, for people."""

    def made(self, obs: Observation, reply: Reply, missed: Sequence[str]) -> Made:
        """The move of a whole reply; IllegalAction, which quotes it, where it makes none."""


@dataclass(frozen=True)
class Buyer:
    """A model that buys, with whatever is done to it."""

    contestant: Contestant
    seat = "buyer"
    tries = 1
    knows = True

    def sits(self, task: Task) -> Task:
        if task.learner != "seller":
            raise ValueError(f"a language model that buys is no seller for {task.name}")
        return task

    def asked(self, obs: Observation, rng: np.random.Generator, missed: Sequence[str]) -> Asked:
        form = schema(obs) if self.contestant.constrained else None
        return Asked(render(obs), _seed(rng, len(missed)), form)

    def growing(self, text: str, obs: Observation) -> str:
        return glimpse(text, obs)

    def made(self, obs: Observation, reply: Reply, missed: Sequence[str]) -> Made:
        steered = self.contestant.steer(obs, proposed(obs, reply))
        return Made(steered.action, reply.source, steered.changes)


@dataclass(frozen=True)
class Seller:
    """A model that words the moves of a persona."""

    seller: LLMSeller
    seat = "seller"
    tries = 3
    knows = False

    def sits(self, task: Task) -> Task:
        """The persona's numbers in place; its moves are code's, so that others can play it too."""
        there = seated(task, self.seller)
        return replace(there, opponents={**there.opponents, "seller": market_seller})

    def asked(self, obs: Observation, rng: np.random.Generator, missed: Sequence[str]) -> Asked:
        messages = brief(decide(obs), self.seller.persona, len(missed), self.seller.hears)
        return Asked(messages, _seed(rng, len(missed)))

    def growing(self, text: str, obs: Observation) -> str:
        return text

    def made(self, obs: Observation, reply: Reply, missed: Sequence[str]) -> Made:
        decision = decide(obs)
        texts = (*missed, reply.text)
        attempts = [check(replace(reply, text=text), decision) for text in texts]
        worded = settled(decision, attempts, reply.source)
        if worded is None:
            raise IllegalAction(f"{'; '.join(attempts[-1].faults)}: {reply.text[:80]!r}")
        changes = tuple(f"said again: {'; '.join(a.faults)}" for a in attempts if a.faults)
        return Made(replace(decision.action, message=worded.text), worded.source, changes)


def _seed(rng: np.random.Generator, attempt: int) -> int:
    """The seed of an attempt, each the next of one stream."""
    return [seed_of(rng) for _ in range(attempt + 1)][-1]


def speaker(name: str) -> Speaker | None:
    """The language model that `name` is, MODEL:PERSONA for a seller; None for a script's name.

    Raises ValueError on a persona or an addition that there is not.
    """
    if ":" in name:
        persona = name.partition(":")[2]
        if persona not in PERSONAS:
            raise ValueError(f"no persona {persona!r}; personas are {', '.join(PERSONAS)}")
        return Seller(LLMSeller(Null(), PERSONAS[persona]))
    return Buyer(contestant(name)) if is_model(name) else None
