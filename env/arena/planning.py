"""The best assignment of a lab's blocks to its jobs, found exactly, and what trades change in it.

Gains are credits: job value less energy. A block serves one job. A job without partial credit must
get all its hours in one booking.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .actions import Action
from .types import COMMITTED, FREE, Block, Job, Observation, Offer, live_hours

BREACH_FINE = 5.0  # credits, at most the budget, to the partner of a coalition that a lab breaks
LEAST_SHARE = 1.0  # credits: least payment for a pooled block
LATE = 0.35  # value of an hour after the deadline, as a share of one before it


class Part(NamedTuple):
    """One job of a plan, the blocks booked for it, and its gain in credits."""

    job_id: str
    block_ids: tuple[str, ...]
    gain: float

    @property
    def booking(self) -> Action:
        """The action that books it."""
        return Action("allocate_to_job", job_id=self.job_id, block_ids=self.block_ids)


class Plan(NamedTuple):
    """The best set of parts that share no block, and their gain together in credits."""

    gain: float
    parts: tuple[Part, ...]

    @property
    def booking(self) -> Action | None:
        """The action that books the part with the highest gain; None without parts."""
        return max(self.parts, key=lambda part: part.gain).booking if self.parts else None


def hours(block: Block, job: Job, now: int, horizon: int) -> tuple[int, int]:
    """GPU-hours of `block` before and after the job's deadline, if booked in round `now`.

    `horizon` is the last round of the market, after which a block gives no hours.
    """
    start, duration, gpus = block[1:4]
    end = start + duration if start + duration < horizon else horizon
    first, deadline = start if start > now else now, job.deadline_round
    if first < job.opens:
        first = job.opens
    if first >= end:
        return 0, 0
    due = end if end <= deadline else deadline if first < deadline else first
    return (due - first) * gpus, (end - due) * gpus


def booked_value(job: Job, on_time: int, late: int) -> float:
    """Credits that the job pays for `on_time` hours before and `late` hours after its deadline."""
    if not (on_time or late):
        return 0.0
    needed = job.gpu_hours_required
    on_time = on_time if on_time < needed else needed
    credit = on_time + LATE * (late if late < needed - on_time else needed - on_time)
    return job.base_value * job.urgency_multiplier * credit / needed


def add_hours(job: Job, blocks: Iterable[Block], now: int, horizon: int) -> tuple[int, int]:
    """The job's booked hours (on time, late) with those of `blocks` added."""
    on_time, late = job.on_time, job.late
    for block in blocks:
        more, over = hours(block, job, now, horizon)
        on_time += more
        late += over
    return on_time, late


def booking_gain(job: Job, blocks: Sequence[Block], now: int, horizon: int) -> float | None:
    """Credits that booking `blocks` for `job` adds, net of energy; None if the rules forbid it."""
    for block in blocks:
        if block.reliability < job.min_reliability:
            return None
    if job.joint and len({block.owner_lab_id for block in blocks}) < 2:
        return None
    added = added_value(job, *add_hours(job, blocks, now, horizon))
    return None if added is None else added - sum([block.energy_cost for block in blocks])


def added_value(job: Job, on_time: int, late: int) -> float | None:
    """Credits that a booking adds with which the job has these hours; None if they are too few."""
    if on_time + late < job.gpu_hours_required and not job.partial_credit_allowed:
        return None
    return booked_value(job, on_time, late) - booked_value(job, job.on_time, job.late)


# The part of a block that can still be used: its id, the rounds from the first up to the end, its
# GPUs, reliability and energy cost. A plain tuple, as plans are looked up by it.
Span = tuple[str, int, int, int, float, float]


def best_plan(blocks: Iterable[Block], jobs: Iterable[Job], now: int, horizon: int) -> Plan:
    """The best assignment of `blocks` to the unfinished jobs of `jobs`, from round `now` on."""
    return _search(_spans(blocks, now, horizon), tuple(jobs))


def free_blocks(obs: Observation) -> list[Block]:
    """The observing lab's blocks that are in no pool and have hours left."""
    agent, market = obs.agent, obs.market
    now, horizon = market.round_index, market.max_rounds
    return [
        b
        for b in market.blocks.values()
        if b[6] == agent and b[7] in FREE and live_hours(b, now, horizon)
    ]


def own_plan(obs: Observation, free: list[Block] | None = None) -> Plan:
    """The best plan of the observing lab with the free blocks that it owns."""
    blocks, market = free_blocks(obs) if free is None else free, obs.market
    return best_plan(blocks, obs.own.jobs, market.round_index, market.max_rounds)


def _spans(blocks: Iterable[Block], now: int, horizon: int) -> tuple[Span, ...]:
    """The usable rest of each block; blocks without any are left out."""
    spans = []
    for block_id, start, duration, gpus, reliability, energy, _, _, _ in blocks:
        end = start + duration if start + duration < horizon else horizon
        first = start if start > now else now
        if first < end:
            spans.append((block_id, first, end, gpus, reliability, energy))
    return tuple(spans)


@lru_cache(maxsize=1 << 10)
def _search(spans: tuple[Span, ...], jobs: tuple[Job, ...]) -> Plan:
    """Branch and bound: depth first over jobs, each with its gainful sets of blocks.

    Joint jobs are left out, since nobody can do them alone.
    """
    choices = []
    for job in jobs:
        if not job.joint and job.on_time + job.late < job.gpu_hours_required:
            sets = _sets(spans, job)
            if sets:
                choices.append((job.job_id, sets))
    if len(choices) > 1:
        choices.sort(key=lambda choice: -choice[1][0][0])
    best, chosen, taken = 0.0, (), 0
    for job_id, sets in choices:
        added, mask = sets[0]
        if mask & taken:
            break
        best, chosen, taken = best + added, (*chosen, (job_id, mask, added)), taken | mask
    else:  # every job gets the set that is best for it
        return _plan(spans, best, chosen)
    rest = [0.0]  # upper bound on what the jobs from each one on could add
    for _, sets in reversed(choices):
        rest.append(rest[-1] + sets[0][0])
    rest.reverse()
    best, chosen, count = 0.0, (), len(choices)

    def extend(index: int, taken: int, total: float, picked: tuple) -> None:
        nonlocal best, chosen
        if total > best + 1e-9:
            best, chosen = total, picked
        if index == count or total + rest[index] <= best + 1e-9:
            return
        job_id, sets = choices[index]
        for added, mask in sets:
            if total + added + rest[index + 1] <= best + 1e-9:
                break
            if not mask & taken:
                extend(index + 1, taken | mask, total + added, (*picked, (job_id, mask, added)))
        extend(index + 1, taken, total, picked)

    extend(0, 0, 0.0, ())
    return _plan(spans, best, chosen)


def _plan(spans: tuple[Span, ...], gain: float, chosen: tuple) -> Plan:
    parts = [
        Part(job_id, tuple([b[0] for i, b in enumerate(spans) if mask >> i & 1]), added)
        for job_id, mask, added in chosen
    ]
    return Plan(gain, tuple(parts))


def _sets(spans: tuple[Span, ...], job: Job) -> list[tuple[float, int]]:
    """Each set of blocks with a gain for `job` as (gain, bit mask of spans), the best first.

    A set is not extended once all its hours are on time.
    """
    _, needed, deadline, base, urgency, least_reliability, partial, _, had, had_late, *_ = job
    usable, hours_in_all, opens = [], had + had_late, job.opens
    for index, (_, first, end, gpus, reliability, energy) in enumerate(spans):
        if reliability < least_reliability:
            continue
        if first < opens:
            first = opens
        if first < end:
            due = end if end <= deadline else deadline if first < deadline else first
            usable.append((1 << index, (due - first) * gpus, (end - due) * gpus, energy))
            hours_in_all += (end - first) * gpus
    if not usable or (hours_in_all < needed and not partial):
        return []
    rate = base * urgency / needed
    before = booked_value(job, had, had_late) if had or had_late else 0.0
    enough, left = 0 if partial else needed, hours_in_all - had - had_late
    complete, sets = [], [(0, had, had_late, 0.0)]  # sets: those that more blocks may join
    for bit, more, more_late, energy in usable:
        left -= more + more_late
        for mask, on_time, late, spent in tuple(sets):
            on_time, late, spent = on_time + more, late + more_late, spent + energy
            if on_time + late >= enough:
                lack = needed - on_time
                credit = needed if lack <= 0 else on_time + LATE * (late if late < lack else lack)
                added = rate * credit - before - spent
                if added > 1e-9:
                    complete.append((added, mask | bit))
            if on_time < needed and left and on_time + late + left >= enough:
                sets.append((mask | bit, on_time, late, spent))
    return sorted(complete, reverse=True)


def spare_blocks(obs: Observation, plan: Plan, free: list[Block] | None = None) -> list[Block]:
    """The observing lab's free blocks that `plan` does not use."""
    taken = {block_id for part in plan.parts for block_id in part.block_ids}
    return [b for b in (free_blocks(obs) if free is None else free) if b[0] not in taken]


def trade_gain(
    obs: Observation,
    given: Iterable[str],
    received: Iterable[str],
    money: float,
    plan: Plan | None = None,
) -> float:
    """What a trade of block ids and `money` is worth to the observing lab, in credits.

    The change of its best plan by the blocks, plus `money`, less the fine if giving a committed
    block away breaks a coalition. `plan` is its best plan without the trade, if it is known.
    """
    market, agent, away, got = obs.market, obs.agent, tuple(given), tuple(received)
    blocks, jobs = market.blocks, [j for j in obs.own.jobs if not (j.joint or j.completed)]
    if not away and all(blocks[b].reliability < job.min_reliability for b in got for job in jobs):
        return money  # no job can use what it would receive
    then = [
        b
        for b in blocks.values()
        if (b[6] == agent and b[7] in FREE and b[0] not in away) or b[0] in got
    ]
    fines = BREACH_FINE * (COMMITTED in [blocks[b].status for b in away])
    after = _search(_spans(then, market.round_index, market.max_rounds), obs.own.jobs)
    return after.gain - (plan or own_plan(obs)).gain + money - fines


def offer_gain(obs: Observation, offer: Offer, plan: Plan | None = None) -> float:
    """The `trade_gain` of accepting `offer`, which is addressed to the observing lab."""
    given, received = offer.requested_blocks, offer.offered_blocks
    return trade_gain(obs, given, received, offer.payment - offer.ask, plan)


def loss_by_delay(obs: Observation, part: Part) -> float:
    """Credits that `part` loses if it is booked one round later."""
    market = obs.market
    blocks = [market.blocks[block_id] for block_id in part.block_ids]
    if min([block.start_round for block in blocks]) > market.round_index:
        return 0.0
    job = next(job for job in obs.own.jobs if job.job_id == part.job_id)
    later = booking_gain(job, blocks, market.round_index + 1, market.max_rounds)
    return part.gain - max(0.0, later or 0.0)


def urgent_parts(obs: Observation, plan: Plan) -> list[tuple[float, Part]]:
    """The parts of a plan that lose something by waiting a round, each after its loss."""
    losses = [(loss_by_delay(obs, part), part) for part in plan.parts]
    return [pair for pair in losses if pair[0] > 0.01]


def pooled_part(obs: Observation, plan: Plan, spare: Iterable[Block]) -> Part | None:
    """The best use of a partner's pooled blocks for a job that `plan` leaves out.

    The lab's own `spare` blocks may be added. The gain is net of the partner's share; None if
    nothing can be gained.
    """
    market = obs.market
    now, horizon = market.round_index, market.max_rounds
    pools, best = obs.coalitions, None
    jobs = unplanned_jobs(obs, plan) if pools else []
    for coalition in pools if jobs else ():
        pooled = [market.blocks[b] for b in coalition.commitments]
        theirs = [block for block in pooled if block.owner_lab_id != obs.agent]
        for job in jobs if theirs else ():
            part = shared_part(job, theirs, list(spare), now, horizon)
            if part is None:
                continue
            booked = [market.blocks[b] for b in part.block_ids]
            dues = pool_dues(obs, job, booked, coalition.share * part.gain)
            energy = sum(block.energy_cost for block in booked)
            net = part.gain - dues
            if net > (best.gain if best else 0.0) and dues + energy <= obs.own.budget:
                best = part._replace(gain=net)
    return best


def pool_dues(obs: Observation, job: Job, blocks: Sequence[Block], shared: float) -> float:
    """Credits that the observing lab owes for the blocks of others among `blocks`, by their hours.

    `shared` is what it would owe if all were of others.
    """
    now, horizon = obs.market.round_index, obs.market.max_rounds
    size = [sum(hours(block, job, now, horizon)) for block in blocks]
    rate = shared / sum(size)
    theirs = [h for h, block in zip(size, blocks, strict=True) if block.owner_lab_id != obs.agent]
    return sum([max(LEAST_SHARE, rate * h) for h in theirs])


def shared_part(
    job: Job, theirs: list[Block], spare: list[Block], now: int, horizon: int
) -> Part | None:
    """The best booking of `theirs` and `spare` for `job`, with a block of each if it is joint."""
    plan = best_plan((*theirs, *spare), (job._replace(joint=False),), now, horizon)
    if not plan.parts:
        return None
    part, blocks = plan.parts[0], {b.block_id: b for b in (*theirs, *spare)}
    owners = {blocks[b].owner_lab_id for b in part.block_ids}
    if not job.joint or len(owners) > 1:
        return part
    more = [
        block
        for block in blocks.values()
        if block.owner_lab_id not in owners
        and block.reliability >= job.min_reliability
        and live_hours(block, now, horizon)
    ]
    if not more:
        return None
    added = min(more, key=lambda block: (live_hours(block, now, horizon), block.energy_cost))
    return Part(job.job_id, (*part.block_ids, added.block_id), part.gain - added.energy_cost)


def unplanned_jobs(obs: Observation, plan: Plan) -> list[Job]:
    """Unfinished jobs that `plan` leaves out, the most valuable first."""
    planned = {part.job_id for part in plan.parts}
    jobs = [
        job
        for job in obs.own.jobs
        if job.job_id not in planned and job.on_time + job.late < job.gpu_hours_required
    ]
    return sorted(jobs, key=lambda job: -job.full_value) if len(jobs) > 1 else jobs
