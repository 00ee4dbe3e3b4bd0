"""Rules for capacity: reserve, release, pool it, or book it for a job."""

from collections.abc import Mapping

from ..actions import Action
from ..planning import booked, booked_value, hours
from ..types import (
    AVAILABLE,
    COMMITTED,
    FAILED,
    FREE,
    LIVE,
    RESERVED,
    USED,
    Block,
    Coalition,
    Job,
)
from .offers import Outcome, checked_ids
from .transaction import Draft, Refused

SHARE = 0.5  # default share of the net value that a pooled block adds, paid to its owner
LEAST_SHARE = 1.0  # credits: least payment for a pooled block


def reserve_capacity(draft: Draft, agent: str, action: Action) -> Outcome:
    for block in _own_blocks(draft, agent, action.block_ids):
        if block.status not in FREE:
            raise Refused("unavailable_block", f"{block.block_id} is {block.status}")
    if action.job_id is not None:
        _job(draft, agent, action.job_id)
    for block_id in action.block_ids:
        held = draft.blocks[block_id]._replace(status=RESERVED, held_until=draft.hold)
        draft.put_block(held)
    draft.void_offers()
    return "capacity_reserved", f"held until the end of round {draft.hold}"


def release_capacity(draft: Draft, agent: str, action: Action) -> Outcome:
    blocks = _own_blocks(draft, agent, action.block_ids)
    for block in blocks:
        if block.status not in (RESERVED, COMMITTED):
            raise Refused("unavailable_block", f"{block.block_id} is {block.status}")
    for block in blocks:
        draft.leave_pool(block)
        draft.put_block(block._replace(status=AVAILABLE, held_until=None))
    draft.void_offers()
    return "capacity_released", "free again"


def form_coalition(draft: Draft, agent: str, action: Action) -> Outcome:
    market, target = draft.market, action.target_lab_id
    if not market.coalitions_allowed:
        raise Refused("coalitions_disabled", "this market knows no coalitions")
    if target == agent or target not in draft.labs:
        raise Refused("invalid_coalition_target", f"there is no other lab {target}")
    if draft.labs[target].finished:
        raise Refused("lab_finished", f"{target} has left the market")
    for coalition in draft.coalitions.values():
        if {agent, target} == set(coalition.members) and _stands(coalition, market.round_index):
            if coalition.consented or coalition.members[0] == agent:
                raise Refused("already_partners", f"{coalition.coalition_id} stands already")
            return _consent(draft, coalition)
    trust = (draft.labs[agent].reputation + draft.labs[target].reputation) / 2
    share = action.condition("share", SHARE)
    name = f"c_{len(draft.coalitions) + 1}"
    members = (agent, target)
    draft.put_coalition(
        Coalition(
            name, members, action.message, share, round(trust, 3), market.round_index, draft.hold
        )
    )
    return "coalition_proposed", f"{name} waits for the consent of {target}"


def _stands(coalition: Coalition, now: int) -> bool:
    return not coalition.ended and (coalition.consented or coalition.expires_round >= now)


def _consent(draft: Draft, coalition: Coalition) -> Outcome:
    formed = coalition._replace(consented=True, expires_round=draft.market.max_rounds)
    draft.put_coalition(formed)
    return "coalition_created", f"{formed.coalition_id} unites {' and '.join(formed.members)}"


def commit_to_coalition(draft: Draft, agent: str, action: Action) -> Outcome:
    coalition = draft.coalitions.get(action.coalition_id)
    if coalition is None:
        raise Refused("unknown_coalition", f"there is no coalition {action.coalition_id}")
    if agent not in coalition.members:
        raise Refused("not_coalition_member", f"you are no member of {coalition.coalition_id}")
    consents = not coalition.consented and coalition.members[1] == agent
    if not _stands(coalition, draft.market.round_index) or not (coalition.consented or consents):
        raise Refused("coalition_inactive", f"{coalition.coalition_id} is not in force")
    blocks = _own_blocks(draft, agent, action.block_ids) if action.block_ids else []
    if not blocks and not consents:
        raise Refused("empty_block_list", "name the blocks to commit")
    for block in blocks:
        if block.status == FAILED:
            raise Refused("failed_block", f"{block.block_id} has failed")
        if block.status not in FREE:
            raise Refused("unavailable_block", f"{block.block_id} is {block.status}")
    if consents:
        _consent(draft, coalition)
        coalition = draft.coalitions[coalition.coalition_id]
    for block in blocks:
        draft.put_block(block._replace(status=COMMITTED, held_until=draft.hold))
    pool = (*coalition.commitments, *action.block_ids)
    draft.put_coalition(coalition._replace(commitments=pool))
    return "coalition_committed", f"{len(blocks)} more in the pool of {coalition.coalition_id}"


def allocate_to_job(draft: Draft, agent: str, action: Action) -> Outcome:
    job = _job(draft, agent, action.job_id)
    if job.completed:
        raise Refused("job_completed", f"{job.job_id} is done")
    blocks = _bookable(draft, agent, job, action.block_ids)
    now, horizon = draft.market.round_index, draft.market.max_rounds
    on_time, late = booked(job, blocks, now, horizon)
    more = on_time + late - job.on_time - job.late
    if not more:
        raise Refused("no_hours_left", "these blocks have no hours left")
    after = job._replace(
        on_time=on_time,
        late=late,
        allocated_block_ids=(*job.allocated_block_ids, *action.block_ids),
    )
    if not (after.completed or job.partial_credit_allowed):
        raise Refused("insufficient_capacity", f"{job.job_id} wants more hours at once")
    value = round(booked_value(job, on_time, late) - booked_value(job, job.on_time, job.late), 2)
    energy = round(sum([block.energy_cost for block in blocks]), 2)
    for block in blocks:
        if block.owner_lab_id == agent:
            draft.leave_pool(block)
    dues = {
        block: _due(
            draft, agent, block, (value - energy) * sum(hours(block, job, now, horizon)) / more
        )
        for block in blocks
        if block.owner_lab_id != agent
    }
    cost = energy + sum(dues.values())
    if cost > draft.own(agent).budget + 1e-9:
        raise Refused("budget_overspend", f"this costs {cost:.2f} credits, more than you have")
    for block in blocks:
        draft.put_block(block._replace(status=USED, held_until=None))
    for block, due in dues.items():
        draft.drop_commitment(block.block_id)
        draft.pay(agent, block.owner_lab_id, due, "pool")
    own = draft.own(agent)
    draft.private[agent] = own._replace(
        jobs=tuple([after if j.job_id == job.job_id else j for j in own.jobs]),
        budget=round(own.budget - energy, 2),
        job_value=round(own.job_value + value, 2),
        energy=round(own.energy + energy, 2),
    )
    draft.void_offers()
    return "job_allocated", f"{job.job_id} earns {value:.2f} for {energy:.2f} of energy"


def _bookable(draft: Draft, agent: str, job: Job, block_ids: tuple[str, ...]) -> list[Block]:
    """The blocks of `block_ids`; refuses unless all of them can serve the job."""
    if not block_ids:
        raise Refused("empty_block_list", "name the blocks to book")
    blocks = []
    for block_id in checked_ids(draft, block_ids):
        block = draft.blocks[block_id]
        if block.owner_lab_id != agent and not pool_of(draft.coalitions, agent, block_id):
            raise Refused("unowned_block", f"{block_id} is neither yours nor in a pool of yours")
        if block.status == FAILED:
            raise Refused("failed_block", f"{block_id} has failed")
        if block.status not in LIVE:
            raise Refused("duplicate_allocation", f"{block_id} is in use")
        if block.reliability < job.min_reliability:
            raise Refused("low_reliability", f"{job.job_id} wants {job.min_reliability:.2f}")
        blocks.append(block)
    return blocks


def pool_of(coalitions: Mapping[str, Coalition], agent: str, block_id: str) -> Coalition | None:
    """The active coalition of `agent` to which the block is committed; None if there is none."""
    for coalition in coalitions.values():
        if coalition.active and agent in coalition.members and block_id in coalition.commitments:
            return coalition
    return None


def _due(draft: Draft, agent: str, block: Block, net: float) -> float:
    """Credits that `agent` owes for a pooled block whose hours add `net` credits."""
    coalition = pool_of(draft.coalitions, agent, block.block_id)
    if coalition is None:  # the same action broke its coalition
        raise Refused("unowned_block", f"{block.block_id} is no longer in a pool of yours")
    return max(LEAST_SHARE, round(coalition.share * net, 2))


def _job(draft: Draft, agent: str, job_id: str | None) -> Job:
    for job in draft.own(agent).jobs:
        if job.job_id == job_id:
            return job
    raise Refused("unknown_job", f"you have no job {job_id}")


def _own_blocks(draft: Draft, agent: str, block_ids: tuple[str, ...]) -> list[Block]:
    if not block_ids:
        raise Refused("empty_block_list", "name at least one block")
    blocks = []
    for block_id in checked_ids(draft, block_ids):
        if draft.blocks[block_id].owner_lab_id != agent:
            raise Refused("unowned_block", f"{block_id} is not yours")
        blocks.append(draft.blocks[block_id])
    return blocks
