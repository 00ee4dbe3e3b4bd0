"""Where players of the open market lose against the optimum: uncertainty, inference, control.

One planner splits the gap between a player and the informed oracle, as TERMS-Bench does. What the
planner loses to the oracle is uncertainty: it does not know the seller, and a better planner might
lose less. What it loses when it learns no more than the player does is inference, and what the
player loses to it then is control. A player without a belief counts as one that learns nothing
after the opening ask, so that its inference and control are split by convention. Games are also
graded by how hard they are.

`Judged` needs fewer games: it gives the regret of moves in the same few hundred positions, by the
planner's values. They come from seeds that no training uses, reached by the planner with action
noise, so many lie off its path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import env
from sauda.experiments import batches
from sauda.experiments.base import experiment
from sauda.experiments.evaluate import play_informed
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import LEAVE, TUNED
from sauda.llm.registry import PlayerSpec, get_policy, is_model
from sauda.llm.turn import attempt_seeds, in_batches, take_turns
from sauda.policies import BUYERS
from sauda.policies.listener import Informed, Listener, MoveValues, at_opening, believe
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.seeds import JUDGED, deal_at, first_seeds, is_unseen_game
from sauda.records.store import ROOT, load
from sauda.statistics import difference_of, mean_of

Action = env.Offer | env.Accept | env.WalkAway
FILE, TASK = "gap.json", "bazaar/open-3"
PLANNER = Listener()
BINS = ("very easy", "easy", "fair", "hard", "very hard")  # of equal mass


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


def learns_from(name: str) -> str:
    """Who plans with what a player learns from: a key of LIMITED, or the planner that reads."""
    player = get_policy(env.get_task(TASK), name)
    if not isinstance(player, Listener):
        return NOTHING
    return "listener" if player.reads else PRICES


def measure(name: str, seeds: Sequence[int]) -> list[float]:
    """The grades of a player, or of a key of LIMITED, one per seed."""
    player = LIMITED.get(name) or get_policy(env.get_task(TASK), name)
    return batches.round_all(batches.grades(TASK, player, seeds))


# Difficulty ---------------------------------------------------------------------------------------


@cache
def _edges() -> tuple[float, ...]:
    return tuple(load(FILE, ROOT).data.edges)


def difficulty(task: env.Task, seed: int) -> tuple[int, str]:
    """How hard a game of an open market is: its bin, 1 to 5, and why, in words.

    The bins hold a fifth of the games of TASK each, by what a buyer expects that knows its seller.
    To be told after the game alone. Raises ArtifactError, with its command, where gap.json is
    missing.
    """
    place = bin_of(play_informed(task, seed).expected, _edges())
    return place, f"{BINS[place - 1]}: {facts(deal_at(task, seed))}"


def bin_of(informed: float, edges: Sequence[float]) -> int:
    """The bin, from 1, of a game of which an informed buyer expects so much; `edges` fall."""
    return 1 + sum(informed < edge for edge in edges)


def facts(instance: env.Instance) -> str:
    """What makes a game easy or hard, in words."""
    seller, width = instance.seller["stance"], _width(instance)
    parts = [
        f"a {seller.type} seller" if seller.type != "bluffer" else "a bluffer",
        "with another buyer waiting" if seller.rival else "",
        "short of time" if seller.pressed else "in no hurry",
        f"{width:.0%} of the list price between the limits"
        if width > 0
        else "no price that serves both, so that to leave is right",
    ]
    return ", ".join(filter(None, parts))


def _width(deal: env.Instance) -> float:
    """The span between the limits, in list prices; below 0 where no price serves both."""
    return (deal.buyer["reservation"] - deal.seller["reservation"]) / deal.item.list_price


# One game -----------------------------------------------------------------------------------------


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


class GapRow(Row):
    """One player: its grade, and where it loses against the oracle."""

    bins: list[Interval]  # its grade by difficulty, the easiest first


class Gap(Record):
    """Where players lose against the optimum: uncertainty, inference, control, by difficulty."""

    task: str
    n: int  # hold-out seeds
    oracle: Interval  # what the informed oracle expects
    silent: Interval  # the same, saying nothing
    planner: Interval  # the planner's grade with the exact belief
    uncertainty: Interval  # what it loses to the oracle
    edges: list[float]  # informed grades that part the bins, falling
    bins: Rows  # the games by difficulty, the easiest first
    rows: Table[GapRow]  # one row per player


def describe_bin(name: str, deals: Sequence[env.Instance], informed: np.ndarray) -> dict[str, Any]:
    """What kind of games a bin holds, and what an informed buyer expects of them."""
    sellers = [deal.seller["stance"] for deal in deals]
    widths = np.array([_width(deal) for deal in deals])
    shares = {
        "no_zopa": np.mean(widths <= 0),
        "width": widths[widths > 0].mean() if (widths > 0).any() else 0.0,
        "bluffers": np.mean([seller.type == "bluffer" for seller in sellers]),
        "rivals": np.mean([seller.rival for seller in sellers]),
        "pressed": np.mean([seller.pressed for seller in sellers]),
    }
    shares = {key: round(float(value), 6) for key, value in shares.items()}
    return {"name": name, "n": len(deals), "oracle": mean_of(informed), **shares}


def summarize(
    won: Mapping[str, Sequence[float]], players: Sequence[str], seeds: Sequence[int]
) -> dict[str, Any]:
    """The result of the grades of all players, of LIMITED and of the planner."""
    grades = {name: np.array(values) for name, values in won.items()}
    deals = [deal_at(env.get_task(TASK), seed) for seed in seeds]
    informed, silent = (
        np.array([Informed.of(deal, speaks, version=3).expected for deal in deals])
        for speaks in (True, False)
    )
    edges = batches.round_all(np.quantile(informed, 1 - np.arange(1, len(BINS)) / len(BINS)))
    bins = np.array([bin_of(grade, edges) for grade in informed])
    planner, rows = grades["listener"], []
    for name in players:
        own, adopted = grades[name], grades[learns_from(name)]
        rows.append({
            "player": name,
            "grade": mean_of(own),
            "adopted": mean_of(adopted),  # of the planner that learns no more
            "inference": difference_of(planner, adopted),
            "control": difference_of(adopted, own),
            "bins": [mean_of(own[bins == place]) for place in range(1, len(BINS) + 1)],
        })  # fmt: skip
    return {
        "task": TASK,
        "n": len(seeds),
        "oracle": mean_of(informed),
        "silent": mean_of(silent),
        "planner": mean_of(planner),
        "uncertainty": difference_of(informed, planner),
        "edges": edges,
        "bins": [
            describe_bin(
                name, [deals[i] for i in np.flatnonzero(bins == place)], informed[bins == place]
            )
            for place, name in enumerate(BINS, 1)
        ],
        "rows": rows,
    }


@experiment(FILE, Gap, checks="every game and every figure")
def gap(
    players: tuple[str, ...] = (
        *BUYERS,
        LEAVE,
        TUNED,
        "bayesian",
        "speaker",
        "reader",
        "listener",
    ),
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per player, a script or a planner.

    Raises ValueError for an unknown one.
    """
    seeds = first_seeds(episodes)
    for name in players:
        if is_model(name):
            raise ValueError(f"{name}: what a language model learns is not known")
        get_policy(env.get_task(TASK), name)
    # The planner splits every gap, so it plays along.
    cells = dict.fromkeys((*LIMITED, "listener", *players), seeds)
    return summarize(batches.play_cells(measure, cells, workers), players, seeds)


# Regret on fixed positions ----------------------------------------------------------------------

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

    def of_model(self, player: PlayerSpec) -> dict[str, Any]:
        """`figures_of` the moves of a language model, its replies in batches of BATCH."""
        seat, moves = player.seat(BAZAAR), []
        for start in range(0, len(self.positions), batches.BATCH):
            batch = self.positions[start : start + batches.BATCH]
            turns = take_turns(
                [seat] * len(batch),
                [at.obs for at in batch],
                [attempt_seeds(at.stream()) for at in batch],
                in_batches(player.generate),
            )
            moves += [turn.action for turn in turns]
        return self.figures_of(moves)


def price_error(values: MoveValues, move: Action | None, obs: env.Observation) -> float | None:
    """How far an offer is from the best one, % of the list price; None where either is no offer."""
    best = values.best(obs)
    if isinstance(best, env.Offer) and isinstance(move, env.Offer):
        return 100 * abs(move.price - best.price) / obs.table.item.list_price
    return None
