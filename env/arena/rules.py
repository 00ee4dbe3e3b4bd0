"""The rules of the GPU arena: what each action does to a draft, and how a round is closed.

The functions of offers, capacity and messages apply the actions to a `Draft`; a refused action
leaves no trace.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .actions import Action
from .planning import BREACH_FINE, LEAST_SHARE, add_hours, booked_value, hours
from .types import (
    AVAILABLE,
    COMMITTED,
    FAILED,
    FREE,
    LIVE,
    REQUESTABLE,
    RESERVED,
    USED,
    Block,
    Coalition,
    Job,
    Market,
    Message,
    Nature,
    Offer,
    Own,
    Result,
    Shock,
    State,
    live_hours,
)
from .world import batna_in_surge

HOLD_ROUNDS = 2  # rounds after this one in which an offer, reservation or commitment is valid
BREACH_REPUTATION = 0.12  # reputation that a breach costs


@dataclass(frozen=True)
class Refused(Exception):
    """The rules refuse an action: a code, and one sentence for people."""

    code: str
    message: str


class Draft:
    """A mutable copy of a market and its private values, on which an action works.

    It copies what it changes, so the state that it came from stays as it is.
    """

    CHANGED = (  # fields of the market
        "round_index", "labs", "blocks", "offers", "closed", "coalitions", "messages",
        "shock_history",
    )  # fmt: skip
    __slots__ = ("market", "private", *CHANGED)

    def __init__(self, state: State) -> None:
        self.market, self.private = state.market, dict(state.private)
        for name in self.CHANGED:
            setattr(self, name, getattr(state.market, name))

    def state(self, queue: tuple[str, ...] | None = None) -> State:
        """The state of the draft, with a new `queue` of turns if one is given."""
        changed = {name: getattr(self, name) for name in self.CHANGED}
        if queue is not None:
            changed["queue"] = queue
        return State(self.market._replace(**changed), self.private)

    @property
    def hold(self) -> int:
        """The last round of an offer, reservation or commitment made now."""
        return min(self.market.max_rounds, self.round_index + HOLD_ROUNDS)

    def put_block(self, block: Block) -> None:
        if self.blocks is self.market.blocks:
            self.blocks = dict(self.blocks)
        self.blocks[block.block_id] = block

    def close_offer(self, offer: Offer, status: str) -> None:
        if self.closed is self.market.closed:
            self.closed = dict(self.closed)
        self.offers = dict(self.offers)
        del self.offers[offer.offer_id]
        self.closed[offer.offer_id] = offer._replace(status=status)

    def put_coalition(self, coalition: Coalition) -> None:
        self.coalitions = {**self.coalitions, coalition.coalition_id: coalition}

    def say(self, message: Message) -> None:
        self.messages = (*self.messages, message)

    def trust(self, lab: str, change: float) -> None:
        """Changes a lab's reputation by `change`, within [0, 1]."""
        known = self.labs[lab]
        reputation = round(min(1.0, max(0.0, known.reputation + change)), 3)
        self.labs = {**self.labs, lab: known._replace(reputation=reputation)}

    def pay(self, payer: str, payee: str, amount: float, account: str) -> None:
        """Moves credits between labs, booked under `account` ("deals" or "pool") on both sides."""
        if amount:
            self._book(payer, -amount, account)
            self._book(payee, amount, account)

    def _book(self, lab: str, amount: float, account: str) -> None:
        former = self.private[lab]
        booked = {name: round(getattr(former, name) + amount, 2) for name in ("budget", account)}
        self.private[lab] = former._replace(**booked)

    def leave_pool(self, block: Block) -> None:
        """Breaks the coalition to which `block` is committed, if it is; its owner withdraws it."""
        if block.status != COMMITTED:
            return
        for coalition in self.coalitions.values():
            if coalition.active and block.block_id in coalition.commitments:
                self._breach(coalition, block.owner_lab_id)
                return

    def _breach(self, coalition: Coalition, by: str) -> None:
        partner = next(lab for lab in coalition.members if lab != by)
        self.pay(by, partner, min(BREACH_FINE, self.private[by].budget), "pool")
        self.private[by] = self.private[by]._replace(breaches=self.private[by].breaches + 1)
        self.trust(by, -BREACH_REPUTATION)
        self.close_coalition(coalition, "breached", by)

    def close_coalition(self, coalition: Coalition, status: str, by: str | None = None) -> None:
        """Ends a coalition and frees the blocks committed to it."""
        for block_id in coalition.commitments:
            freed = self.blocks[block_id].with_status(AVAILABLE)
            self.put_block(freed)
        self.put_coalition(
            coalition._replace(commitments=(), breach_status=status, breached_by=by, ended=True)
        )

    def drop_commitment(self, block_id: str, status: str | None = None) -> None:
        """Removes a block from its pool; `status` is the coalition's new breach status, if any."""
        for coalition in self.coalitions.values():
            if block_id in coalition.commitments:
                remaining = tuple(b for b in coalition.commitments if b != block_id)
                changed = coalition._replace(commitments=remaining)
                self.put_coalition(changed._replace(breach_status=status) if status else changed)

    def void_offers(self) -> None:
        """Closes the active offers that can no longer be settled."""
        promised: dict[str, float] = {}
        for offer in self.offers.values():  # which `close_offer` replaces, not changes
            sender = offer.from_lab_id
            total = promised.get(sender, 0.0) + offer.payment
            if total <= self.private[sender].budget + 1e-9 and self._stands(offer):
                promised[sender] = total
            else:
                self.close_offer(offer, "invalid")

    def _stands(self, offer: Offer) -> bool:
        if self.labs[offer.from_lab_id].finished or self.labs[offer.to_lab_id].finished:
            return False
        blocks = self.blocks
        for block_id in offer.offered_blocks:
            block = blocks[block_id]
            if block.owner_lab_id != offer.from_lab_id or block.status not in LIVE:
                return False
        for block_id in offer.requested_blocks:
            block = blocks[block_id]
            if block.owner_lab_id != offer.to_lab_id or not is_requestable(block):
                return False
        return True


def is_requestable(block: Block) -> bool:
    """Whether another lab may request `block`: it is live and not reserved by its owner."""
    return block.status in REQUESTABLE


def tradable_blocks(market: Market, *labs: str) -> list[Block]:
    """The blocks of these labs that another lab may request, and that have hours left."""
    now, horizon = market.round_index, market.max_rounds
    blocks = [b for b in market.blocks.values() if b.owner_lab_id in labs and is_requestable(b)]
    return [block for block in blocks if live_hours(block, now, horizon)]


# Rules for the public message board: messages, pitches, and the signal of each text.

SHORTEST_PITCH = 12  # characters
SIGNALS = (  # the first signal with one of its words in the text decides
    ("urgency", ("urgent", "deadline", "asap")),
    ("fairness", ("fair", "mutual", "both")),
    ("coalition", ("coalition", "partner", "commit")),
    ("threat", ("punish", "never", "retaliate")),
)
SIGNAL_ROUNDS = 1  # rounds after its own in which a message still has an effect


@lru_cache(maxsize=1 << 10)
def signal_of(text: str) -> str:
    """The signal of a text: urgency, fairness, coalition, threat or neutral."""
    lowered = text.lower()
    for signal, words in SIGNALS:
        if any(word in lowered for word in words):
            return signal
    return "neutral"


def last_signal(market: Market, sender: str, listener: str) -> str:
    """The signal of the last message from `sender` to `listener` or to all; "" if it is too old."""
    for message in reversed(market.messages):
        if message.round_index < market.round_index - SIGNAL_ROUNDS:
            return ""
        if message.from_lab_id == sender and message.to_lab_id in (listener, None):
            return message.signal
    return ""


RIVAL_BID = re.compile(r"another lab has bid (\d+(?:\.\d+)?) for (b_\d+_\d+)", re.IGNORECASE)
LIE_REPUTATION = 0.10  # reputation that a made-up rival bid costs


def has_rival_bid(draft: Draft, message: Message, amount: float, block_id: str) -> bool:
    """Whether a lab that `message` does not address has bid `amount` or more for the block."""
    return any(
        offer.to_lab_id == message.from_lab_id
        and offer.from_lab_id != message.to_lab_id
        and block_id in offer.requested_blocks
        and offer.payment >= amount
        for offer in (*draft.offers.values(), *draft.closed.values())
    )


def punish_lies(draft: Draft) -> None:
    """Lowers the reputation of each lab that made up a rival bid in the round that closes."""
    for message in reversed(draft.messages):
        if message.round_index < draft.market.round_index:
            return
        for amount, block_id in RIVAL_BID.findall(message.message):
            if not has_rival_bid(draft, message, float(amount), block_id.lower()):
                draft.trust(message.from_lab_id, -LIE_REPUTATION)


def send_message(draft: Draft, agent: str, action: Action) -> tuple[str, str]:
    _check_target(draft, agent, action)
    if not action.message.strip():
        raise Refused("empty_message", "a message needs words")
    _say(draft, agent, action, "message")
    return "message_sent", "it is said"


def pitch(draft: Draft, agent: str, action: Action) -> tuple[str, str]:
    _check_target(draft, agent, action)
    if len(action.message.strip()) < SHORTEST_PITCH:
        raise Refused("empty_pitch", f"a pitch has at least {SHORTEST_PITCH} characters")
    _say(draft, agent, action, "pitch")
    return "pitch_recorded", "it is heard"


def _check_target(draft: Draft, agent: str, action: Action) -> None:
    if action.target_lab_id is not None and action.target_lab_id not in draft.labs:
        raise Refused("unknown_lab", f"there is no lab {action.target_lab_id}")
    if action.target_lab_id == agent:
        raise Refused("self_message", "you cannot address yourself")


def _say(draft: Draft, agent: str, action: Action, kind: str) -> None:
    now, text = draft.market.round_index, action.message
    draft.say(Message(agent, action.target_lab_id, now, text, signal_of(text), kind))


# Rules for offers: send, counter, reject, accept. Each public function applies one action.

DEAL_REPUTATION = 0.06  # reputation that both labs gain by a trade

Outcome = tuple[str, str]  # a result code and one sentence


def send_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    offer = _make_offer(draft, agent, action.target_lab_id, action)
    _post(draft, offer)
    return "offer_created", f"{offer.offer_id} is before {offer.to_lab_id}"


def counter_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    answered = _offer_to(draft, agent, action.offer_id)
    draft.close_offer(answered, "rejected")
    offer = _make_offer(draft, agent, answered.from_lab_id, action, answered.offer_id)
    _post(draft, offer)
    return "counter_offer_created", f"{offer.offer_id} answers {answered.offer_id}"


def reject_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    mine = draft.offers.get(action.offer_id)
    if mine is not None and mine.from_lab_id == agent:
        draft.close_offer(mine, "withdrawn")
        return "offer_withdrawn", f"{mine.offer_id} is withdrawn"
    offer = _offer_to(draft, agent, action.offer_id)
    draft.close_offer(offer, "rejected")
    return "offer_rejected", f"{offer.offer_id} is turned down"


def accept_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    offer = _offer_to(draft, agent, action.offer_id)
    sender = offer.from_lab_id
    if offer.payment > draft.private[sender].budget:
        raise Refused("budget_overspend", f"{sender} cannot pay {offer.payment:.2f}")
    if offer.ask > draft.private[agent].budget:
        raise Refused("budget_overspend", f"you cannot pay {offer.ask:.2f}")
    offered = [draft.blocks[block_id] for block_id in offer.offered_blocks]
    requested = [draft.blocks[block_id] for block_id in offer.requested_blocks]
    if any(b.owner_lab_id != sender or b.status not in LIVE for b in offered):
        raise Refused("invalid_offered_block", f"{sender} can no longer give its side")
    if any(b.owner_lab_id != agent or b.status not in LIVE for b in requested):
        raise Refused("invalid_requested_block", "you can no longer give your side")
    draft.close_offer(offer, "accepted")
    draft.pay(sender, agent, offer.payment, "deals")
    draft.pay(agent, sender, offer.ask, "deals")
    for block in (*offered, *requested):
        draft.leave_pool(block)
        owner = agent if block.owner_lab_id == sender else sender
        draft.put_block(Block(*block[:6], owner))
    draft.trust(sender, DEAL_REPUTATION)
    draft.trust(agent, DEAL_REPUTATION)
    draft.void_offers()
    return "offer_accepted", f"{offer.offer_id} is settled with {sender}"


def _offer_to(draft: Draft, agent: str, offer_id: str | None) -> Offer:
    """The active offer of that id; refuses unless it is addressed to `agent`."""
    offer = draft.offers.get(offer_id)
    if offer is None:
        closed = draft.closed.get(offer_id)
        if closed is None:
            raise Refused("unknown_offer", f"there is no offer {offer_id}")
        if closed.status == "expired":
            raise Refused("expired_offer", f"{offer_id} expired")
        raise Refused("inactive_offer", f"{offer_id} is {closed.status}")
    if offer.to_lab_id != agent:
        raise Refused("not_offer_recipient", f"{offer_id} is addressed to {offer.to_lab_id}")
    return offer


def _make_offer(
    draft: Draft, agent: str, target: str | None, action: Action, answered: str | None = None
) -> Offer:
    """The offer that `action` makes to `target`; refuses it for its first fault."""
    market = draft.market
    if target not in draft.labs:
        raise Refused("unknown_lab", f"there is no lab {target}")
    if target == agent:
        raise Refused("self_trade", "you cannot trade with yourself")
    if draft.labs[target].finished:
        raise Refused("lab_finished", f"{target} has left the market")
    if action.payment < 0:
        raise Refused("negative_payment", "a payment is from 0; to be paid, set the condition ask")
    payment, ask = round(action.payment, 2), round(action.condition("ask", 0.0), 2)
    if payment:
        budget = draft.private[agent].budget
        promised = sum([o.payment for o in draft.offers.values() if o.from_lab_id == agent])
        if payment + promised > budget + 1e-9:
            words = f"you have {budget:.2f}, of which {promised:.2f} is promised"
            raise Refused("budget_overspend", words)
    if action.block_ids:
        _own_blocks(draft, agent, action.block_ids, LIVE)
    for block in named_blocks(draft, action.requested_block_ids):
        if block.owner_lab_id != target:
            raise Refused("target_does_not_own_block", f"{target} does not own {block.block_id}")
        if not is_requestable(block):
            raise Refused("unavailable_block", f"{block.block_id} is {block.status}")
    if not (action.block_ids or action.requested_block_ids or payment):
        raise Refused("empty_offer", "an offer needs a block or a payment")
    return Offer(
        f"o_{len(draft.offers) + len(draft.closed) + 1}",
        agent,
        target,
        market.round_index,
        draft.hold,
        action.block_ids,
        action.requested_block_ids,
        payment,
        ask,
        action.message,
        action.conditions,
        answered,
    )


def named_blocks(draft: Draft, block_ids: tuple[str, ...]) -> Iterator[Block]:
    """The blocks one by one; refuses a repeated or unknown one."""
    if len(block_ids) > 1 and len(set(block_ids)) < len(block_ids):
        raise Refused("duplicate_block", "a block is named twice")
    for block_id in block_ids:
        block = draft.blocks.get(block_id)
        if block is None:
            raise Refused("unknown_block", f"there is no block {block_id}")
        yield block


def _post(draft: Draft, offer: Offer) -> None:
    draft.offers = {**draft.offers, offer.offer_id: offer}
    if text := offer.message:
        _, sender, target, now, *_ = offer
        draft.say(Message(sender, target, now, text, signal_of(text), "offer"))


# Rules for capacity: reserve, release, pool it, or book it for a job.

SHARE = 0.5  # default share of the net value that a pooled block adds, paid to its owner


def reserve_capacity(draft: Draft, agent: str, action: Action) -> Outcome:
    blocks = _own_blocks(draft, agent, action.block_ids, FREE)
    if action.job_id is not None:
        _job(draft, agent, action.job_id)
    for block in blocks:
        draft.put_block(block.with_status(RESERVED, draft.hold))
    draft.void_offers()
    return "capacity_reserved", f"held until the end of round {draft.hold}"


def release_capacity(draft: Draft, agent: str, action: Action) -> Outcome:
    blocks = _own_blocks(draft, agent, action.block_ids, (RESERVED, COMMITTED))
    for block in blocks:
        draft.leave_pool(block)
        draft.put_block(block.with_status(AVAILABLE))
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
    if action.message:
        _say(draft, agent, action, "message")
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
    allowed = (*FREE, FAILED)
    blocks = _own_blocks(draft, agent, action.block_ids, allowed) if action.block_ids else []
    if not blocks and not consents:
        raise Refused("empty_block_list", "name the blocks to commit")
    for block in blocks:
        if block.status == FAILED:
            raise Refused("failed_block", f"{block.block_id} has failed")
    if consents:
        _consent(draft, coalition)
        coalition = draft.coalitions[coalition.coalition_id]
    for block in blocks:
        draft.put_block(block.with_status(COMMITTED, draft.hold))
    pool = (*coalition.commitments, *action.block_ids)
    draft.put_coalition(coalition._replace(commitments=pool))
    return "coalition_committed", f"{len(blocks)} more in the pool of {coalition.coalition_id}"


def allocate_to_job(draft: Draft, agent: str, action: Action) -> Outcome:
    job = _job(draft, agent, action.job_id)
    if job.completed:
        raise Refused("job_completed", f"{job.job_id} is done")
    blocks = _bookable(draft, agent, job, action.block_ids)
    now, horizon = draft.market.round_index, draft.market.max_rounds
    on_time, late = add_hours(job, blocks, now, horizon)
    more = on_time + late - job.on_time - job.late
    if not more:
        raise Refused("no_hours_left", "these blocks have no hours left")
    booked = (*job.allocated_block_ids, *action.block_ids)
    after = job._replace(on_time=on_time, late=late, allocated_block_ids=booked)
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
    if cost > draft.private[agent].budget + 1e-9:
        raise Refused("budget_overspend", f"this costs {cost:.2f} credits, more than you have")
    for block in blocks:
        draft.put_block(block.with_status(USED))
    for block, due in dues.items():
        draft.drop_commitment(block.block_id)
        draft.pay(agent, block.owner_lab_id, due, "pool")
    former = draft.private[agent]
    draft.private[agent] = former._replace(
        budget=round(former.budget - energy, 2),
        jobs=tuple([after if j.job_id == job.job_id else j for j in former.jobs]),
        job_value=round(former.job_value + value, 2),
        energy=round(former.energy + energy, 2),
    )
    draft.void_offers()
    return "job_allocated", f"{job.job_id} earns {value:.2f} for {energy:.2f} of energy"


def _bookable(draft: Draft, agent: str, job: Job, block_ids: tuple[str, ...]) -> list[Block]:
    """The blocks of `block_ids`; refuses unless all of them can serve the job."""
    if not block_ids:
        raise Refused("empty_block_list", "name the blocks to book")
    blocks = []
    for block in named_blocks(draft, block_ids):
        block_id = block.block_id
        if block.owner_lab_id != agent and not pool_of(draft.coalitions, agent, block_id):
            raise Refused("unowned_block", f"{block_id} is neither yours nor in a pool of yours")
        if block.status == FAILED:
            raise Refused("failed_block", f"{block_id} has failed")
        if block.status not in LIVE:
            raise Refused("duplicate_allocation", f"{block_id} is in use")
        if block.reliability < job.min_reliability:
            raise Refused("low_reliability", f"{job.job_id} wants {job.min_reliability:.2f}")
        blocks.append(block)
    if job.joint and len({block.owner_lab_id for block in blocks}) < 2:
        raise Refused("needs_partner", f"{job.job_id} takes blocks of two labs with one pool")
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
    for job in draft.private[agent].jobs:
        if job.job_id == job_id:
            return job
    raise Refused("unknown_job", f"you have no job {job_id}")


def _own_blocks(
    draft: Draft, agent: str, block_ids: tuple[str, ...], statuses: Collection[str]
) -> list[Block]:
    """The blocks of `block_ids`; refuses unless all are the lab's own, in one of `statuses`."""
    if not block_ids:
        raise Refused("empty_block_list", "name at least one block")
    blocks = []
    for block in named_blocks(draft, block_ids):
        if block.owner_lab_id != agent:
            raise Refused("unowned_block", f"{block.block_id} is not yours")
        if block.status not in statuses:
            raise Refused("unavailable_block", f"{block.block_id} is {block.status}")
        blocks.append(block)
    return blocks


# Closes a round: time advances, offers and holds lapse, a shock may strike, the end settles.

SPIKE = 2.0  # factor on the energy cost
DEGRADATION, LEAST_RELIABILITY = 0.12, 0.5  # loss of reliability, and its lower bound


def advance_round(state: State) -> State:
    """The state one round later, with expired offers, reservations and commitments removed."""
    draft = Draft(state)
    punish_lies(draft)
    now = draft.round_index = draft.round_index + 1
    for block in state.market.blocks.values():
        if block.held_until is not None and block.held_until < now:
            if block.status == COMMITTED:
                draft.drop_commitment(block.block_id)
            draft.put_block(block.with_status(AVAILABLE))
    for offer in draft.offers.values():
        if offer.expires_round < now:
            draft.close_offer(offer, "expired")
    if now >= state.market.max_rounds:
        settle(draft)
    return draft.state()


def settle(draft: Draft) -> None:
    """Closes all offers, and gives each lab that has not left its settlement."""
    for offer in draft.offers.values():
        draft.close_offer(offer, "expired")
    for lab_id, lab in draft.labs.items():
        former = draft.private[lab_id]
        if not lab.finished:
            draft.private[lab_id] = former._replace(results=(*former.results, settlement(former)))


def settlement(lab: Own) -> Result:
    """The settlement of one lab as a result: jobs done, and its accounts in credits."""
    done = sum([job.completed for job in lab.jobs])
    return Result(
        True,
        "final_settlement",
        f"{done} of {len(lab.jobs)} jobs done; jobs {lab.job_value:.2f}, "
        f"energy {0.0 - lab.energy:.2f}, trades {lab.deals:.2f}, "
        f"pools {lab.pool:.2f}: utility {lab.utility:.2f}",
    )


def apply_shock(state: State) -> State:
    """The state after the shock of its round, if there is one."""
    market, nature = state.market, state.private["nature"]
    kind = nature.shocks.get(market.round_index)
    if kind is not None and market.round_index < market.max_rounds:
        draft = Draft(state)
        message, block_id = SHOCKS[kind](draft, nature)
        draft.void_offers()
        draft.shock_history += (Shock(market.round_index, kind, message, block_id),)
        return draft.state()
    return state


# Each shock changes a draft and returns what happened in words, and the id of a failed block.


def capacity_failure(draft: Draft, nature: Nature) -> tuple[str, str | None]:
    """The first live block in the order of failures fails; reserved blocks fail last."""
    living = [b for b in map(draft.blocks.__getitem__, nature.frail) if b.status in LIVE]
    if not living:
        return "a failure found nothing left to strike", None
    block = next((b for b in living if b.status != RESERVED), living[0])
    if block.status == COMMITTED:
        draft.drop_commitment(block.block_id, "excused")
    draft.put_block(block.with_status(FAILED))
    return f"{block.block_id} failed", block.block_id


def energy_spike(draft: Draft, nature: Nature) -> tuple[str, str | None]:
    """The energy of every live block that is not reserved costs SPIKE times as much."""
    for block in draft.market.blocks.values():
        if block.status in REQUESTABLE:
            draft.put_block(block._replace(energy_cost=round(block.energy_cost * SPIKE, 2)))
    return "energy costs doubled", None


def reliability_degradation(draft: Draft, nature: Nature) -> tuple[str, str | None]:
    """Every live block that is not reserved loses DEGRADATION of reliability."""
    for block in draft.market.blocks.values():
        if block.status in REQUESTABLE:
            weaker = max(LEAST_RELIABILITY, round(block.reliability - DEGRADATION, 2))
            draft.put_block(block._replace(reliability=weaker))
    return f"reliability fell by {DEGRADATION}", None


def demand_surge(draft: Draft, nature: Nature) -> tuple[str, str | None]:
    """Every lab that has not left gets one more job, which raises its BATNA."""
    for lab_id, lab in draft.labs.items():
        if not lab.finished:
            former = draft.private[lab_id]
            batna = max(former.batna, batna_in_surge(nature, lab_id, draft.market.max_rounds))
            draft.private[lab_id] = former._replace(
                jobs=(*former.jobs, nature.surge[lab_id]), batna=batna
            )
    return "every lab has one more urgent job", None


SHOCKS: Mapping[str, Callable[[Draft, Nature], tuple[str, str | None]]] = {
    "capacity_failure": capacity_failure,
    "energy_spike": energy_spike,
    "reliability_degradation": reliability_degradation,
    "demand_surge": demand_surge,
}
