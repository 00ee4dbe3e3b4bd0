"""An upper bound on what one lab can gain in a world of the GPU arena, by integer programming.

Trades move credits from lab to lab, so all utilities add up to the job value less the energy. As
long as no other lab ends below its BATNA (a lab that agrees only to trades that help it never
does), a lab gets at most the value of the best joint plan less the others' BATNAs.

Of the shocks the program knows those that help (the jobs of a demand surge) and ignores those that
hurt (failures, dearer energy), so the bound holds for every such play of that world.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from env import arena

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint


class Bound(NamedTuple):
    """An upper bound on utility."""

    utility: float  # credits
    solved: bool  # whether the program was solved to optimality


def upper_bound(state: arena.State, lab: str = "lab_0", seconds: float = 20.0) -> Bound:
    """The highest utility that `lab` can reach from `state`, the first state of an episode.

    Holds for every play in which no other lab ends below its BATNA. `seconds` limits the solver.
    """
    labs = list(state.market.labs)
    best = joint_optimum(state, labs, seconds)
    others = sum(state.private[other].batna for other in labs if other != lab)
    return Bound(round(best.utility - others, 2), best.solved)


def joint_optimum(state: arena.State, labs: list[str], seconds: float = 20.0) -> Bound:
    """An upper bound on the joint utility of `labs` from their jobs, with all blocks of the market.

    A mixed-integer program: a zero-one variable says that a block serves a job, another that the
    job is done; hours on time and late are filled up to what the job requires. If the solver runs
    out of `seconds`, the bound that it has proved so far is returned, which holds all the same.
    """
    from scipy.optimize import Bounds, milp  # slow to import, and rarely needed

    jobs, arrivals = _jobs(state, labs)
    blocks = list(state.market.blocks.values())
    pairs = _pairs(blocks, jobs, arrivals, state.market.max_rounds)
    count, size = len(pairs), len(jobs)
    hours = np.array([float(job.gpu_hours_required) for job in jobs])
    solution = milp(
        _cost(blocks, jobs, pairs),
        constraints=_constraints(blocks, jobs, pairs),
        integrality=np.concatenate([np.ones(count + size), np.zeros(2 * size)]),
        bounds=Bounds(
            np.zeros(count + 3 * size), np.concatenate([np.ones(count + size), hours, hours])
        ),
        options={"time_limit": seconds},
    )
    if solution.status == 0:
        return Bound(-solution.fun, True)
    return Bound(-solution.mip_dual_bound, False)


class _Pair(NamedTuple):
    """A block that can serve a job, both by index, and the GPU-hours that it adds."""

    block: int
    job: int
    on_time: int
    late: int


def _jobs(state: arena.State, labs: list[str]) -> tuple[list[arena.Job], dict[str, int]]:
    """The jobs of `labs`, those of a demand surge last, and the round in which each of these comes.

    The others are there from the start.
    """
    nature = state.private["nature"]
    rounds = [r for r, kind in nature.shocks.items() if kind == "demand_surge"]
    surges = [nature.surge[lab] for lab in labs if rounds]
    jobs = [job for lab in labs for job in state.private[lab].jobs]
    return [*jobs, *surges], {job.job_id: rounds[0] for job in surges}


def _pairs(
    blocks: list[arena.Block], jobs: list[arena.Job], arrivals: dict[str, int], horizon: int
) -> list[_Pair]:
    """Every block with every job that it is reliable enough for and has hours for."""
    pairs = []
    for b, block in enumerate(blocks):
        for j, job in enumerate(jobs):
            on_time, late = arena.hours(block, job, arrivals.get(job.job_id, 0), horizon)
            if block.reliability >= job.min_reliability - 1e-9 and on_time + late:
                pairs.append(_Pair(b, j, on_time, late))
    return pairs


def _columns(pairs: list[_Pair], size: int, job: int) -> tuple[int, int, int]:
    """The columns of a job's variables: done, hours on time, hours late. The pairs come first."""
    return tuple(len(pairs) + part * size + job for part in range(3))


def _cost(blocks: list[arena.Block], jobs: list[arena.Job], pairs: list[_Pair]) -> np.ndarray:
    """Energy of the blocks less the value of the hours, shape (variables,); to be minimised."""
    cost = np.zeros(len(pairs) + 3 * len(jobs))
    for index, pair in enumerate(pairs):
        cost[index] = blocks[pair.block].energy_cost
    for j, job in enumerate(jobs):
        _, on_time, late = _columns(pairs, len(jobs), j)
        rate = job.full_value / job.gpu_hours_required
        cost[on_time], cost[late] = -rate, -arena.LATE * rate
    return cost


def _constraints(
    blocks: list[arena.Block], jobs: list[arena.Job], pairs: list[_Pair]
) -> "LinearConstraint":
    """A block serves one job; hours come from its blocks; a job without partial credit is whole."""
    from scipy.optimize import LinearConstraint

    rows, lows, highs = [], [], []

    def limit(entries: dict[int, float], low: float, high: float) -> None:
        row = np.zeros(len(pairs) + 3 * len(jobs))
        for index, weight in entries.items():
            row[index] = weight
        rows.append(row)
        lows.append(low)
        highs.append(high)

    for b in range(len(blocks)):
        limit({i: 1.0 for i, pair in enumerate(pairs) if pair.block == b}, 0, 1)
    for j, job in enumerate(jobs):
        done, on_time, late = _columns(pairs, len(jobs), j)
        serving = [(i, pair) for i, pair in enumerate(pairs) if pair.job == j]
        limit({on_time: 1.0, **{i: -float(pair.on_time) for i, pair in serving}}, -np.inf, 0)
        limit({late: 1.0, **{i: -float(pair.late) for i, pair in serving}}, -np.inf, 0)
        low = -np.inf if job.partial_credit_allowed else 0.0
        limit({on_time: 1.0, late: 1.0, done: -float(job.gpu_hours_required)}, low, 0)
    return LinearConstraint(np.array(rows), lows, highs)
