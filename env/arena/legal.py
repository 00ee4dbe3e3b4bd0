"""Actions that the rules would accept now: for forms, and for random play.

There are too many prices and sets of blocks to list, so a few sensible ones of each kind are given.
"""

from collections.abc import Iterator
from itertools import product

from .actions import Action
from .planning import best_plan, booking_gain, free_blocks, own_plan, shared_part
from .rules import is_requestable, tradable_blocks
from .types import AVAILABLE, COMMITTED, FREE, LIVE, RESERVED, Block, Job, Observation, live_hours

PAYMENTS = (2.0, 5.0, 10.0, 20.0)  # credits
ASKS = (2.0, 5.0, 10.0)
PITCH = "My deadline is near and my blocks cannot meet it alone."
GREETING = "What would you trade?"


def legal_actions(obs: Observation) -> tuple[Action, ...]:
    """Legal actions of the observing lab, grouped by type in the order of `KINDS`."""
    return (
        *_offers(obs),
        *_answers(obs),
        Action("make_pitch", message=PITCH),
        *_replies(obs),
        *_holds(obs),
        *_coalitions(obs),
        *_bookings(obs),
        Action("send_message", message=GREETING),
        Action("wait"),
        Action("finish"),
    )


def _blocks_in(obs: Observation, statuses: frozenset[str] | tuple[str, ...]) -> list[Block]:
    return [block for block in obs.owned_blocks if block.status in statuses]


def _affordable(obs: Observation) -> float:
    """Credits that are not promised in an offer."""
    return obs.own.budget - sum(offer.payment for offer in obs.outgoing)


def _offers(obs: Observation) -> Iterator[Action]:
    present = sorted(lab.lab_id for lab in obs.others)
    money = _affordable(obs)
    spare = [(block.block_id,) for block in free_blocks(obs)]
    for block in tradable_blocks(obs.market, *present):
        owner, wanted = block.owner_lab_id, (block.block_id,)
        for payment in PAYMENTS:
            if payment <= money:
                yield Action("send_offer", owner, requested_block_ids=wanted, payment=payment)
        for given in spare:
            yield Action("send_offer", owner, block_ids=given, requested_block_ids=wanted)
    for given, lab, ask in product(spare, present, ASKS):
        yield Action("send_offer", lab, block_ids=given, conditions=(("ask", ask),))


def _answers(obs: Observation) -> Iterator[Action]:
    money = _affordable(obs)
    for offer in obs.incoming:
        if offer.ask <= obs.own.budget:
            yield Action("accept_offer", offer_id=offer.offer_id)
        yield Action("reject_offer", offer_id=offer.offer_id)
        for ask in ASKS if offer.requested_blocks else ():
            yield Action(
                "counter_offer",
                offer_id=offer.offer_id,
                block_ids=offer.requested_blocks,
                conditions=(("ask", offer.payment + ask),),
            )
        wanted = [b for b in offer.offered_blocks if is_requestable(obs.market.blocks[b])]
        for part in (0.25, 0.5, 0.75) if wanted and offer.ask else ():
            payment = round(part * offer.ask, 2)
            if 0 < payment <= money:
                yield Action(
                    "counter_offer",
                    offer_id=offer.offer_id,
                    requested_block_ids=tuple(wanted),
                    payment=payment,
                )


def _replies(obs: Observation) -> Iterator[Action]:
    pitched = [m for m in obs.market.messages if m.kind == "pitch" and m.from_lab_id != obs.agent]
    if pitched:
        yield Action("counter_pitch", pitched[-1].from_lab_id, message=PITCH)


def _holds(obs: Observation) -> Iterator[Action]:
    for block in _blocks_in(obs, (AVAILABLE,)):
        yield Action("reserve_capacity", block_ids=(block.block_id,))
    for block in _blocks_in(obs, (RESERVED, COMMITTED)):
        yield Action("release_capacity", block_ids=(block.block_id,))


def _coalitions(obs: Observation) -> Iterator[Action]:
    market, now = obs.market, obs.market.round_index
    if not market.coalitions_allowed:
        return
    standing = [
        c
        for c in market.coalitions.values()
        if obs.agent in c.members and not c.ended and (c.consented or c.expires_round >= now)
    ]
    for lab in obs.others:
        between = [c for c in standing if lab.lab_id in c.members]
        if all(not c.consented and c.members[0] == lab.lab_id for c in between):
            yield Action("form_coalition", lab.lab_id)
    for coalition in standing:
        if coalition.consented or coalition.members[1] == obs.agent:
            for block in _blocks_in(obs, FREE):
                yield Action(
                    "commit_to_coalition",
                    coalition_id=coalition.coalition_id,
                    block_ids=(block.block_id,),
                )


def _bookings(obs: Observation) -> Iterator[Action]:
    """For each open job: its part of the best plan, its best set, and every sufficient block."""
    market = obs.market
    now, horizon = market.round_index, market.max_rounds
    usable = [b for b in _blocks_in(obs, LIVE) if b.energy_cost <= obs.own.budget]
    pooled = [block for block in usable_blocks(obs) if block.owner_lab_id != obs.agent]
    parts = {part.job_id: part.block_ids for part in own_plan(obs).parts}
    for job in obs.open_jobs:
        sets = {parts[job.job_id]: None} if job.job_id in parts else {}
        for part in best_plan(usable_blocks(obs), (job,), now, horizon).parts:
            sets[part.block_ids] = None
        shared = shared_part(job, pooled, usable, now, horizon) if job.joint else None
        if shared is not None:
            sets[shared.block_ids] = None
        for block in usable:
            gain = booking_gain(job, (block,), now, horizon)
            if live_hours(block, now, horizon) and gain is not None:
                sets[(block.block_id,)] = None
        for block_ids in sets:
            if _payable(obs, job, block_ids):
                yield Action("allocate_to_job", job_id=job.job_id, block_ids=block_ids)


def usable_blocks(obs: Observation) -> list[Block]:
    """Blocks a lab can book without a breach: its free ones and its partners' pooled ones."""
    blocks = obs.market.blocks
    pooled = [blocks[b] for c in obs.coalitions for b in c.commitments]
    return [*_blocks_in(obs, FREE), *(b for b in pooled if b.owner_lab_id != obs.agent)]


def _payable(obs: Observation, job: Job, block_ids: tuple[str, ...]) -> bool:
    """Whether the budget suffices for energy and, with pooled blocks, for the largest dues."""
    blocks = [obs.market.blocks[block_id] for block_id in block_ids]
    cost = sum(block.energy_cost for block in blocks)
    if any(block.status == COMMITTED for block in blocks):
        cost += job.full_value + len(blocks)
    return cost + 5.0 * any(b.status == COMMITTED for b in blocks) <= obs.own.budget
