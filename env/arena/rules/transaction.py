"""A draft of the next state, on which an action works; a refused action discards it.

Only the rules make drafts. A draft copies what it changes, so the state that it came from stays
unchanged.
"""

from dataclasses import dataclass

from ..planning import BREACH_FINE
from ..types import (
    AVAILABLE,
    COMMITTED,
    LIVE,
    RESERVED,
    Block,
    Coalition,
    Market,
    Message,
    Offer,
    Own,
    State,
)

HOLD_ROUNDS = 2  # rounds after this one in which an offer, reservation or commitment is valid
BREACH_REPUTATION = 0.12  # reputation that a breach costs


@dataclass(frozen=True)
class Refused(Exception):
    """The rules refuse an action: a code, and one sentence for people."""

    code: str
    message: str


class Draft:
    """A mutable copy of a market and its private values."""

    def __init__(self, state: State) -> None:
        market = state.market
        self.market = market
        self.private = dict(state.private)
        self.labs, self.blocks = market.labs, market.blocks
        self.offers, self.closed = market.offers, market.closed
        self.coalitions, self.messages = market.coalitions, market.messages

    def state(self, queue: tuple[str, ...] | None = None) -> State:
        """The state of the draft, with a new `queue` of turns if one is given."""
        market = self.market
        after = Market(
            *market[:4],
            market.queue if queue is None else queue,
            self.labs,
            self.blocks,
            self.offers,
            self.closed,
            self.coalitions,
            self.messages,
            *market[11:],
        )
        return State(after, self.private)

    @property
    def hold(self) -> int:
        """The last round of an offer, reservation or commitment made now."""
        return min(self.market.max_rounds, self.market.round_index + HOLD_ROUNDS)

    def own(self, lab: str) -> Own:
        return self.private[lab]

    def put_block(self, block: Block) -> None:
        if self.blocks is self.market.blocks:
            self.blocks = dict(self.blocks)
        self.blocks[block.block_id] = block

    def put_offer(self, offer: Offer) -> None:
        self.offers = {**self.offers, offer.offer_id: offer}

    def close_offer(self, offer: Offer, status: str) -> None:
        self.offers = {k: o for k, o in self.offers.items() if k != offer.offer_id}
        self.closed = {**self.closed, offer.offer_id: offer._replace(status=status)}

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
        own = self.private[lab]
        booked = {account: round(getattr(own, account) + amount, 2)}
        self.private[lab] = own._replace(budget=round(own.budget + amount, 2), **booked)

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
            freed = self.blocks[block_id]._replace(status=AVAILABLE, held_until=None)
            self.put_block(freed)
        self.put_coalition(
            coalition._replace(commitments=(), breach_status=status, breached_by=by, ended=True)
        )

    def drop_commitment(self, block_id: str, status: str | None = None) -> None:
        """Removes a block from its pool; `status` is the coalition's new breach status, if any."""
        for coalition in self.coalitions.values():
            if block_id in coalition.commitments:
                kept = tuple(b for b in coalition.commitments if b != block_id)
                changed = coalition._replace(commitments=kept)
                self.put_coalition(changed._replace(breach_status=status) if status else changed)

    def void_offers(self) -> None:
        """Closes the active offers that can no longer be settled."""
        promised: dict[str, float] = {}
        for offer in tuple(self.offers.values()):
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
    return block.status in LIVE and block.status != RESERVED
