"""Bounds of the open market: the informed oracle, the policies' distance to it, and exploits.

The informed value is that of the best reply to the known seller: nobody who does not know it can
expect more, but for the grid error. The belief buyer knows no more than any contestant, so the best
uninformed value lies between the two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice, product
from math import inf
from typing import Any

import numpy as np
from pydantic import Field, FiniteFloat

from env import (
    SELLER_TYPES,
    WALK,
    Accept,
    BatchView,
    Instance,
    Moves,
    Observation,
    Offer,
    Policy,
    WalkAway,
    batch_conceded,
    begin,
    conceded,
    get_task,
    play_batch,
    rollout,
)
from sauda.experiments.base import experiment
from sauda.games.bazaar_columns import games_at
from sauda.policies import BUYERS
from sauda.policies.bazaar import Wait, bid, leave
from sauda.policies.belief import belief_buyer
from sauda.policies.best_response import GRID, informed_policy, informed_value, rivals_in
from sauda.policies.vectorized import batch_form, bids, otherwise
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Record
from sauda.records.seeds import SPLITS
from sauda.statistics import mean_interval

TASKS = ("bazaar/open", "bazaar/rushed")
LEAVES = (1.2, 1.6, inf)  # opening asks, in limits of the buyer, tried as too high to stay for
NEAR = 0.95  # of the informed value: a policy without hidden information that near is an exploit


class InformedShare(Interval):
    """A mean grade, and how near it comes to a buyer who knows the seller."""

    share: FiniteFloat = Field(description="mean grade as a share of the informed value")
    flagged: bool = Field(description="whether the share reaches the threshold of an exploit")


class _Policy(Record):
    policy: str = Field(description="name of the policy")


class PolicyShare(InformedShare, _Policy):  # a last base's fields come first in the file
    """The same for a named policy."""


class GridError(Record):
    """What halving the steps of the price grid adds to the informed value."""

    n: int = Field(description="deals measured")
    mean: FiniteFloat = Field(description="mean absolute change of the grade")
    max: FiniteFloat = Field(description="largest absolute change")


class ExploitSearch(Record):
    """The search for a fixed schedule of bids that exploits the sellers."""

    tried: int = Field(description="schedules tried")
    n: int = Field(description="training seeds each was tried on")
    best: str = Field(description="the best schedule in words")
    train: InformedShare = Field(description="its grade on the training seeds")
    holdout: InformedShare = Field(description="its grade on the holdout seeds")


class SellerTypeRow(Record):
    """Grades against one type of seller."""

    type: str = Field(description="hidden type of the seller")
    n: int = Field(description="episodes with that type")
    informed: Interval = Field(description="informed value")
    belief: InformedShare = Field(description="the belief buyer")
    policies: list[PolicyShare] = Field(description="one entry per scripted policy")


class OracleRow(Record):
    """One task of the open market."""

    task: str = Field(description="name of the task")
    n: int = Field(description="holdout seeds")
    no_zopa: FiniteFloat = Field(description="share of deals in which no price serves both sides")
    informed: Interval = Field(description="value of the best response to the known seller")
    informed_play: InformedShare = Field(description="what the informed buyer wins in play")
    grid_error: GridError = Field(description="error of the price grid")
    belief: InformedShare = Field(description="the belief buyer")
    policies: list[PolicyShare] = Field(description="one entry per scripted policy")
    types: list[SellerTypeRow] = Field(description="the same by type of seller")
    search: ExploitSearch = Field(description="the search for exploits")


class Oracle(Record):
    """The open market's best values: known seller, believed seller; the search for exploits."""

    grid: int = Field(description="prices in the grid of the best response")
    near: FiniteFloat = Field(description="share of the informed value that flags an exploit")
    rows: list[OracleRow] = Field(description="one row per task")


@dataclass(frozen=True)
class Schedule:
    """A fixed path of bids, whatever the seller does, up to the last useful move.

    Shares are of the opening ask, or of the buyer's limit where that is lower or `of_limit`.
    """

    opening: float
    final: float
    exponent: float  # of the concession in time, as in `conceded`
    patient: bool  # takes an ask above its own next bid only at the last useful move
    of_limit: bool
    leaves_above: float  # opening ask, as a multiple of its limit; it walks from that at once

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        if obs.opening_ask > self.leaves_above * obs.budget:
            return WalkAway()
        unit = obs.budget if self.of_limit else min(obs.opening_ask, obs.budget)
        useful = min(obs.table.rounds, obs.own.get("deadline") or obs.table.rounds)
        done = conceded(obs.round, useful, self.exponent)
        price = min(obs.budget, unit * (self.opening + done * (self.final - self.opening)))
        last = obs.round >= useful - 1
        if obs.ask <= (obs.budget if last or not self.patient else price):
            return Accept()
        return bid(obs, price) if obs.round < useful else WalkAway()

    def batch(self, view: BatchView) -> Moves:
        """The same over arrays."""
        unit = view.budget if self.of_limit else np.minimum(view.opening_ask, view.budget)
        useful = np.minimum(view.rounds, view.own.deadline).astype(int)
        done = batch_conceded(view.round, useful, self.exponent)
        price = unit * (self.opening + done * (self.final - self.opening))
        price = np.minimum(view.budget, price)
        takes_any = (view.round >= useful - 1) | (not self.patient)
        kind, price = otherwise(
            view.ask <= np.where(takes_any, view.budget, price),
            bids(view, price, leaves=view.round >= useful),
        )
        return np.where(view.opening_ask > self.leaves_above * view.budget, WALK, kind), price


def candidates() -> dict[str, Policy]:
    """The fixed schedules and variants of `wait` tried as exploits, by name."""
    grid = product((0.5, 0.7), (0.85, 1.0), (0.3, 1.0, 3.0), (True, False), (True, False), LEAVES)
    schedules = {
        f"{opening:g} to {final:g} of the {'limit' if of_limit else 'ask'}, exponent {exponent:g}, "
        f"{'patient' if patient else 'takes any ask within its limit'}"
        f"{f', leaves at {above:g} times the limit' * (above < inf)}": Schedule(
            opening, final, exponent, patient, of_limit, above
        )
        for opening, final, exponent, patient, of_limit, above in grid
    }
    waits = product((0.36, 0.42, 0.48, 0.54, 0.6, 0.66), (0.0, 0.01))
    return schedules | {f"wait at {share:g}, dodge {d:g}": Wait(share, d) for share, d in waits}


def count_games(config: Mapping[str, Any], data: Oracle) -> int:
    """Games played by every policy, two oracles and every candidate of the search."""
    return sum(
        row.n * (len(row.policies) + 2) + row.search.n * row.search.tried for row in data.rows
    )


def per_policy(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per task and policy; first the buyer who knows the seller."""
    for row in data["rows"]:
        cells = {"informed": row["informed"], "belief": row["belief"]}
        cells |= {cell["policy"]: cell for cell in row["policies"]}
        cells[f"search: {row['search']['best']}"] = row["search"]["holdout"]
        for name, cell in cells.items():
            grade = {end: cell[end] for end in ("mean", "low", "high")}
            exploit = {"share": cell.get("share"), "exploit": cell.get("flagged")}
            yield {"task": row["task"], "n": row["n"], "grade": grade, **exploit, "policy": name}


@experiment(
    "oracle.json",
    Oracle,
    version=2,
    tab="Results",
    checks="every solved game and every episode",
    amount=count_games,
    unit="games to play or solve",
    table=per_policy,
)
def oracle(
    episodes: int = 400,  # hold-out seeds per task, from 50,000: all reported values
    search: int = 150,  # training seeds per task, from 0: to choose the best schedule
    refined: int = 100,  # deals of the hold-out seeds per task, for the grid error
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the oracle artifact: one row per task."""
    train, holdout = (SPLITS[s][:n] for s, n in (("train", search), ("holdout", episodes)))
    tried = candidates()
    named = {**BUYERS, "leave": leave}
    jobs = [(t, p, holdout) for t in TASKS for p in (None, belief_buyer)]
    jobs += [(t, p, holdout) for t in TASKS for p in named.values()]
    jobs += [(t, p, train) for t in TASKS for p in (None, *tried.values())]
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(grades, *zip(*jobs, strict=True))
        values = iter(list(progress(played, len(jobs), "playing and solving", "cell")))
        known, belief = {}, {}
        for name in TASKS:
            known[name], belief[name] = next(values), next(values)
        count = len(TASKS)
        informed = pool.map(informed_grades, TASKS, [holdout] * count)
        informed = progress(informed, count, "playing the informed buyer", "task")
        in_play = dict(zip(TASKS, informed, strict=True))
        played = {name: {p: next(values) for p in named} for name in TASKS}
        searched = {name: {p: next(values) for p in ("", *tried)} for name in TASKS}
        best = {t: _best(searched[t]) for t in TASKS}
        again = list(pool.map(grades, TASKS, [tried[best[t]] for t in TASKS], [holdout] * count))
        errors = pool.map(grid_error, TASKS, [refined] * count)
        errors = list(progress(errors, count, "measuring the grid's error", "task"))
    rows = [
        {
            "task": name,
            "n": len(holdout),
            "no_zopa": no_zopa(name, holdout),
            "informed": _interval(known[name]),
            "informed_play": _compare(in_play[name], known[name]),
            "grid_error": errors[i],
            "belief": _compare(belief[name], known[name]),
            "policies": [
                {"policy": p, **_compare(v, known[name])} for p, v in played[name].items()
            ],
            "types": by_type(name, holdout, known[name], belief[name], played[name]),
            "search": {
                "tried": len(tried),
                "n": len(train),
                "best": best[name],
                "train": _compare(searched[name][best[name]], searched[name][""]),
                "holdout": _compare(again[i], known[name]),
            },
        }
        for i, name in enumerate(TASKS)
    ]
    return {"grid": GRID, "near": NEAR, "rows": rows}


def grades(task_name: str, player: Policy | None, seeds: Sequence[int]) -> np.ndarray:
    """The grade of each seed: played by `player`, or the informed value where that is None.

    Played through the batch engine where `player` has a batch form; the belief buyer has none.
    """
    task = get_task(task_name)
    form = player.batch if isinstance(player, Schedule) else batch_form(player)
    if form is not None:
        return play_batch(games_at(task_name, tuple(seeds)), form).grade
    if player is not None:
        return np.array([task.grade(rollout(task, player, seed).final) for seed in seeds])
    values = [informed_value(deal, rivals_in(task)) for deal in _deals(task_name, seeds)]
    return np.array(values).reshape(len(seeds), -1).mean(1)


def informed_grades(task_name: str, seeds: Sequence[int]) -> np.ndarray:
    """The grade of `informed_policy` in the game of each seed."""
    task = get_task(task_name)
    return np.array([task.grade(rollout(task, informed_policy(task, s), s).final) for s in seeds])


def grid_error(task_name: str, deals: int) -> dict[str, float]:
    """What halving the price grid's steps adds to the informed value, on hold-out deals."""
    first = islice(_deals(task_name, SPLITS["holdout"]), deals)
    rivals = rivals_in(get_task(task_name))
    added = [
        abs(informed_value(d, rivals, 2 * GRID - 1) - informed_value(d, rivals)) for d in first
    ]
    return {"n": len(added), "mean": round(float(np.mean(added)), 6), "max": round(max(added), 6)}


def by_type(
    task_name: str,
    seeds: Sequence[int],
    informed: np.ndarray,
    belief: np.ndarray,
    played: Mapping[str, np.ndarray],
) -> list[dict[str, Any]]:
    """The same grades against each type of seller alone: how far each policy exploits it."""
    task = get_task(task_name)
    met = np.array(
        [begin(task, seed).state.private["nature"][0].seller["stance"].type.name for seed in seeds]
    )
    return [
        {
            "type": name,
            "n": int((met == name).sum()),
            "informed": _interval(informed[met == name]),
            "belief": _compare(belief[met == name], informed[met == name]),
            "policies": [
                {"policy": p, **_compare(values[met == name], informed[met == name])}
                for p, values in played.items()
            ],
        }
        for name in SELLER_TYPES
    ]


def no_zopa(task_name: str, seeds: Sequence[int]) -> float:
    """The share of the deals in which buyer and seller can gain nothing together."""
    crossed = [d.buyer["reservation"] <= d.seller["reservation"] for d in _deals(task_name, seeds)]
    return round(float(np.mean(crossed)), 6)


def _deals(task_name: str, seeds: Iterable[int]) -> Iterable[Instance]:
    """The deals of all episodes."""
    task = get_task(task_name)
    for seed in seeds:
        yield from begin(task, seed).state.private["nature"]


def _best(values: Mapping[str, np.ndarray]) -> str:
    return max((name for name in values if name), key=lambda name: values[name].mean())


def _interval(values: np.ndarray) -> dict[str, float]:
    names = ("mean", "low", "high")
    return {k: round(v, 6) for k, v in zip(names, mean_interval(values), strict=True)}


def _compare(values: np.ndarray, informed: np.ndarray) -> dict[str, Any]:
    """A policy's mean grade with its interval, and its share of the informed value."""
    share = float(values.mean() / informed.mean())
    return {**_interval(values), "share": round(share, 6), "flagged": share >= NEAR}
