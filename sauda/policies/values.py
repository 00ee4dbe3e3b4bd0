"""What moves and games of the open market are worth, by the planner and by who knows the seller.

A move loses what the planner's best move in its position is worth more. `split_game` parts that
into what a buyer loses by what it believes and by what it makes of it, `difficulty` says how hard a
game is, and `Judged` gives the regret of moves in the same few hundred positions, from seeds that
no training uses, reached by the planner with action noise, so that many lie off its path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import env
from sauda.policies.listener import Informed, Listener, MoveValues, at_opening, believe
from sauda.records.seeds import JUDGED, deal_at, is_unseen_game
from sauda.records.store import ROOT, load
from sauda.statistics import mean_of

Action = env.Offer | env.Accept | env.WalkAway
GAP = "gap.json"  # has the edges between the bins of difficulty
PLANNER = Listener()
BINS = ("very easy", "easy", "fair", "hard", "very hard")  # of equal mass


def play_informed(task: env.Task, seed: int) -> Informed:
    """The best response to the seller of the open market that `seed` draws."""
    market = env.ALL_MARKETS[task.name.removeprefix("bazaar/")]
    return Informed.of(deal_at(task, seed), not market.mute, market.version)


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


def split_game(turns: Sequence[env.Turn]) -> tuple[float, float]:
    """What a buyer lost by what it believed, and by what it made of that, in expected grades.

    Both are at least 0, sums over its moves among the `turns` of a game of the open market. A move
    loses what the planner's best move is worth more by the exact belief. As much of it as the best
    move by the prior loses too is inference, the rest control.
    """
    inference = control = 0.0
    for turn in (turn for turn in turns if turn.agent == "buyer"):
        obs = turn.observation
        values = PLANNER.values(believe(obs), obs)
        lost = values.regret(env.WalkAway() if turn.action is None else turn.action)
        misled = values.regret(LIMITED[NOTHING](obs, None))
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


# Regret on fixed positions

JUDGED_TASKS = ("bazaar/open", "bazaar/rushed")  # in turn
PLACE = 7  # a stream of its own, apart from the game's: which position of a game is judged
ERROR = 5.0  # action noise up to the position, percent of the list price
LATE = 3  # the turn, from 1, from which the error of prices is reported


@dataclass(frozen=True)
class Position:
    """One position, with what is needed to ask any policy for its move there."""

    task: str
    seed: int
    turn: int  # the learner's, from 0
    obs: env.Observation

    def stream(self) -> np.random.Generator:
        """The learner's random stream there."""
        task = env.get_task(self.task)
        return env.agent_stream(task, self.seed, task.learner, self.turn)


def judged_positions(count: int) -> list[Position]:
    """So many positions: one of each game in JUDGED, its turn drawn apart from the game."""
    positions: list[Position] = []
    for seed in JUDGED:
        task = env.get_task(JUDGED_TASKS[len(positions) % len(JUDGED_TASKS)])
        if not is_unseen_game(task, seed):
            turns = env.rollout(task, Unsteady(PLANNER, ERROR), seed).trajectory(task.learner)
            turn = int(np.random.default_rng([seed, PLACE]).integers(len(turns)))
            positions.append(Position(task.name, seed, turn, turns[turn].observation))
        if len(positions) == count:
            return positions
    raise ValueError(f"too few seeds for {count:,} positions from {JUDGED.start:,}")


@dataclass(frozen=True)
class Unsteady:
    """A buyer whose prices are off by a normal error, in percent of the list price."""

    buyer: env.Policy
    error: float

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> Action:
        move = self.buyer(obs, rng)
        if not isinstance(move, env.Offer):
            return move
        price = move.price + rng.normal(0, self.error / 100 * obs.table.item.list_price)
        least = obs.bid if obs.bid is not None else 1
        return replace(move, price=max(least, min(obs.priced(price), max(least, obs.budget))))


@dataclass(frozen=True, eq=False)
class Judged:
    """Positions with the value of every move in them."""

    positions: Sequence[Position]
    values: Sequence[MoveValues]

    @classmethod
    def of(cls, count: int) -> "Judged":
        """So many positions with the planner's values: later moves as if it knew the seller."""
        positions = judged_positions(count)
        return cls(positions, [PLANNER.values(believe(s.obs), s.obs) for s in positions])

    def figures_of(self, moves: Sequence[Action | None]) -> dict[str, Any]:
        """The regret of moves, one in each position, None for a reply without one, as if it left.

        A mean regret with its interval, and the mean error of prices from turn LATE on, percent of
        the list price, None without any.
        """
        regret, errors = [], []
        for at, values, move in zip(self.positions, self.values, moves, strict=True):
            regret.append(values.regret(env.WalkAway() if move is None else move))
            error = price_error(values, move, at.obs)
            if error is not None and at.turn + 1 >= LATE:
                errors.append(error)
        return {
            "regret": mean_of(np.array(regret)),
            "price_error": round(float(np.mean(errors)), 6) if errors else None,
        }


def price_error(values: MoveValues, move: Action | None, obs: env.Observation) -> float | None:
    """How far an offer is from the best one, % of the list price; None where either is no offer."""
    best = values.best(obs)
    if isinstance(best, env.Offer) and isinstance(move, env.Offer):
        return 100 * abs(move.price - best.price) / obs.table.item.list_price
    return None
