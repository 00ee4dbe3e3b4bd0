"""Rules for offers: send, counter, reject, accept. Each public function applies one action."""

from collections.abc import Iterable

from ..actions import Action
from ..types import AVAILABLE, LIVE, Message, Offer
from .messages import signal_of
from .transaction import Draft, Refused, is_requestable

DEAL_REPUTATION = 0.02  # reputation that both labs gain by a trade

Outcome = tuple[str, str]  # a result code and one sentence


def send_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    offer = _checked_offer(draft, agent, action.target_lab_id, action)
    _post(draft, offer)
    return "offer_created", f"{offer.offer_id} is before {offer.to_lab_id}"


def counter_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    answered = _addressed(draft, agent, action.offer_id)
    draft.close_offer(answered, "rejected")
    offer = _checked_offer(draft, agent, answered.from_lab_id, action)
    _post(draft, offer._replace(linked_offer_id=answered.offer_id))
    return "counter_offer_created", f"{offer.offer_id} answers {answered.offer_id}"


def reject_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    offer = _addressed(draft, agent, action.offer_id)
    draft.close_offer(offer, "rejected")
    return "offer_rejected", f"{offer.offer_id} is turned down"


def accept_offer(draft: Draft, agent: str, action: Action) -> Outcome:
    offer = _addressed(draft, agent, action.offer_id)
    sender = offer.from_lab_id
    if offer.payment > draft.own(sender).budget:
        raise Refused("budget_overspend", f"{sender} cannot pay {offer.payment:.2f}")
    if offer.ask > draft.own(agent).budget:
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
        moved = block._replace(owner_lab_id=owner, status=AVAILABLE, held_until=None)
        draft.put_block(moved)
    draft.trust(sender, DEAL_REPUTATION)
    draft.trust(agent, DEAL_REPUTATION)
    draft.void_offers()
    return "offer_accepted", f"{offer.offer_id} is settled with {sender}"


def _addressed(draft: Draft, agent: str, offer_id: str | None) -> Offer:
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


def _checked_offer(draft: Draft, agent: str, target: str | None, action: Action) -> Offer:
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
    promised = sum(o.payment for o in draft.offers.values() if o.from_lab_id == agent)
    if payment and payment + promised > draft.own(agent).budget + 1e-9:
        raise Refused(
            "budget_overspend",
            f"you have {draft.own(agent).budget:.2f}, of which {promised:.2f} is promised",
        )
    _check_side(draft, agent, action.block_ids)
    _check_request(draft, target, action.requested_block_ids)
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
    )


def _check_side(draft: Draft, agent: str, block_ids: tuple[str, ...]) -> None:
    for block_id in checked_ids(draft, block_ids):
        block = draft.blocks[block_id]
        if block.owner_lab_id != agent:
            raise Refused("unowned_block", f"{block_id} is not yours")
        if block.status not in LIVE:
            raise Refused("unavailable_block", f"{block_id} is {block.status}")


def _check_request(draft: Draft, target: str, block_ids: tuple[str, ...]) -> None:
    for block_id in checked_ids(draft, block_ids):
        block = draft.blocks[block_id]
        if block.owner_lab_id != target:
            raise Refused("target_does_not_own_block", f"{target} does not own {block_id}")
        if not is_requestable(block):
            raise Refused("unavailable_block", f"{block_id} is {block.status}")


def checked_ids(draft: Draft, block_ids: tuple[str, ...]) -> Iterable[str]:
    """The ids one by one; refuses a repeated or unknown one."""
    if len(set(block_ids)) < len(block_ids):
        raise Refused("duplicate_block", "a block is named twice")
    for block_id in block_ids:
        if block_id not in draft.blocks:
            raise Refused("unknown_block", f"there is no block {block_id}")
        yield block_id


def _post(draft: Draft, offer: Offer) -> None:
    draft.put_offer(offer)
    if offer.message:
        signal = signal_of(offer.message)
        draft.say(
            Message(
                offer.from_lab_id,
                offer.to_lab_id,
                offer.round_created,
                offer.message,
                signal,
                "offer",
            )
        )
