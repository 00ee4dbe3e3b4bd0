"""Language models in the seats of a game.

Across from a visitor a buyer writes its whole move; a seller's move is decided in code, and the
model words it. In `RoleSeat` a script decides a move and a model of a role says it: there a price
counts as it is read from the model's words, and words that hold no price to offer are no move.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from env import Accept, IllegalAction, Observation, Offer, Policy, Task, WalkAway, market_seller
from sauda.games import BAZAAR
from sauda.games.adapter import Messages, ParsedReply, Reply, Request
from sauda.language.acts import (
    RUPEES,
    SELLING,
    Act,
    Dialogue,
    Turn,
    context_of,
    describe_item,
    format_amount,
    parse_act,
    price_intent,
    view,
)
from sauda.language.spoken import announce
from sauda.llm.registry import is_model, player_spec
from sauda.llm.seller import SellerSeat, persona_seat, seat_persona
from sauda.llm.turn import ModelSeat, PromptSeat

Action = Offer | Accept | WalkAway
UNSAID = "x"  # stands for the words that are asked for


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
        return BAZAAR.preview(text, obs)


@dataclass(frozen=True)
class Seller(SellerSeat):
    """A model that words the moves of a persona."""

    agent = "seller"
    knows_limit = False

    def take_seat(self, task: Task) -> Task:
        """`task` with the persona's numbers in the seller's seat; code decides its moves."""
        return seat_persona(task, self.persona, market_seller)

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


@dataclass(frozen=True)
class RoleSeat:
    """The seat in which `strategy` decides each move; it must be a script that draws nothing."""

    strategy: Policy
    tries = 1

    def request(
        self, obs: Observation, seed: int, invalid_replies: tuple[str, ...] = ()
    ) -> Request:
        return Request(prompt(obs, self.decide(obs)), seed)

    def parse(
        self, obs: Observation, reply: Reply, invalid_replies: tuple[str, ...] = ()
    ) -> ParsedReply:
        """The decided move as proposal, the move that was said as action; none without a price.

        A price that differs from the decided one is a change.
        """
        decided, words = self.decide(obs), " ".join(reply.text.split())
        if not isinstance(decided, Offer):
            return ParsedReply(decided, replace(decided, message=words), reply.source)
        price = price_said(obs, words)
        if price is None:
            error = f"expected the price {decided.price:g} in words, got {words[:80]!r}"
            return ParsedReply(decided, None, reply.source, error=error)
        changes = () if price == decided.price else (f"{decided.price:g} became {price:g}",)
        return ParsedReply(decided, Offer(price, words), reply.source, changes)

    def decide(self, obs: Observation) -> Action:
        """The strategy's move. Raises IllegalAction where it makes none."""
        action = self.strategy(obs, np.random.default_rng(0))
        if not isinstance(action, Offer | Accept | WalkAway):
            raise IllegalAction(f"expected an Offer, Accept or WalkAway, got {action!r:.80}")
        return action


def price_said(obs: Observation, words: str) -> float | None:
    """The price that `words` propose, read by the parser of the dialogues."""
    context = replace(context_of(obs.table, obs.agent), notes=obs.table.item.name, has_buttons=True)
    price = parse_act(words, context).price
    return None if price is None else obs.priced(price)


def prompt(obs: Observation, decided: Action) -> Messages:
    """The chat in which a role says `decided`: the game so far in words, then the intention."""
    table = obs.table
    said = [Turn(move.agent, _words(move.action)) for move in table.moves if move.agent in SELLING]
    (other,) = (agent for agent in SELLING if agent != obs.agent)
    dialogue = Dialogue(
        id="game",
        group="game",
        scenario=describe_item(table.item.name, table.item.category, table.item.list_price, RUPEES),
        values={obs.agent: {"limit": obs.reservation}, other: {}},
        turns=(*said, Turn(obs.agent, UNSAID, _act_of(obs, decided))),
        currency=RUPEES,
        list_price=table.item.list_price,
        notes=table.item.name,
    )
    return view(dialogue, obs.agent).chat()[:-1]


def _words(action: Offer) -> str:
    """What was said with an offer; its price where it was made without words."""
    return announce(action) if action.message else format_amount(action.price, RUPEES)


def _act_of(obs: Observation, decided: Action) -> Act:
    """The act of a move as the dialogues name it: agreement and refusal come before a button."""
    context = replace(context_of(obs.table, obs.agent), has_buttons=True)
    if isinstance(decided, WalkAway):
        return Act("disagree")
    if isinstance(decided, Accept):
        return Act("agree", context.theirs)
    return Act(price_intent(decided.price, context), decided.price)
