"""Scripts that speak: each adds words to the bids of another buyer of the open market.

`Keyed` listens first. The others show what words do not do: a fixed phrase, a false price, babble,
the seller's own words. No policy here knows the hidden values of an episode.
"""

from dataclasses import dataclass, replace

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, speech
from env import market as rules

Action = Offer | Accept | WalkAway
FALSE_PRICE = 0.6  # of the list price: lower than what another shop may ask


@dataclass(frozen=True)
class Speaker:
    """Another buyer that speaks; a subclass says what it says with a bid, "" for nothing."""

    buyer: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        words = self.words(obs, action.price) if isinstance(action, Offer) else ""
        return replace(action, message=words) if words else action

    def words(self, obs: Observation, price: float) -> str:
        """What it says with a bid of `price`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Says(Speaker):
    """Says the same with its first bid, or with every bid."""

    text: str
    every: bool = False

    def words(self, obs: Observation, price: float) -> str:
        return self.text if self.every or not obs.table.bids else ""


@dataclass(frozen=True)
class Keyed(Speaker):
    """Says, once, what moves the type whose style it heard most."""

    after: int = 2  # lines with a style that it waits for
    since: int = 1  # the first round in which it speaks

    def words(self, obs: Observation, price: float) -> str:
        moves = obs.table.moves
        styles = [speech.hear(m.action.message).style for m in moves if m.agent == "seller"]
        styles = [style for style in styles if style]
        has_spoken = any(move.action.message for move in moves if move.agent == "buyer")
        if obs.round + 1 < self.since or has_spoken or len(styles) < max(1, self.after):
            return ""
        act, quote = rules.KEYS[max(styles, key=styles.count)], obs.own["quote"]
        is_low = price < rules.CASH_FROM * obs.opening_ask
        if (act == "outside" and not quote) or (act == "cash" and is_low):
            return ""
        return speech.buyer_line(act, quote or 0, 0.0)


@dataclass(frozen=True)
class Quotes(Speaker):
    """Names another shop's price with its first bid: the one that it knows, or a false one."""

    honest: bool

    def words(self, obs: Observation, price: float) -> str:
        false = round(FALSE_PRICE * obs.table.item.list_price)
        named = obs.own["quote"] if self.honest else false
        return speech.buyer_line("outside", named, 0.0) if named and not obs.table.bids else ""


@dataclass(frozen=True)
class Babbles(Speaker):
    """Says one thing after the other, whatever it hears."""

    acts: tuple[str, ...] = ("tea", "cash", "flaw", "ask_cost", "ask_time")

    def words(self, obs: Observation, price: float) -> str:
        return speech.buyer_line(self.acts[obs.round % len(self.acts)], 0, 0.0)


@dataclass(frozen=True)
class Echoes(Speaker):
    """Repeats the seller's last words."""

    def words(self, obs: Observation, price: float) -> str:
        return obs.table.moves[-1].action.message
