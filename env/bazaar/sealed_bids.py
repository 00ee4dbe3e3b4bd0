"""One seller, one item, several buyers: sealed bids each round.

In a round every active buyer moves without seeing the others' moves; then the seller sells to the
best bid of that round, asks again, or leaves. A bid holds for its round only. An acceptance is a
bid at the ask. A buyer learns how many buyers bid and whether it was outbid, never a price.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import EndReason, IllegalAction
from . import rules
from .types import Accept, Action, Deal, Move, Observation, Offer, Rival, Table, WalkAway

BUYERS = ("buyer", "rival_1", "rival_2")


@dataclass(frozen=True, slots=True)
class MultiBuyerState:
    """The state of play. Bids are private: each buyer knows its own, the seller the best
    of each round.

    A buyer's "left" is the round in which it walked away; its grade discounts to that round, not to
    the round in which the rivals finished.
    """

    table: Table  # what all buyers see alike: asks, rounds, deals
    active: Mapping[str, bool]  # by buyer, after the last closed round
    closed_bids: Mapping[str, int]  # rounds in which each buyer bid
    turn: str | None
    private: Mapping[str, Any]
    end: EndReason | None = None


class MultiBuyerBazaar(rules.Bazaar):
    """Rules of a sealed-bid market over one deal; the settings mean the same as in `Bazaar`."""

    agents = ("seller", *BUYERS)

    def reset(self, rng: np.random.Generator) -> MultiBuyerState:
        (instance,) = self.draw(rng)
        liking = tuple(BUYERS[i] for i in rng.permutation(len(BUYERS)))  # order that breaks ties
        owns = (instance.buyer, *(instance.rivals or (instance.buyer, instance.buyer)))
        fresh = {"bids": (), "pending": None, "outbid": False, "left": None}
        private = {
            **{b: {**values, **fresh} for b, values in zip(BUYERS, owns, strict=True)},
            "seller": {**instance.seller, "bids": (), "liking": liking},
            "nature": (instance,),
        }
        rounds = instance.rounds or self.rounds
        table = Table(instance.item, rounds, 1, self.decimals, self.seller_type)
        count = dict.fromkeys(BUYERS, 0)
        return MultiBuyerState(table, dict.fromkeys(BUYERS, True), count, "seller", private)

    def observe(self, state: MultiBuyerState, agent: str) -> Observation:
        private = state.private[agent]
        if agent == "seller":
            return Observation(agent, state.table._replace(bids=private["bids"]), private)
        rivals = tuple(
            Rival(name, state.active[name], state.closed_bids[name])
            for name in BUYERS
            if name != agent
        )
        table = state.table._replace(bids=private["bids"], rivals=rivals, outbid=private["outbid"])
        if any(deal.price is not None and deal.buyer != agent for deal in table.past):
            # A loser never learns the price.
            table = table._replace(past=(), moves=table.moves[:-1])
        return Observation(agent, table, private)

    def payoffs(self, state: MultiBuyerState) -> dict[str, float]:
        """The surplus of the winner and of the seller in rupees; 0 for everyone else."""
        payoffs = dict.fromkeys(self.agents, 0.0)
        for deal in state.table.past:
            if deal.price is not None:
                payoffs[deal.buyer] = rules.buyer_payoff(state.private[deal.buyer], deal)
                payoffs["seller"] = deal.price - state.private["seller"]["reservation"]
        return payoffs

    def step(self, state: MultiBuyerState, action: Action) -> MultiBuyerState:
        if state.turn is None:
            raise IllegalAction("this game is over; no move is left to make")
        action = rules.plain(action)
        if state.turn == "seller":
            return self._sell_to_best(state, action)
        return self._seal(state, state.turn, action)

    def check_offer(self, state: MultiBuyerState, offer: Offer) -> None:
        """Raise IllegalAction unless the side whose turn it is may make this offer."""
        rules.check_extras(offer, ())
        private = state.private[state.turn]
        if state.turn == "seller":
            seen = state.table._replace(bids=private["bids"])
            rules.check_ask(offer.price, seen, private["bids"][-1] if private["bids"] else None)
        else:
            rules.check_bid(offer.price, private, self.decimals)

    def _seal(self, state: MultiBuyerState, agent: str, action: Action) -> MultiBuyerState:
        private, ask = state.private[agent], state.table.asks[-1]
        if isinstance(action, Offer):
            self.check_offer(state, action)
            pending = action.price
        elif isinstance(action, Accept):
            rules.check_budget(ask, private)
            pending = ask
        elif isinstance(action, WalkAway):
            pending = None
        else:
            raise rules.unknown_action(action)
        bids = private["bids"] if pending is None else (*private["bids"], pending)
        left = state.table.round + 1 if pending is None else None
        sealed = {**private, "bids": bids, "pending": pending, "left": left}
        after = replace(state, private={**state.private, agent: sealed})
        waiting = [b for b in BUYERS[BUYERS.index(agent) + 1 :] if state.active[b]]
        return replace(after, turn=waiting[0]) if waiting else self._open_bids(after)

    def _open_bids(self, state: MultiBuyerState) -> MultiBuyerState:
        """Closes the round: who left becomes public, and each bidder learns if it was outbid."""
        private = dict(state.private)
        pending = {b: private[b]["pending"] for b in BUYERS if state.active[b]}
        bids = {b: price for b, price in pending.items() if price is not None}
        best = max(bids.values(), default=None)
        for buyer in bids:
            private[buyer] = {**private[buyer], "outbid": bids[buyer] < best}
        table = state.table._replace(round=state.table.round + 1)
        closed = {b: n + (b in bids) for b, n in state.closed_bids.items()}
        active = {b: b in bids for b in BUYERS}
        if best is None:
            last = list(pending)[-1]
            after = replace(state, private=private, active=active, closed_bids=closed)
            return self._finish(after, table, EndReason.WALKAWAY, last)
        seller = private["seller"]
        private["seller"] = {**seller, "bids": (*seller["bids"], best)}
        return MultiBuyerState(table, active, closed, "seller", private)

    def _sell_to_best(self, state: MultiBuyerState, action: Action) -> MultiBuyerState:
        table, private = state.table, state.private["seller"]
        seen_by_seller = table._replace(bids=private["bids"])
        tells = self.manner(seen_by_seller, private) if self.manner and private["bids"] else None
        after = table._replace(moves=(*table.moves, Move("seller", action, tells)))
        if isinstance(action, Offer):
            self.check_offer(state, action)
            after = after._replace(asks=(*table.asks, action.price))
            if private["bids"] and table.round >= table.rounds:
                return self._finish(state, after, EndReason.DEADLINE, "seller")
            first = next(b for b in BUYERS if state.active[b])
            return replace(state, table=after, turn=first)
        if isinstance(action, Accept):
            if not private["bids"]:
                raise IllegalAction("there is no bid to accept yet; open with an asking price")
            price = private["bids"][-1]
            tied = [b for b in BUYERS if state.active[b] and state.private[b]["pending"] == price]
            winner = next(b for b in private["liking"] if b in tied)
            return self._finish(state, after, EndReason.AGREEMENT, "seller", price, winner)
        if isinstance(action, WalkAway):
            return self._finish(state, after, EndReason.WALKAWAY, "seller")
        raise rules.unknown_action(action)

    def _finish(
        self,
        state: MultiBuyerState,
        table: Table,
        end: EndReason,
        by: str,
        price: float | None = None,
        winner: str = "",
    ) -> MultiBuyerState:
        opening_ask = table.asks[0] if table.asks else 0.0
        deal = Deal(end, by, price, table.round, opening_ask, winner)
        return replace(state, table=table._replace(past=(deal,)), turn=None, end=end)
