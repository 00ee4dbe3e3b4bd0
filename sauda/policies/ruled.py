"""A rule of seventeen numbers for the open market: bargains by formula, reads and speaks by ear.

It is what a language model has to beat: no plan and no belief. Its bid moves from an opening to a
final share of the limit, each thing that it heard multiplies it, a cost that it trusts pulls it
down, and it says the pitch that fits the style that it heard most. A number at its neutral value
does nothing, so that the smallest rule that does as well can be looked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, WalkAway, conceded, corpus, ear, market

TRUSTED = {"plain": -1.0, "hedge": 0.1, "swear": 2.0}  # doubt that a mark of candour adds


def number(low: float, high: float, neutral: float, scale: str = "linear") -> Any:
    """A number that a search may set between two bounds, and the value at which it does nothing."""
    about = {"low": low, "high": high, "scale": scale, "neutral": neutral}
    return field(default=neutral, metadata=about)


@dataclass(frozen=True)
class Ruled:
    """The rule; shares are of the lower of the limit and the opening ask."""

    exponent: float = number(0.2, 20.0, 1.0, "log")  # of the concession in time
    opening: float = number(0.3, 0.8, 0.5)
    final: float = number(0.6, 1.0, 0.9)
    firm: float = number(0.7, 1.3, 1.0)  # factors on the bid, by the style that was heard most
    fair: float = number(0.7, 1.3, 1.0)
    hasty: float = number(0.7, 1.3, 1.0)
    bluffer: float = number(0.7, 1.3, 1.0)
    pleased: float = number(0.7, 1.3, 1.0)  # by what else was heard
    short: float = number(0.7, 1.3, 1.0)
    rival: float = number(0.7, 1.3, 1.0)
    trust: float = number(0.0, 1.0, 0.0)  # weight of a cost that is named without an oath
    early: float = number(0.0, 0.6, 0.3)  # share of the way from that cost to the limit, at first
    late: float = number(0.2, 1.0, 0.7)  # and at the end
    speaks: float = number(0.0, 4.0, 4.0)  # lines of a style before it makes a pitch; 4 is never
    second: float = number(0.0, 2.0, 0.0)  # pitches after which it makes another, if none pleased
    leaves_from: float = number(0.0, 1.0, 1.0)  # share of the rounds after which it may walk away
    leaves_above: float = number(0.8, 2.0, 2.0)  # ask, in limits, from which it does

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Accept | Offer | WalkAway:
        useful = min(obs.table.rounds, obs.own.get("deadline") or obs.table.rounds)
        base, heard = min(obs.reservation, obs.opening_ask), Heard.at(obs)
        share = conceded(obs.round, useful, self.exponent)
        price = base * (self.opening + share * (self.final - self.opening))
        for name in filter(None, (heard.style, *heard.signs)):
            price *= getattr(self, name)
        if heard.cost and heard.doubt <= TRUSTED["hedge"] and heard.cost < base:
            way = self.early + share * (self.late - self.early)
            price = (1 - self.trust) * price + self.trust * (heard.cost + way * (base - heard.cost))
        price = int(max(obs.bid or 1, min(round(price), base)))
        left = useful - obs.round
        if obs.ask <= price or (left <= 1 and obs.ask <= obs.reservation):
            return Accept()
        late = obs.round >= self.leaves_from * useful
        if left <= 0 or (late and obs.ask > self.leaves_above * obs.reservation):
            return WalkAway()
        return Offer(min(price, obs.own["purse"]), self.words(obs, heard, price))

    def words(self, obs: Observation, heard: "Heard", price: int) -> str:
        """The pitch for the style that was heard most among those that it can still make."""
        counts = {kind: heard.styles.get(kind, 0) for kind, act in market.KEYS.items()
                  if act not in heard.made and self.holds(obs, act, price)}  # fmt: skip
        lead = max(counts, key=lambda kind: counts[kind], default="")
        again = not heard.made or (not heard.signs[0] and len(heard.made) <= self.second)
        if self.speaks >= 4 or not lead or counts[lead] < max(1, self.speaks) or not again:
            return ""
        quote = obs.own.get("quote") or 0
        return corpus.buyer_line(market.KEYS[lead], quote, 0.0, item=obs.table.item)

    @staticmethod
    def holds(obs: Observation, act: str, price: int) -> bool:
        """Whether a pitch can be made now and is no lie that the buyer knows of."""
        if act == "outside":
            return obs.own.get("quote") is not None
        if act == "cash":
            return price >= market.CASH_FROM * obs.opening_ask
        return act != "tea" or obs.round < market.TEA_UNTIL


@dataclass(frozen=True)
class Heard:
    """What a buyer heard at a table, and the pitches that it made."""

    styles: Mapping[str, int]  # lines by style
    signs: tuple[str, str, str]  # "pleased", "short" and "rival", "" for what was not heard
    cost: int  # rupees, named last; 0 for none
    doubt: float  # the sum of what its marks add
    made: frozenset[str]

    @property
    def style(self) -> str:
        """The style of most lines, the first of those that are level; "" before any."""
        return max(self.styles, key=lambda kind: self.styles[kind], default="")

    @classmethod
    def at(cls, obs: Observation) -> "Heard":
        """What was heard and said so far."""
        styles: dict[str, int] = {}
        signs, cost, doubt, made = set(), 0, 0.0, set()
        for move in obs.table.moves:
            if move.agent == "buyer":
                made.add(ear.act_in(move.action.message)[0])
                continue
            speech = ear.hear(move.action.message)
            if speech.style:
                styles[speech.style] = styles.get(speech.style, 0) + 1
            if speech.cost:
                cost, doubt = speech.cost, doubt + TRUSTED[speech.mark]
            signs |= {speech.reaction, speech.content} & {"pleased", "short"}
            signs |= {"rival"} if (speech.topic, speech.content) == ("rival", "yes") else set()
        shown = tuple(name if name in signs else "" for name in ("pleased", "short", "rival"))
        return cls(styles, shown, cost, doubt, frozenset(made - {""}))


NEUTRAL = {each.name: each.metadata["neutral"] for each in fields(Ruled)}
