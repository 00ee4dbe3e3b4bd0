"""What lab_0 could gain at most in a world of the GPU arena: an integer program, solved exactly.

Trades move credits from lab to lab, so all utilities together are the job value less the energy. If
no other lab ends below its BATNA, which a lab that agrees only to what helps it does not bring on
itself, lab_0 gets at most what the best joint plan is worth less the others' BATNAs.

The program knows the shocks beforehand only as far as they help (jobs that a surge brings);
failures and dearer energy it leaves out. So it bounds every such play of that world from above.
"""

from typing import NamedTuple

import numpy as np

from env import arena


class Bound(NamedTuple):
    """Credits of utility, and whether the program was solved to the end."""

    utility: float
    solved: bool


def upper_bound(state: arena.State, lab: str = "lab_0", seconds: float = 20.0) -> Bound:
    """The most that `lab` can make of the world of `state`, the first of an episode.

    Holds for every play in which no other lab ends below its BATNA.
    """
    labs = list(state.market.labs)
    best = joint_optimum(state, labs, seconds)
    others = sum(state.private[other].batna for other in labs if other != lab)
    return Bound(round(best.utility - others, 2), best.solved)


def joint_optimum(state: arena.State, labs: list[str], seconds: float = 20.0) -> Bound:
    """The most that `labs` can make together of their jobs with all blocks of the market.

    A zero-one variable says that a block serves a job, another that the job is done; hours on time
    and late are filled up to what the job requires. Where the solver runs out of time its own bound
    is given, which holds all the same.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, and rarely needed

    jobs = [job for lab in labs for job in state.private[lab].jobs]
    nature = state.private["nature"]
    rounds = [r for r, kind in nature.shocks.items() if kind == "demand_surge"]
    surges = [nature.surge[lab] for lab in labs if rounds]
    arrivals = {job.job_id: rounds[0] for job in surges}
    jobs += surges
    blocks = list(state.market.blocks.values())
    horizon = state.market.max_rounds
    pairs = []  # (block, job, hours on time, hours late)
    for b, block in enumerate(blocks):
        for j, job in enumerate(jobs):
            on_time, late = arena.hours(block, job, arrivals.get(job.job_id, 0), horizon)
            if block.reliability >= job.min_reliability - 1e-9 and on_time + late:
                pairs.append((b, j, on_time, late))
    count, size = len(pairs), len(jobs)
    width = count + 3 * size  # serves, then for each job: done, hours on time, hours late
    cost = np.zeros(width)
    rows, lows, highs = [], [], []

    def limit(entries: dict[int, float], low: float, high: float) -> None:
        row = np.zeros(width)
        for index, weight in entries.items():
            row[index] = weight
        rows.append(row)
        lows.append(low)
        highs.append(high)

    for index, (b, _, _, _) in enumerate(pairs):
        cost[index] = blocks[b].energy_cost
    for b in range(len(blocks)):
        limit({i: 1.0 for i, pair in enumerate(pairs) if pair[0] == b}, 0, 1)
    for j, job in enumerate(jobs):
        done, on_time, late = (count + part * size + j for part in range(3))
        needed = job.gpu_hours_required
        rate = job.full_value / needed
        cost[on_time], cost[late] = -rate, -arena.LATE * rate
        mine = [(i, pair) for i, pair in enumerate(pairs) if pair[1] == j]
        limit({on_time: 1.0, **{i: -float(pair[2]) for i, pair in mine}}, -np.inf, 0)
        limit({late: 1.0, **{i: -float(pair[3]) for i, pair in mine}}, -np.inf, 0)
        low = -np.inf if job.partial_credit_allowed else 0.0
        limit({on_time: 1.0, late: 1.0, done: -float(needed)}, low, 0)
    whole = np.concatenate([np.ones(count + size), np.zeros(2 * size)])
    needs = np.array([float(job.gpu_hours_required) for job in jobs])
    top = np.concatenate([np.ones(count + size), needs, needs])
    found = milp(
        cost,
        constraints=LinearConstraint(np.array(rows), lows, highs),
        integrality=whole,
        bounds=Bounds(np.zeros(width), top),
        options={"time_limit": seconds},
    )
    if found.status == 0:
        return Bound(-found.fun, True)
    return Bound(-found.mip_dual_bound, False)
