"""What moves and games of the open market are worth, by the planner and by who knows the seller.

A move loses what the planner's best move in its position is worth more. `split_game` parts that
into what a buyer loses by what it believes and by what it makes of it, and `difficulty` says how
hard a game is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import env
from sauda.policies.listener import Informed, Listener, MoveValues, at_opening, believe
from sauda.records.seeds import deal_at
from sauda.records.store import ROOT, load

Action = env.Offer | env.Accept | env.WalkAway
GAP = "gap.json"  # has the edges between the bins of difficulty
PLANNER = Listener()
BINS = ("very easy", "easy", "fair", "hard", "very hard")  # of equal mass


def play_informed(task: env.Task, seed: int) -> Informed:
    """The best response to the seller of the open market that `seed` draws."""
    market = env.MARKETS[task.name.removeprefix("bazaar/")]
    return Informed.of(deal_at(task, seed), not market.mute)


@dataclass(frozen=True)
class Limited:
    """The planner that learns from prices alone, or from nothing after the opening ask.

    It knows what its own words come to with each seller, which is no matter of belief.
    """

    from_prices: bool

    def __call__(self, obs: env.Observation, rng: np.random.Generator | None) -> Action:
        seen = obs if self.from_prices else at_opening(obs)
        belief = replace(believe(obs), weights=believe(seen, reads=False).weights)
        return PLANNER.decide(belief, obs)


PRICES, NOTHING = "prices alone", "nothing"  # what a planner learns from
LIMITED = {PRICES: Limited(True), NOTHING: Limited(False)}


def split_game(turns: Iterable[env.Turn], values: Iterable[MoveValues]) -> tuple[float, float]:
    """What a buyer lost by what it believed, and by what it made of that, in expected grades.

    Both are at least 0, sums over its `turns` of a game of the open market, each with the planner's
    `values` there. A move loses what the planner's best move is worth more by the exact belief. As
    much of it as the best move by the prior loses too is inference, the rest control.
    """
    inference = control = 0.0
    for turn, known in zip(turns, values, strict=True):
        lost = known.regret(env.WalkAway() if turn.action is None else turn.action)
        misled = known.regret(LIMITED[NOTHING](turn.observation, None))
        inference += min(lost, misled)
        control += max(0.0, lost - misled)
    return inference, control


# How hard a game is


@cache
def edges_of_bins() -> tuple[float, ...]:
    return tuple(load(GAP, ROOT).data.edges)


def difficulty(task: env.Task, seed: int) -> tuple[int, str]:
    """How hard a game of an open market is: its bin, 1 to 5, and why, in words.

    The bins hold a fifth of the games of TASK each, by what a buyer expects that knows its seller.
    To be told after the game alone. Raises ArtifactError, with its command, where gap.json is
    missing.
    """
    place = bin_of(play_informed(task, seed).expected, edges_of_bins())
    return place, f"{BINS[place - 1]}: {facts(deal_at(task, seed))}"


def bin_of(informed: float, edges: Sequence[float]) -> int:
    """The bin, from 1, of a game of which an informed buyer expects so much; `edges` fall."""
    return 1 + sum(informed < edge for edge in edges)


def facts(instance: env.Instance) -> str:
    """What makes a game easy or hard, in words."""
    seller, share = instance.seller["stance"], width(instance)
    parts = [
        f"a {seller.type} seller" if seller.type != "bluffer" else "a bluffer",
        "with another buyer waiting" if seller.rival else "",
        "short of time" if seller.pressed else "in no hurry",
        f"{share:.0%} of the list price between the limits"
        if share > 0
        else "no price that serves both, so that to leave is right",
    ]
    return ", ".join(filter(None, parts))


def width(deal: env.Instance) -> float:
    """The span between the limits, in list prices; below 0 where no price serves both."""
    return (deal.buyer["reservation"] - deal.seller["reservation"]) / deal.item.list_price
