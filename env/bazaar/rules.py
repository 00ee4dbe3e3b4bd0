"""One seller, one buyer, one item: alternating price offers, one or several deals in a row.

The seller opens with an ask. A round is one move of the buyer and the seller's reply; a deal that
is still open after the last round ends by its deadline. Prices are rupees.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..amounts import rupees, zopa_width
from ..core import EndReason, IllegalAction
from .types import (
    EXTRAS,
    Accept,
    Action,
    Deal,
    Instance,
    Move,
    Observation,
    Offer,
    State,
    Table,
    Tells,
    WalkAway,
)

LONGEST_MESSAGE = 2_000  # characters
HIGHEST_PRICE = 1_00_00_00_000  # rupees; no item is worth more
HIGHEST_ASK = 10  # times the list price; a higher ask is a typing error


@dataclass(frozen=True)
class Bazaar:
    """Two-party bargaining: deals of at most `rounds` rounds each, one after the other.

    `draw` returns one Instance per deal. Where bids are `standing`, the best one counts and not the
    last: a seller closes at it, and a lower bid changes nothing. A bid may ask for some of the
    `extras`: then the one counts that leaves the seller most, of equal ones the earlier. `manner`
    returns the seller's tells from the table before its move and its private values; without it
    sellers show none.
    """

    draw: Callable[[np.random.Generator], tuple[Instance, ...]]
    rounds: int
    decimals: int = 0
    seller_type: str = ""
    manner: Callable[[Table, Mapping[str, Any]], Tells] | None = None
    standing: bool = False
    version: int = 0  # of the rules by which any words count; 0 where they do not
    extras: tuple[str, ...] = ()

    agents = ("seller", "buyer")

    def reset(self, rng: np.random.Generator) -> State:
        instances = self.draw(rng)
        return self._deal(instances, ())

    def to_act(self, state: State) -> str | None:
        return state.turn

    def observe(self, state: State, agent: str) -> Observation:
        return Observation(agent, state.table, state.private[agent])

    def end(self, state: State) -> EndReason | None:
        """How the last deal ended; None while a deal is running."""
        return state.end

    def payoffs(self, state: State) -> dict[str, float]:
        """Each side's surplus in rupees, summed over the deals so far."""
        closed = [
            (deal, instance)
            for deal, instance in zip(state.table.past, state.private["nature"], strict=False)
            if deal.price is not None
        ]
        return {
            "buyer": reduce(add, (buyer_payoff(i.buyer, deal) for deal, i in closed), 0),
            "seller": reduce(add, (_gain(i, deal, "seller") for deal, i in closed), 0),
        }

    def step(self, state: State, action: Action) -> State:
        if state.turn is None:
            raise IllegalAction("this game is over; no move is left to make")
        action = plain(action)
        return (self._sell if state.turn == "seller" else self._buy)(state, action)

    def check_offer(self, state: State, offer: Offer) -> None:
        """Raise IllegalAction unless the side whose turn it is may make this offer."""
        table = state.table
        if state.turn == "buyer":
            check_extras(offer, table.extras)
            check_bid(offer.price, state.private["buyer"], table.decimals)
        else:
            costs = state.private["seller"].get("costs", {})
            check_extras(offer, ())
            check_ask(offer.price, table, count_bids(table, costs).bid)

    def _buy(self, state: State, action: Action) -> State:
        table = state.table
        public = {"moves": (*table.moves, Move("buyer", action)), "round": table.round + 1}
        if isinstance(action, Offer):
            self.check_offer(state, action)
            table = table._replace(bids=(*table.bids, action.price), **public)
            return State(table, "seller", state.private)
        if isinstance(action, Accept):
            price = table.asks[-1]
            check_budget(price, state.private["buyer"])
            return self._close(state, table._replace(**public), EndReason.AGREEMENT, "buyer", price)
        if isinstance(action, WalkAway):
            return self._close(state, table._replace(**public), EndReason.WALKAWAY, "buyer")
        raise unknown_action(action)

    def _sell(self, state: State, action: Action) -> State:
        table = state.table
        moves = (*table.moves, Move("seller", action, self._tells(state)))
        if isinstance(action, Offer):
            self.check_offer(state, action)
            after = table._replace(asks=(*table.asks, action.price), moves=moves)
            if table.bids and table.round >= table.rounds:
                return self._close(state, after, EndReason.DEADLINE, "seller")
            return State(after, "buyer", state.private)
        after = table._replace(moves=moves)
        if isinstance(action, Accept):
            if not table.bids:
                raise IllegalAction("there is no bid to accept yet; open with an asking price")
            stands = standing_offer(table, state.private["seller"].get("costs", {}))
            end = EndReason.AGREEMENT
            return self._close(state, after, end, "seller", stands.price, stands.extras)
        if isinstance(action, WalkAway):
            return self._close(state, after, EndReason.WALKAWAY, "seller")
        raise unknown_action(action)

    def _tells(self, state: State) -> Tells | None:
        if self.manner is None or not state.table.bids:
            return None
        return self.manner(state.table, state.private["seller"])

    def _close(
        self,
        state: State,
        table: Table,
        end: EndReason,
        by: str,
        price: float | None = None,
        extras: frozenset[str] = frozenset(),
    ) -> State:
        opening_ask = table.asks[0] if table.asks else 0.0
        included = tuple(name for name in EXTRAS if name in extras)
        deal = Deal(end, by, price, table.round, opening_ask, extras=included)
        past = (*table.past, deal)
        instances = state.private["nature"]
        if len(past) == len(instances):
            return State(table._replace(past=past), None, state.private, end)
        return self._deal(instances, past)

    def _deal(self, instances: tuple[Instance, ...], past: tuple[Deal, ...]) -> State:
        instance = instances[len(past)]
        rounds = instance.rounds or self.rounds
        table = Table(
            instance.item,
            rounds,
            len(instances),
            self.decimals,
            self.seller_type,
            past=past,
            standing=self.standing,
            version=self.version,
            extras=self.extras,
        )
        private = {"buyer": instance.buyer, "seller": instance.seller, "nature": instances}
        return State(table, "seller", private)


def buyer_payoff(private: Mapping[str, Any], deal: Deal) -> float:
    """A buyer's surplus from a deal it made, in rupees. Delay discounts a gain, not a loss."""
    gain = private["reservation"] + amount_of(deal.extras, private.get("values", {})) - deal.price
    return gain * share_kept(private, deal.rounds) if gain > 0 else gain


def amount_of(extras: Iterable[str], amounts: Mapping[str, int]) -> int:
    """The sum of the amounts of these extras, in rupees."""
    return sum(amounts[name] for name in extras)


def package_gain(instance: Instance) -> int:
    """What the best package adds to the gain of both sides, in rupees, at least 0."""
    values, costs = instance.buyer.get("values", {}), instance.seller.get("costs", {})
    return sum(max(0, values[name] - costs[name]) for name in values)


def count_bids(table: Table, costs: Mapping[str, int]) -> Table:
    """The table as its seller counts: each bid less the `costs` of its extras, as if without."""
    if not table.extras:
        return table

    def count(move: Move) -> Move:
        if move.agent != "buyer" or not isinstance(move.action, Offer):
            return move
        price = move.action.price - amount_of(move.action.extras, costs)
        return replace(move, action=replace(move.action, price=price))

    table = table._replace(moves=tuple(map(count, table.moves)))
    return table._replace(bids=tuple(offer.price for offer in table.offers))


def standing_offer(table: Table, costs: Mapping[str, int]) -> Offer:
    """The buyer's offer that counts with a seller of these costs of extras."""
    if not table.standing:
        return table.offers[-1]
    return max(table.offers, key=lambda offer: offer.price - amount_of(offer.extras, costs))


def check_extras(offer: Offer, allowed: Sequence[str]) -> None:
    """Raises IllegalAction unless an offer's extras are a frozenset of `allowed` names."""
    if not isinstance(offer.extras, frozenset):
        raise IllegalAction(f"extras are a frozenset of names, not {offer.extras!r:.40}")
    if offer.extras and not allowed:
        raise IllegalAction("an offer here is a price alone and has no extras")
    if unknown := offer.extras.difference(allowed):
        named = ", ".join(sorted(f"{name!s:.20}" for name in unknown))
        raise IllegalAction(f"extras are of {', '.join(allowed)}, and {named} is none of them")


def share_kept(private: Mapping[str, Any], rounds: int) -> float:
    """The share of a gain that a buyer keeps after so many rounds, in [0, 1]; 0 past its deadline.

    1 if the buyer has no "discount", whatever its deadline: there the classic grader halves.
    """
    if "discount" not in private:
        return 1.0
    if private.get("deadline") is not None and rounds > private["deadline"]:
        return 0.0
    return private["discount"] ** max(0, rounds - 1)


def check_bid(price: float, private: Mapping[str, Any], decimals: int) -> None:
    """Raises IllegalAction unless a buyer with these private values may bid `price`."""
    check_price(price, decimals)
    check_budget(price, private)


def check_budget(price: float, private: Mapping[str, Any]) -> None:
    """Raises IllegalAction if `price` exceeds the purse, or without one the reservation price."""
    budget = private.get("purse", private["reservation"])
    if price > budget:
        raise IllegalAction(f"the budget is {rupees(budget)}, and {rupees(price)} is more")


def check_ask(price: float, table: Table, bid: float | None) -> None:
    """Raises IllegalAction unless a seller may ask `price` at `table`, where `bid` counts."""
    check_price(price, table.decimals)
    highest = HIGHEST_ASK * table.item.list_price
    if price > highest:
        raise IllegalAction(
            f"an ask may be at most {rupees(highest)} here, and {rupees(price)} is more"
        )
    if bid is not None and price <= bid:
        raise IllegalAction(f"the buyer already bids {rupees(bid)}: accept it, or ask for more")


def plain(action: Action) -> Action:
    """`action` with a numpy price as a Python number, on whose rounding the sellers rely.

    Raises IllegalAction unless the message is a text of at most LONGEST_MESSAGE characters.
    """
    message = getattr(action, "message", "")
    if not isinstance(message, str) or len(message) > LONGEST_MESSAGE:
        raise IllegalAction(f"a message is a text of at most {LONGEST_MESSAGE:,} characters")
    if isinstance(action, Offer) and isinstance(action.price, np.generic):
        return replace(action, price=action.price.item())
    return action


def check_price(price: float, decimals: int) -> None:
    """Raises IllegalAction unless `price` is a positive finite number with `decimals` decimals."""
    number = isinstance(price, int | float) and not isinstance(price, bool)
    if number and abs(price) > HIGHEST_PRICE:
        raise IllegalAction(f"a price is at most {rupees(HIGHEST_PRICE)}, and this one is not")
    if not number or not price > 0:  # NaN is not
        raise IllegalAction(f"a price is a positive int or float of rupees, not {price!r:.40}")
    if round(price, decimals) != price:
        unit = "whole rupees" if decimals == 0 else f"at most {decimals} decimals"
        raise IllegalAction(f"prices here have {unit}, and {price!r:.40} does not fit")


def unknown_action(action: object) -> IllegalAction:
    """The error for an object that is no action of this game."""
    return IllegalAction(f"expected an Offer, Accept or WalkAway, got {action!r:.80}")


def shares(state: Any, agent: str) -> list[float]:
    """The agent's share of the ZOPA in each deal of the episode; 0 for a deal that it did not make.

    Negative for a deal at a loss. Without a ZOPA the list price takes the place of its width.
    """
    past = state.table.past
    return [
        _share(past[i], instance, agent) if i < len(past) else 0.0
        for i, instance in enumerate(state.private["nature"])
    ]


def _share(deal: Deal, instance: Instance, agent: str) -> float:
    if deal.price is None or agent not in ("seller", deal.buyer):
        return 0.0
    buyer, seller = instance.buyer["reservation"], instance.seller["reservation"]
    width = zopa_width(buyer + package_gain(instance), seller)
    return _gain(instance, deal, agent) / (width or instance.item.list_price)


def _gain(instance: Instance, deal: Deal, agent: str) -> float:
    """What a closed deal gains the agent, in rupees, before any discount."""
    if agent == "seller":
        costs = amount_of(deal.extras, instance.seller.get("costs", {}))
        return deal.price - costs - instance.seller["reservation"]
    values = amount_of(deal.extras, instance.buyer.get("values", {}))
    return instance.buyer["reservation"] + values - deal.price
