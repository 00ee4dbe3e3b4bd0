"""Checks of claims against the state, and the strength of true ones.

Every check takes the observation of the claiming lab and a claim, so it reveals nothing private of
another lab. It returns the claim's strength, or None if the claim is false. A strength above 1
counts as 1, below 0 as 0.
"""

from typing import NamedTuple

from ..planning import own_plan, spare_blocks
from ..types import FAILED, FREE, LIVE, Job, Market, Observation, Offer, live_hours

URGENT_WITHIN = 6  # rounds before a deadline in which it is urgent
NEAR = 2  # rounds that "near" and "soon" mean
BANDS = {"low": 0.0, "medium": 0.4, "high": 0.8}  # strength of a claim of that band


class Claim(NamedTuple):
    """A claim of a lab about itself, at `text[start:end]` of its pitch."""

    kind: str
    figure: float
    detail: str  # a band, a block, a partner, or "within" for a bound; else ""
    start: int
    end: int
    standing: str = "claimed"  # or "promise", or "other" if it is about another lab
    job: str = ""  # id of the job that the sentence names; "" for any job


def narrowed(obs: Observation, claim: Claim) -> Observation:
    """The observation of the claiming lab, with only the named job if the claim names one."""
    if not claim.job:
        return obs
    named = tuple(job for job in obs.own.jobs if job.job_id == claim.job)
    return obs._replace(own=obs.own._replace(jobs=named))


def due_round(obs: Observation, claim: Claim, claimed_in: int) -> float:
    """The deadline round that a claim made in round `claimed_in` is about.

    For an upper bound ("within 2 rounds") the first deadline within it, or -1.
    """
    if claim.kind == "due_round":
        return claim.figure
    limit = claimed_in + (NEAR if claim.kind == "due_soon" else claim.figure)
    if claim.kind == "rounds_left" and claim.detail != "within":
        return limit
    within = [j.deadline_round for j in obs.open_jobs if claimed_in < j.deadline_round <= limit]
    return min(within, default=-1)


def due(obs: Observation, claim: Claim) -> float | None:
    obs = narrowed(obs, claim)
    now = obs.market.round_index
    round_due = due_round(obs, claim, now)
    if all(job.deadline_round != round_due for job in obs.open_jobs):
        return None
    bounds = {"due_soon": NEAR, "rounds_left": claim.figure}
    left = bounds.get(claim.kind, round_due - now)
    return 1 - (left - 1) / URGENT_WITHIN if left > 0 else 0.0


def demand(obs: Observation, claim: Claim) -> float | None:
    band = obs.market.labs[obs.agent].public_demand
    return BANDS[band] if claim.detail == band else None


def pressure(obs: Observation, claim: Claim) -> float | None:
    band = obs.market.market_pressure
    return BANDS[band] / 2 if claim.detail == band else None


def budget_band(obs: Observation, claim: Claim) -> float | None:
    return 0.3 if obs.market.labs[obs.agent].public_budget_band == claim.detail else None


def _lacking(job: Job) -> int:
    return job.gpu_hours_required - job.on_time - job.late


def hours_needed(obs: Observation, claim: Claim) -> float | None:
    jobs = narrowed(obs, claim).open_jobs
    needs = {_lacking(job) for job in jobs} | {job.gpu_hours_required for job in jobs}
    needs |= {sum(_lacking(job) for job in jobs)} - {0}
    return 1.0 if claim.figure in needs else None


def held_hours(market: Market, lab_id: str) -> int:
    """GPU-hours left in the free blocks of a lab."""
    now, horizon = market.round_index, market.max_rounds
    blocks = market.blocks.values()
    return sum(
        live_hours(b, now, horizon) for b in blocks if b.owner_lab_id == lab_id and b.status in FREE
    )


def hours_held(obs: Observation, claim: Claim) -> float | None:
    return 0.6 if claim.figure == held_hours(obs.market, obs.agent) else None


def _same_credits(claimed: float, true: float) -> bool:
    """Whether amounts agree to the hundredth, or rounded to whole credits."""
    return abs(claimed - true) < 0.005 or claimed == int(true + 0.5)


def worth(obs: Observation, claim: Claim) -> float | None:
    values = [job.full_value for job in narrowed(obs, claim).open_jobs]
    return 0.8 if any(_same_credits(claim.figure, value) for value in values) else None


def budget(obs: Observation, claim: Claim) -> float | None:
    return 0.5 if _same_credits(claim.figure, obs.own.budget) else None


def open_jobs(obs: Observation, claim: Claim) -> float | None:
    return 0.5 if claim.figure == len(obs.open_jobs) > 0 else None


def failed_block(obs: Observation, claim: Claim) -> float | None:
    block = obs.market.blocks.get(claim.detail)
    if block is None or block.status != FAILED:
        return None
    return 0.7 if block.owner_lab_id == obs.agent else 0.2


def reputation(obs: Observation, claim: Claim) -> float | None:
    true = obs.market.labs[obs.agent].reputation
    claimed = claim.figure / 100 if claim.figure > 1 else claim.figure  # per cent, or a share
    holds = true >= claimed if claim.detail == "least" else abs(true - claimed) <= 0.0051
    return claimed if holds else None


def best_reputation(obs: Observation, claim: Claim) -> float | None:
    known = {lab.lab_id: lab.reputation for lab in obs.market.labs.values()}
    return known[obs.agent] if known[obs.agent] == max(known.values()) else None


def unbroken(obs: Observation, claim: Claim) -> float | None:
    """No coalition broken; weak for a lab that was never in one."""
    pools = [c for c in obs.market.coalitions.values() if c.consented and obs.agent in c.members]
    if any(pool.breached_by == obs.agent for pool in pools):
        return None
    return 0.2 + 0.4 * len(pools)


def accepted_offers(market: Market, lab_id: str) -> list[Offer]:
    """The accepted offers that a lab made or received."""
    return [
        offer
        for offer in market.closed.values()
        if offer.status == "accepted" and lab_id in (offer.from_lab_id, offer.to_lab_id)
    ]


def given_blocks(market: Market, lab_id: str) -> int:
    """The number of blocks that a lab gave away in trades."""
    return sum(
        len(o.offered_blocks if o.from_lab_id == lab_id else o.requested_blocks)
        for o in accepted_offers(market, lab_id)
    )


def deals(obs: Observation, claim: Claim) -> float | None:
    return claim.figure / 4 if claim.figure <= len(accepted_offers(obs.market, obs.agent)) else None


def jobs_done(obs: Observation, claim: Claim) -> float | None:
    return claim.figure / 3 if claim.figure <= sum(j.completed for j in obs.own.jobs) else None


def live_blocks(market: Market) -> list[str]:
    """The owner of each live block."""
    return [block.owner_lab_id for block in market.blocks.values() if block.status in LIVE]


def part(obs: Observation, claim: Claim) -> float | None:
    """The lab's part of all live blocks: the fewer it owns, the stronger its case for more."""
    owners = live_blocks(obs.market)
    if (claim.figure, float(claim.detail)) != (owners.count(obs.agent), len(owners)):
        return None
    return 1 - claim.figure * len(obs.market.labs) / max(1, len(owners))


def shortfall(market: Market, lab_id: str) -> float:
    """How far a lab's hours are below an equal share, as a share of it; negative if above."""
    held = {lab: held_hours(market, lab) for lab in market.labs}
    return 1 - held[lab_id] * len(held) / (sum(held.values()) or 1)


def below_share(obs: Observation, claim: Claim) -> float | None:
    short = shortfall(obs.market, obs.agent)
    return short if short > 0 else None


def paid(obs: Observation, claim: Claim) -> float | None:
    """Money that the lab offers now or has paid in a trade."""
    offers = (*obs.market.offers.values(), *accepted_offers(obs.market, obs.agent))
    bids = [o.payment if o.from_lab_id == obs.agent else o.ask for o in offers]
    own = [bid for bid in bids if bid]
    return claim.figure / 10 if any(_same_credits(claim.figure, bid) for bid in own) else None


def given(obs: Observation, claim: Claim) -> float | None:
    return 0.4 * claim.figure if claim.figure <= given_blocks(obs.market, obs.agent) else None


def open_offers(obs: Observation, claim: Claim) -> float | None:
    return 0.3 * claim.figure if claim.figure <= len(obs.outgoing) else None


def partner(obs: Observation, claim: Claim) -> float | None:
    pools = [c for c in obs.coalitions if not claim.detail or claim.detail in c.members]
    return 0.5 if pools else None


def committed_blocks(obs: Observation) -> int:
    """The number of the lab's blocks in active coalitions."""
    ids = [block_id for pool in obs.coalitions for block_id in pool.commitments]
    return sum(obs.market.blocks[block_id].owner_lab_id == obs.agent for block_id in ids)


def committed(obs: Observation, claim: Claim) -> float | None:
    return claim.figure / 2 if claim.figure <= committed_blocks(obs) else None


def proposed(obs: Observation, claim: Claim) -> float | None:
    return 0.4 if any(c.members[0] == obs.agent for c in obs.market.coalitions.values()) else None


def spare(obs: Observation, claim: Claim) -> float | None:
    return 0.4 * claim.figure if claim.figure <= len(spare_blocks(obs, own_plan(obs))) else None
