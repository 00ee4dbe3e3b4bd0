"""The scripted labs: one policy with five archetypes, a function of what a lab sees.

Every lab computes what a trade is worth to it (`trade_gain`) and accepts it if that reaches its
margin, so a better offer is never less likely to be accepted. Archetypes differ in the margin, in
how much they bid and ask, and in how they treat others.

A lab that gives blocks away holds out for more than they are worth to it, less so as time runs out.
How much more, and which share of a coalition it wants, depends on the reputation of the other lab
and on the signal of its last message (`SWAY`).
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf
from typing import NamedTuple

import numpy as np

from . import planning
from .actions import Action
from .rules import is_requestable, last_signal
from .types import REQUESTABLE, Block, Job, Lab, Market, Observation, Offer, live_hours

# The five archetypes: the parameters that `scripted_lab` plays by.


class Character(NamedTuple):
    """The parameters of an archetype."""

    margin: float  # least gain of a trade, in credits
    bid: float  # share of its own gain that it offers for a block
    ask: float  # credits that it asks for each hour of a spare block
    greed: float  # ask of a counter-offer, as a multiple of the price that it would take
    eagerness: float  # chance in a round that it opens a trade
    proposes: bool  # proposes coalitions
    commits: bool  # commits spare blocks to active coalitions
    hold: float  # credits that it wants at first for each GPU-hour it gives, above its own value
    patience: float  # exponent of the time left: below 1 it concedes late, above 1 early
    least_share: float  # of a coalition to which it consents, with a fair reputation


CHARACTERS: Mapping[str, Character] = {
    "cooperative": Character(1.0, 0.45, 1.0, 1.0, 0.9, True, True, 1.5, 1.0, 0.25),
    "selfish": Character(8.0, 0.15, 4.0, 1.5, 0.6, False, False, 5.5, 0.4, 0.5),
    "deadline_panicked": Character(4.0, 0.30, 1.5, 1.1, 0.9, True, True, 3.0, 2.0, 0.25),
    "deceptive": Character(5.0, 0.20, 3.0, 1.4, 0.8, True, True, 5.0, 0.7, 0.5),
    "retaliatory": Character(4.0, 0.35, 2.0, 1.2, 0.7, False, True, 3.0, 1.0, 0.4),
}

# Factor on what a lab holds out for, by archetype and the last signal of the other lab.
SWAY: Mapping[str, Mapping[str, float]] = {
    "cooperative": {"urgency": 0.1, "fairness": 0.3, "coalition": 0.4},
    "selfish": {"urgency": 1.8, "threat": 0.15},
    "deadline_panicked": {"urgency": 1.5, "threat": 0.1},
    "deceptive": {"urgency": 1.8, "fairness": 1.3, "coalition": 0.15},
    "retaliatory": {"threat": 2.5, "fairness": 0.1},
}

# What the archetypes say with an offer. All sentences but the made-up rival bid are shared, so
# that no sentence tells an honest lab's archetype.
TERMS, WORTH = "These are our terms.", "It is worth more to you than to us."
FAIR, SOON = "A fair trade for both of us.", "We would rather trade now than later."
URGENT = "This is urgent for us, please answer now."
WORD, PATIENT = "Keep your word and we keep ours.", "We can wait for a better price."
RIVAL = "Decide soon: another lab has bid {price:.2f} for {block}."
SENTENCES: Mapping[str, tuple[str, ...]] = {
    "cooperative": (TERMS, WORTH, FAIR, SOON),
    "selfish": (TERMS, WORTH, WORD, PATIENT),
    "deadline_panicked": (TERMS, WORTH, URGENT, SOON),
    "deceptive": (TERMS, FAIR, URGENT, RIVAL),
    "retaliatory": (TERMS, WORTH, WORD, PATIENT),
}
RIVAL_MARKUP = 6.0  # credits by which an invented bid exceeds the offer

PANIC = 5.0  # credits by which full pressure lowers the margin of a panicked lab
NEAR_DEADLINE = 2  # rounds
LAST_ROUNDS = 2  # in which a lab books whatever it can
JITTER = 2.0  # credits of margin, times the lab's random number of the round
REPUTATION_WEIGHT, FAIR_REPUTATION = 4.0, 0.65
LEAST_TRUST_FACTOR = 0.2  # to which the best reputation lowers what a lab holds out for
LEAST_TRUST = 0.45  # least reputation of a partner
HIGHEST_COUNTER = 80.0  # credits
LEAST_BID = 0.25  # share of a lab's price below which a bid gets no counter-offer
LEAST_POOL_GAIN = 1.0  # credits
ENERGY_RESERVE = 30.0  # credits kept for energy: what four blocks may cost


def scripted_lab(obs: Observation, rng: np.random.Generator) -> Action:
    """The action of a scripted lab; its archetype is a private value."""
    free = planning.free_blocks(obs)  # found once for both
    plan = _payable(obs, planning.own_plan(obs, free))
    pressing = _urgent_booking(obs, plan)
    if pressing is not None:
        return pressing
    spare = planning.spare_blocks(obs, plan, free)
    return (
        _answer(obs, plan)
        or _use_pool(obs, plan, spare)
        or _partner(obs, spare)
        or _open_trade(obs, plan, spare)
        or _due_booking(obs, plan)
        or _turn_down(obs)
        or _rest(obs, spare)
    )


def _payable(obs: Observation, plan: planning.Plan) -> planning.Plan:
    """The plan without the parts whose energy the lab cannot afford."""
    if obs.own.budget >= ENERGY_RESERVE:
        return plan
    blocks, budget = obs.market.blocks, obs.own.budget
    parts = tuple(
        part for part in plan.parts if sum(blocks[b].energy_cost for b in part.block_ids) <= budget
    )
    return planning.Plan(plan.gain, parts)


def purse(obs: Observation) -> float:
    """Credits that a lab may spend in trades; the rest is kept for energy."""
    return obs.own.budget - ENERGY_RESERVE


def margin(obs: Observation, other: str, given: Sequence[str] = ()) -> float:
    """Least gain in credits of a trade that gives `other` the blocks `given`.

    inf if the lab refuses all trades with `other`.
    """
    lab, kind = obs.own, obs.own.archetype or "cooperative"
    if refuses(obs, other):
        return inf
    wanted = CHARACTERS[kind].margin + JITTER * lab.chance[obs.market.round_index]
    if kind == "deadline_panicked":
        wanted -= PANIC * pressure(obs)
    least = max(0.5, wanted)
    if not given:
        return least
    return least + held_out(obs.market, kind, other, given, heard(obs, other))


def heard(obs: Observation, other: str) -> str:
    """The signal of the last message of `other` that the observing lab still heeds; "" if none."""
    return last_signal(obs.market, other, obs.agent) if obs.market.messages else ""


def held_out(
    market: Market, archetype: str, other: str, given: Sequence[str], signal: str
) -> float:
    """Credits above their value that a lab wants at present of `other` for the hours of `given`."""
    if not given:
        return 0.0
    now, horizon, character = market.round_index, market.max_rounds, CHARACTERS[archetype]
    left = sum([live_hours(market.blocks[block_id], now, horizon) for block_id in given])
    time_left = max(0.0, 1 - now / max(1, horizon - 1)) ** character.patience
    return character.hold * left * time_left * regard(market, archetype, other, signal)


def regard(market: Market, archetype: str, other: str, signal: str) -> float:
    """The factor of the reputation and the words of `other` on what a lab wants of it."""
    trust = 1 + REPUTATION_WEIGHT * (FAIR_REPUTATION - market.labs[other].reputation)
    return max(LEAST_TRUST_FACTOR, trust) * SWAY[archetype].get(signal, 1.0)


def pressure(obs: Observation) -> float:
    """The share of the lab's jobs that are unfinished and due within NEAR_DEADLINE rounds."""
    near = obs.market.round_index + NEAR_DEADLINE
    jobs = obs.own.jobs
    return sum([job.deadline_round <= near and not job.completed for job in jobs]) / len(jobs)


def refuses(obs: Observation, other: str) -> bool:
    """Whether the observing lab trades no more with `other`, since that once broke a coalition."""
    return obs.own.archetype == "retaliatory" and any(
        coalition.breached_by == other for coalition in obs.market.coalitions.values()
    )


def accepts(obs: Observation, offer: Offer) -> bool:
    """Whether the observing lab would accept an offer addressed to it."""
    return offer.ask <= max(0.0, purse(obs)) and planning.offer_gain(obs, offer) >= margin(
        obs, offer.from_lab_id, offer.requested_blocks
    )


def _urgent_booking(obs: Observation, plan: planning.Plan) -> Action | None:
    """The most urgent booking, if the turns left in the round just suffice for all urgent ones."""
    panicked = obs.own.archetype == "deadline_panicked"
    fewest = 1 if panicked else obs.market.queue.count(obs.agent)
    if len(plan.parts) < fewest:
        return None
    urgent = planning.urgent_parts(obs, plan)
    return max(urgent)[1].booking if len(urgent) >= fewest else None


def _due_booking(obs: Observation, plan: planning.Plan) -> Action | None:
    """The booking that loses most by waiting a round; any one in the last rounds.

    Until then a lab keeps its blocks, because others may bid for them.
    """
    if obs.market.round_index >= obs.market.max_rounds - LAST_ROUNDS:
        return plan.booking
    urgent = planning.urgent_parts(obs, plan)
    return max(urgent)[1].booking if urgent else None


def _answer(obs: Observation, plan: planning.Plan) -> Action | None:
    """Accepts the best acceptable offer; else counters one that more money would make acceptable.

    A bid far below the lab's price is left to expire, because a reply would cost an action.
    """
    countered = None
    best, taken = 0.0, None
    for offer in obs.incoming:
        wanted = margin(obs, offer.from_lab_id, offer.requested_blocks)
        if wanted == inf:
            continue
        brings = planning.offer_gain(obs, offer, plan)
        if offer.ask <= max(0.0, purse(obs)) and brings >= wanted and brings - wanted >= best:
            best, taken = brings - wanted, offer
        elif offer.linked_offer_id is None and _is_bid(obs, offer, wanted - brings, plan):
            countered = (offer, wanted - brings)
    if taken is not None:
        return Action("accept_offer", offer_id=taken.offer_id)
    return _counter(obs, *countered) if countered else None


def _is_bid(obs: Observation, offer: Offer, lack: float, plan: planning.Plan) -> bool:
    """Whether an offer for own blocks pays at least `LEAST_BID` of what the lab wants for them."""
    if not offer.requested_blocks:
        return False
    brings = planning.trade_gain(obs, (), offer.offered_blocks, offer.payment - offer.ask, plan)
    return brings >= LEAST_BID * (brings + lack)


def _turn_down(obs: Observation) -> Action | None:
    refused = (o for o in obs.incoming if refuses(obs, o.from_lab_id))
    offer = next(refused, None)
    return Action("reject_offer", offer_id=offer.offer_id) if offer else None


def _counter(obs: Observation, offer: Offer, lack: float) -> Action | None:
    greed = CHARACTERS[obs.own.archetype or "cooperative"].greed
    ask = ceil((offer.payment - offer.ask + lack) * greed)
    held = not all(is_requestable(obs.market.blocks[block_id]) for block_id in offer.offered_blocks)
    if held or not 0 < ask <= HIGHEST_COUNTER:
        return None
    return Action(
        "counter_offer",
        offer_id=offer.offer_id,
        block_ids=offer.requested_blocks,
        requested_block_ids=offer.offered_blocks,
        message=_words(obs, ask, offer.requested_blocks),
        conditions=(("ask", float(ask)),),
    )


def _use_pool(obs: Observation, plan: planning.Plan, spare: list[Block]) -> Action | None:
    """Books a partner's pooled blocks for a job that the plan leaves out, if that pays."""
    part = planning.pooled_part(obs, plan, spare) if obs.market.coalitions else None
    return part.booking if part and part.gain > LEAST_POOL_GAIN else None


def _partner(obs: Observation, spare: list[Block]) -> Action | None:
    """Consents to a proposed coalition, and commits spare blocks to it."""
    market, kind = obs.market, obs.own.archetype or "cooperative"
    if not (spare and market.coalitions):
        return None
    for coalition in obs.proposals:
        other = coalition.members[0]
        trusted = market.labs[other].reputation >= LEAST_TRUST and not refuses(obs, other)
        wanted = CHARACTERS[kind].least_share * regard(market, kind, other, heard(obs, other))
        if trusted and coalition.share >= wanted:
            given = tuple([b.block_id for b in spare]) if CHARACTERS[kind].commits else ()
            return Action(
                "commit_to_coalition", coalition_id=coalition.coalition_id, block_ids=given
            )
    if CHARACTERS[kind].commits:
        for coalition in obs.coalitions:
            idle = tuple([block.block_id for block in _not_offered(obs, spare)])
            if idle:
                name = coalition.coalition_id
                return Action("commit_to_coalition", coalition_id=name, block_ids=idle)
    return None


def _open_trade(obs: Observation, plan: planning.Plan, spare: list[Block]) -> Action | None:
    """Bids for a block that a job needs, or proposes a coalition, or offers a spare block."""
    kind = obs.own.archetype or "cooperative"
    last_turn = obs.market.queue.count(obs.agent) == 1
    if last_turn or obs.own.chance[obs.market.round_index] > CHARACTERS[kind].eagerness:
        return None
    undone = planning.unplanned_jobs(obs, plan)
    alone = [job for job in undone if not job.joint]
    joint, proposes = len(undone) > len(alone), CHARACTERS[kind].proposes
    return (
        (_propose(obs) if joint and spare and proposes else None)
        or (_bid(obs, alone[0], spare) if alone else None)
        or (_propose(obs) if alone and proposes else None)
        or (_sell(obs, spare, obs.others) if spare else None)
    )


def opening_offer(obs: Observation, other: str) -> Action | None:
    """The offer that a scripted lab makes `other` before the first turn: a bid, else a sale."""
    free = planning.free_blocks(obs)
    plan = planning.own_plan(obs, free)
    spare = planning.spare_blocks(obs, plan, free)
    alone = [job for job in planning.unplanned_jobs(obs, plan) if not job.joint]
    return (_bid(obs, alone[0], spare, other) if alone else None) or (
        _sell(obs, spare, [obs.market.labs[other]]) if spare else None
    )


def _bid(obs: Observation, job: Job, spare: list[Block], owner: str = "") -> Action | None:
    """A bid for the block of another lab, or of `owner`, that would add most to `job`."""
    agent, market, kind = obs.agent, obs.market, obs.own.archetype or "cooperative"
    now, horizon = market.round_index, market.max_rounds
    if any(offer.requested_blocks for offer in obs.outgoing):
        return None
    best, wanted = 1.0, None
    helps = spare and all(block.reliability >= job.min_reliability for block in spare)
    spare_on_time, spare_late = planning.add_hours(job, spare, now, horizon)
    spare_energy = [block.energy_cost for block in spare]
    for block in market.blocks.values():
        seller = block.owner_lab_id
        if seller == agent or block.status not in REQUESTABLE or owner not in ("", seller):
            continue
        if block.reliability < job.min_reliability or market.labs[seller].finished:
            continue
        more, over = planning.hours(block, job, now, horizon)
        adds = (
            planning.added_value(job, job.on_time + more, job.late + over) if more or over else None
        )
        if adds is not None and adds - block.energy_cost > best:
            best, wanted = adds - block.energy_cost, block
        adds = planning.added_value(job, spare_on_time + more, spare_late + over) if helps else None
        if adds is not None and adds - sum([block.energy_cost, *spare_energy]) > best:
            best, wanted = adds - sum([block.energy_cost, *spare_energy]), block
    if wanted is None:
        return None
    tried = sum(
        wanted.block_id in offer.requested_blocks
        for offer in market.closed.values()
        if offer.from_lab_id == agent
    )
    haste = PANIC / 10 * pressure(obs) if kind == "deadline_panicked" else 0.0
    share = min(0.9, (CHARACTERS[kind].bid + haste) * (1 + tried))
    payment = round(min(share * best, purse(obs) / 2), 2)
    if payment <= 0:
        return None
    return Action(
        "send_offer",
        target_lab_id=wanted.owner_lab_id,
        requested_block_ids=(wanted.block_id,),
        payment=payment,
        message=_words(obs, payment, (wanted.block_id,)),
    )


def _propose(obs: Observation) -> Action | None:
    """Proposes a coalition to the most reputable lab whose demand is not high."""
    market = obs.market
    if not market.coalitions_allowed:
        return None
    met = {lab for c in market.coalitions.values() if obs.agent in c.members for lab in c.members}
    able = [
        lab
        for lab in obs.others
        if lab.lab_id not in met and lab.reputation >= LEAST_TRUST and lab.public_demand != "high"
    ]
    if not able:
        return None
    best = max(able, key=lambda lab: lab.reputation)
    return Action("form_coalition", target_lab_id=best.lab_id, message="Share what we can spare?")


def _not_offered(obs: Observation, spare: list[Block]) -> list[Block]:
    offered = [block_id for offer in obs.outgoing for block_id in offer.offered_blocks]
    return [block for block in spare if block.block_id not in offered] if offered else spare


def _sell(obs: Observation, spare: list[Block], labs: Iterable[Lab]) -> Action | None:
    """Offers the largest spare block to the one of `labs` with the highest demand."""
    market, kind = obs.market, obs.own.archetype or "cooperative"
    idle = _not_offered(obs, spare)
    order = ("high", "medium", "low")
    buyers = [lab for lab in labs if not refuses(obs, lab.lab_id)]
    if not (idle and buyers):
        return None
    turn = int(obs.own.chance[market.round_index] * 97)  # breaks ties in demand at random
    ranked = sorted(
        range(len(buyers)),
        key=lambda i: (order.index(buyers[i].public_demand), (i + turn) % len(buyers)),
    )
    buyer = buyers[ranked[0]]
    size = {b: live_hours(b, market.round_index, market.max_rounds) for b in idle}
    block = max(idle, key=size.__getitem__)
    least = margin(obs, buyer.lab_id, (block.block_id,))
    ask = float(ceil(max(CHARACTERS[kind].ask * size[block], least)))
    return Action(
        "send_offer",
        target_lab_id=buyer.lab_id,
        block_ids=(block.block_id,),
        message=_words(obs, ask, (block.block_id,)),
        conditions=(("ask", ask),),
    )


def _words(obs: Observation, price: float, block_ids: tuple[str, ...]) -> str:
    """One of the sentences of the lab's archetype; only a deceptive lab invents a rival bid."""
    sentences = SENTENCES[obs.own.archetype or "cooperative"]
    chance = int(obs.own.chance[obs.market.round_index] * 997)
    sentence = sentences[chance % len(sentences)]
    return sentence.format(price=price + RIVAL_MARKUP, block=block_ids[0])


def _rest(obs: Observation, spare: list[Block]) -> Action:
    """Finishes once nothing is left to do or to sell, else waits."""
    left = spare or any(not job.completed for job in obs.own.jobs)
    pooled = not left and any(coalition.commitments for coalition in obs.coalitions)
    return Action("wait" if left or pooled else "finish")
