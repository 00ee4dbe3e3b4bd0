"""Draws the world of an episode at its start: labs, blocks, jobs, shocks.

World, shocks and each lab's random numbers are drawn separately and beforehand, so that the actions
of one lab change neither the shocks nor the random numbers of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, NamedTuple

import numpy as np

from .planning import best_plan
from .types import LIVE, Block, Job, Lab, Market, Nature, Own, State, live_hours

ARCHETYPES = ("cooperative", "selfish", "deadline_panicked", "deceptive", "retaliatory")
NOTES = ("paper_deadline", "customer_incident", "benchmark_run")
NAMES = ("You", "Lab A", "Lab B", "Lab C", "Lab D")
# Limits of the public bands: below the first is low, from the second on high.
LOW_BUDGET, HIGH_BUDGET = 60, 115  # credits
LOW_DEMAND, HIGH_DEMAND = 0.7, 1.4  # hours needed for each hour owned
LOW_PRESSURE, HIGH_PRESSURE = 0.8, 1.5  # hours needed for each live hour of the market
WORLD_DRAWS, SHOCK_DRAWS = 320, 96  # more than any world and its shocks need


@dataclass(frozen=True)
class Size:
    """The size of a market and its shocks."""

    labs: tuple[int, ...]  # possible numbers of labs, equally likely
    max_rounds: int
    blocks: int  # for each lab
    jobs: int  # for each lab
    shocks: tuple[tuple[int, tuple[str, ...]], ...] = ()  # round, and the possible kinds
    coalitions: bool = True
    joint: int = 0  # of a lab's jobs, how many need a partner
    opening_offers: bool = False  # each other lab makes lab_0 an offer before its first turn


class Trade(NamedTuple):
    """A kind of lab: the blocks that it usually owns and the jobs that it usually has."""

    gpu_counts: tuple[int, ...]  # of a block
    reliability: tuple[float, float]  # of a block
    hours: tuple[int, ...]  # that a job requires
    min_reliability: tuple[float, float]  # of a job


# A precise lab owns many GPUs and needs few reliable hours; a bulk lab has what the other needs.
PRECISE = Trade((2, 4), (0.70, 0.80), (2, 3, 4), (0.86, 0.92))
BULK = Trade((1, 2), (0.90, 0.99), (6, 8, 10), (0.60, 0.70))
STRAY = 0.1  # chance that a block or a job is of the other kind
OTHER_KIND = (False, True, True, False, True)  # seats whose kind is not that of lab_0
JOINT_HOURS, JOINT_RELIABILITY = (4, 6), 0.55  # of a job that needs a partner
JOINT_VALUE = 1.5  # factor on its value


class Draws:
    """Uniform random numbers drawn beforehand, used one after another."""

    def __init__(self, uniforms: Sequence[float]) -> None:
        self._uniforms = iter(uniforms)

    def take(self, count: int) -> list[float]:
        """The next `count` numbers, in [0, 1)."""
        return list(islice(self._uniforms, count))

    def uniform(self, low: float, high: float) -> float:
        """A number from `low` to `high` with two decimals."""
        return round(low + (high - low) * next(self._uniforms), 2)

    def choice(self, options: Sequence[Any]) -> Any:
        """One of `options`, equally likely."""
        return options[int(len(options) * next(self._uniforms))]

    def shuffle(self, options: Sequence[Any]) -> list[Any]:
        """`options` in random order."""
        keys = self.take(len(options))
        return [options[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]


def draw_world(name: str, size: Size, seats: Sequence[str], rng: np.random.Generator) -> State:
    """The first state of a market called `name`, before its first round opens."""
    world = Draws(rng.random(WORLD_DRAWS).tolist())
    fate = Draws(rng.random(SHOCK_DRAWS).tolist())
    luck = rng.random((len(seats), size.max_rounds)).tolist()
    kinds = world.choice(((BULK, PRECISE), (PRECISE, BULK)))
    present = seats[: world.choice(size.labs)]
    archetypes = ("", *world.shuffle(ARCHETYPES))
    labs, blocks, private = {}, {}, dict.fromkeys(seats)
    for index, lab in enumerate(present):
        budget = world.uniform(70, 130)
        reputation = world.uniform(0.35, 0.85)
        kind, other = kinds[:: -1 if OTHER_KIND[index] else 1]
        owned = [
            _block(f"b_{index}_{k}", lab, size.max_rounds, kind, other, *world.take(6))
            for k in range(size.blocks)
        ]
        jobs = tuple([
            _job(f"j_{index}_{k}", size.max_rounds, kind, other, k < size.joint, *world.take(8))
            for k in range(size.jobs)
        ])  # fmt: skip
        blocks |= {block.block_id: block for block in owned}
        batna = round(best_plan(owned, jobs, 0, size.max_rounds).gain, 2)
        chance = tuple(luck[index])
        # as in `reward`: the same digits under every Python
        stake = round(reduce(add, [job.full_value for job in jobs]), 2)
        private[lab] = Own(archetypes[index], budget, jobs, chance, budget, batna, stake)
        labs[lab] = Lab(lab, NAMES[index], reputation if index else 0.65, "", "")
    private["nature"] = _nature(fate, size, blocks, {lab: private[lab] for lab in present})
    market = Market(name, 0, size.max_rounds, size.coalitions, (), labs, blocks, {}, {}, {})
    return State(market, private)


# A block and a job, each of the numbers in [0, 1) that follow its settings.


def _block(
    block_id: str, lab: str, rounds: int, usual: Trade, other: Trade,
    stray: float, start: float, duration: float, gpus: float, reliability: float, energy: float,
) -> Block:  # fmt: skip
    kind = other if round(stray, 2) < STRAY else usual
    low, high = kind.reliability
    return Block(
        block_id,
        int(max(2, rounds - 1) * start),
        1 + int(3 * duration),
        kind.gpu_counts[int(len(kind.gpu_counts) * gpus)],
        round(low + (high - low) * reliability, 2),
        round(1.5 + 4.5 * energy, 2),
        lab,
    )


def _job(
    job_id: str, rounds: int, usual: Trade, other: Trade, joint: bool,
    stray: float, hours: float, deadline: float, value: float, urgency: float,
    reliability: float, partial: float, note: float,
) -> Job:  # fmt: skip
    kind = other if round(stray, 2) < STRAY else usual
    low, high = kind.min_reliability
    job = Job(
        job_id,
        kind.hours[int(len(kind.hours) * hours)],
        2 + int((rounds - 1) * deadline),
        round(30 + 65 * value, 2),
        round(1.0 + 0.8 * urgency, 2),
        round(low + (high - low) * reliability, 2),
        round(partial, 2) < 0.35,
        NOTES[int(len(NOTES) * note)],
    )
    if not joint:
        return job
    least, most = JOINT_HOURS
    return job._replace(
        gpu_hours_required=max(least, min(most, job.gpu_hours_required)),
        base_value=round(JOINT_VALUE * job.base_value, 2),
        min_reliability=JOINT_RELIABILITY,
        partial_credit_allowed=False,
        joint=True,
    )


def _nature(
    draws: Draws, size: Size, blocks: Mapping[str, Block], owns: Mapping[str, Own]
) -> Nature:
    shocks = {round_index: draws.choice(kinds) for round_index, kinds in size.shocks}
    surge = {}
    for shock_round in [r for r, kind in shocks.items() if kind == "demand_surge"]:
        for index, lab in enumerate(owns):
            surge[lab] = Job(
                f"j_{index}_surge_{shock_round}",
                draws.choice((2, 3, 4)),
                min(size.max_rounds, shock_round + 2),
                draws.uniform(45, 85),
                draws.uniform(1.3, 1.9),
                draws.uniform(0.70, 0.88),
                True,
                "shock_demand_surge",
                opens=shock_round,
            )
    return Nature(shocks, tuple(draws.shuffle(list(blocks))), surge, blocks, owns)


def batna_in_surge(nature: Nature, lab: str, horizon: int) -> float:
    """The BATNA of a lab that is in the market when the job of its surge comes, in credits.

    The blocks that its first plan leaves idle can do that job.
    """
    held, job = nature.owns[lab], nature.surge.get(lab)
    if job is None:
        return held.batna
    owned = [block for block in nature.blocks.values() if block.owner_lab_id == lab]
    parts = best_plan(owned, held.jobs, 0, horizon).parts
    planned = {block_id for part in parts for block_id in part.block_ids}
    idle = [block for block in owned if block.block_id not in planned]
    return round(held.batna + best_plan(idle, (job,), 0, horizon).gain, 2)


def with_public_bands(market: Market, private: Any, queue: tuple[str, ...]) -> Market:
    """The market with a new queue, and its bands and the announced shock up to date."""
    owned = dict.fromkeys(market.labs, 0)
    now, horizon = market.round_index, market.max_rounds
    for block in market.blocks.values():
        if block[7] in LIVE:
            owned[block[6]] += live_hours(block, now, horizon)
    labs, demand = {}, 0
    for lab_id, lab in market.labs.items():
        values = private[lab_id]
        needs = [job.gpu_hours_required - job.on_time - job.late for job in values.jobs]
        wanted = sum([hours for hours in needs if hours > 0])
        demand += wanted
        budget = band(values.budget, LOW_BUDGET, HIGH_BUDGET)
        scarcity = band(wanted / max(1, owned[lab_id]), LOW_DEMAND, HIGH_DEMAND)
        labs[lab_id] = lab._replace(public_budget_band=budget, public_demand=scarcity)
    pressure = band(demand / max(1, sum(owned.values())), LOW_PRESSURE, HIGH_PRESSURE)
    announced = private["nature"].shocks.get(now + 1, "") if now + 1 < horizon else ""
    return market._replace(queue=queue, labs=labs, market_pressure=pressure, announced=announced)


def band(amount: float, low: float, high: float) -> str:
    """The band of `amount`: "low" below `low`, "high" from `high` on, else "medium"."""
    return "low" if amount < low else "medium" if amount < high else "high"
