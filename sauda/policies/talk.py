"""Scripts that speak: each adds words to the bids of another buyer of the open market.

`Keyed` listens first. The others show what words do not do: a fixed phrase, a false price, babble,
the seller's own words. No policy here knows the hidden values of an episode.
"""

from dataclasses import dataclass, replace

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from env import market as rules
from env import speech as words

Action = Offer | Accept | WalkAway
FALSE_PRICE = 0.6  # of the list price: lower than what another shop may ask


@dataclass(frozen=True)
class Says:
    """Says the same with its first bid, or with every bid."""

    buyer: Policy
    text: str
    every: bool = False

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        if isinstance(action, Offer) and (self.every or not obs.table.bids):
            return replace(action, message=self.text)
        return action


@dataclass(frozen=True)
class Keyed:
    """Says, once, what moves the type whose style it heard most."""

    buyer: Policy
    after: int = 2  # lines with a style that it waits for
    since: int = 1  # the first round in which it speaks

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        moves = obs.table.moves
        if not isinstance(action, Offer) or obs.round + 1 < self.since:
            return action
        styles = [words.hear(m.action.message).style for m in moves if m.agent == "seller"]
        styles = [style for style in styles if style]
        has_spoken = any(move.action.message for move in moves if move.agent == "buyer")
        if has_spoken or len(styles) < max(1, self.after):
            return action
        act, quote = rules.KEYS[max(styles, key=styles.count)], obs.own["quote"]
        is_low = action.price < rules.CASH_FROM * obs.opening_ask
        if (act == "outside" and not quote) or (act == "cash" and is_low):
            return action
        return replace(action, message=words.buyer_line(act, quote or 0, 0.0))


@dataclass(frozen=True)
class Quotes:
    """Names another shop's price with its first bid: the one that it knows, or a false one."""

    buyer: Policy
    honest: bool

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        false = round(FALSE_PRICE * obs.table.item.list_price)
        named = obs.own["quote"] if self.honest else false
        if not isinstance(action, Offer) or obs.table.bids or not named:
            return action
        return replace(action, message=words.buyer_line("outside", named, 0.0))


@dataclass(frozen=True)
class Babbles:
    """Says one thing after the other, whatever it hears."""

    buyer: Policy
    acts: tuple[str, ...] = ("tea", "cash", "flaw", "ask_cost", "ask_time")

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        if not isinstance(action, Offer):
            return action
        act = self.acts[obs.round % len(self.acts)]
        return replace(action, message=words.buyer_line(act, 0, 0.0))


@dataclass(frozen=True)
class Echoes:
    """Repeats the seller's last words."""

    buyer: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        if not isinstance(action, Offer):
            return action
        return replace(action, message=obs.table.moves[-1].action.message)
