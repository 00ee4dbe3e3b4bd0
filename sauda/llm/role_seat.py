"""The seat of a role in a game: a script decides each move, and a language model says it.

A price counts as it is read from the model's words; words that hold no price to offer are no move.
"""

from dataclasses import dataclass, replace

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from sauda.games.adapter import Messages, ParsedReply, Reply, Request
from sauda.language import acts
from sauda.language.spoken import announce

Action = Offer | Accept | WalkAway
UNSAID = "x"  # stands for the words that are asked for


@dataclass(frozen=True)
class RoleSeat:
    """The seat in which `strategy` decides each move; it must be a script that draws nothing."""

    strategy: Policy
    tries = 1

    def request(
        self, obs: Observation, seed: int, invalid_replies: tuple[str, ...] = ()
    ) -> Request:
        return Request(prompt(obs, self._decide(obs)), seed)

    def parse(
        self, obs: Observation, reply: Reply, invalid_replies: tuple[str, ...] = ()
    ) -> ParsedReply:
        """The decided move as proposal, the move that was said as action; none without a price.

        A price that differs from the decided one is a change.
        """
        decided, words = self._decide(obs), " ".join(reply.text.split())
        if not isinstance(decided, Offer):
            return ParsedReply(decided, replace(decided, message=words), reply.source)
        price = price_said(obs, words)
        if price is None:
            error = f"expected the price {decided.price:g} in words, got {words[:80]!r}"
            return ParsedReply(decided, None, reply.source, error=error)
        changes = () if price == decided.price else (f"{decided.price:g} became {price:g}",)
        return ParsedReply(decided, Offer(price, words), reply.source, changes)

    def _decide(self, obs: Observation) -> Action:
        return self.strategy(obs, np.random.default_rng(0))


def price_said(obs: Observation, words: str) -> float | None:
    """The price that `words` propose, read by the parser of the dialogues."""
    context = replace(acts.context_of(obs.table, obs.agent, True), notes=obs.table.item.name)
    price = acts.parse_act(words, context).price
    return None if price is None else obs.priced(price)


def prompt(obs: Observation, decided: Action) -> Messages:
    """The chat in which a role says `decided`: the game so far in words, then the intention.

    An offer without words is told as its price. Raises IllegalAction where `decided` is no move.
    """
    table = obs.table
    moves = [(move.agent, move.action) for move in table.moves if move.agent in acts.SELLING]
    said = [
        acts.Turn(
            agent,
            announce(action) if action.message else acts.format_amount(action.price, acts.RUPEES),
        )
        for agent, action in moves
    ]
    act = acts.act_of(decided, acts.context_of(table, obs.agent, True))
    (other,) = (agent for agent in acts.SELLING if agent != obs.agent)
    dialogue = acts.Dialogue(
        id="game",
        group="game",
        scenario=acts.describe_item(
            table.item.name, table.item.category, table.item.list_price, acts.RUPEES
        ),
        values={obs.agent: {"limit": obs.reservation}, other: {}},
        turns=(*said, acts.Turn(obs.agent, UNSAID, act)),
        currency=acts.RUPEES,
        list_price=table.item.list_price,
        notes=table.item.name,
    )
    return acts.view(dialogue, obs.agent).chat()[:-1]
