"""A language model in the seller's seat: code decides the move, the model words the decision.

The decision is the open-market seller's own (`market_seller`): a pure function of what it sees and
of its private draws, whose asks never rise and rest above the floor.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from env import Accept, Observation, WalkAway, claim_at, market_seller
from sauda.games.adapter import Messages, ParsedReply, Reply, Request, Schema
from sauda.llm.backends.decoding import Sampling
from sauda.llm.backends.model import Model
from sauda.llm.models import BASES, NULL, NullModel, loaded
from sauda.llm.policy import LLMPolicy
from sauda.llm.seller.checks import Decision
from sauda.llm.seller.personas import DEFAULT, PERSONAS, Persona
from sauda.llm.seller.wording import TRIES, brief, check, settled
from sauda.llm.types import BatchGenerate


def decide(obs: Observation) -> Decision:
    """The seller's decision at `obs`; deterministic, and independent of its words."""
    table = obs.table
    action = market_seller(obs, np.random.default_rng(0))  # which draws nothing from it
    if isinstance(action, Accept):
        kind, price = "accept", table.bids[-1]
    elif isinstance(action, WalkAway):
        kind, price = "walk", None
    else:
        claim = claim_at(obs.own, table.round)[0] if table.asks else "opening"
        kind, price = claim or "counter", action.price
    messages = [move.action.message for move in table.moves if move.agent != "seller"]
    return Decision(action, kind, price, table.item, messages[-1] if messages else "", table.round)


@dataclass(frozen=True)
class SellerSeat:
    """A model that words a persona's decisions, in up to TRIES texts for each."""

    persona: Persona = PERSONAS[DEFAULT]
    hears: bool = False  # the buyer's words, which lead the smallest model astray
    tries = TRIES

    def request(self, obs: Observation, seed: int, invalid_replies: Sequence[str] = ()) -> Request:
        return Request(brief(decide(obs), self.persona, len(invalid_replies), self.hears), seed)

    def parse(
        self, obs: Observation, reply: Reply, invalid_replies: Sequence[str] = ()
    ) -> ParsedReply:
        """The decision in the reply's words, or in the scripted ones after TRIES texts."""
        decision = decide(obs)
        texts = (*invalid_replies, reply.text)
        attempts = [check(replace(reply, text=text), decision) for text in texts]
        worded = settled(decision, attempts, reply.source)
        if worded is None:
            error = f"{'; '.join(attempts[-1].faults)}: {reply.text[:80]!r}"
            return ParsedReply(decision.action, source=reply.source, error=error)
        action = replace(decision.action, message=worded.text)
        changes = tuple(f"said again: {'; '.join(a.faults)}" for a in attempts if a.faults)
        return ParsedReply(decision.action, action, worded.source, changes)


SAMPLING = Sampling(
    temperature=0.35, max_new_tokens=40
)  # the published seller's replies; a line is short


@lru_cache(maxsize=2)
def sampled_model(name: str) -> Model:
    """The model of that name in this process, drawing its tokens as a seller's words are."""
    return loaded(name).sampled(SAMPLING)


@dataclass(frozen=True)
class SellerModel:
    """A model by name that words decisions; its weights are read at the first request."""

    name: str

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return sampled_model(self.name)(messages, seed, schema)

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return sampled_model(self.name).batch(chats, seeds, schemas)


def seller_model(name: str) -> BatchGenerate:
    """The model called `name`, sampled as a seller's words are; ValueError naming the models."""
    if name not in BASES:
        raise ValueError(f"no model {name!r} to word a seller; models are {', '.join(BASES)}")
    return NullModel() if name == NULL else SellerModel(name)


def model_seller(name: str) -> LLMPolicy:
    """The seller called MODEL:PERSONA, such as "mini:firm"; ValueError naming what there is."""
    model, _, persona = name.partition(":")
    return LLMPolicy(persona_seat(persona), seller_model(model))


def persona_seat(persona: str) -> SellerSeat:
    """The seat of the persona of that name; ValueError naming the personas."""
    if persona not in PERSONAS:
        raise ValueError(f"no persona {persona!r} to sell as; personas are {', '.join(PERSONAS)}")
    return SellerSeat(PERSONAS[persona])
