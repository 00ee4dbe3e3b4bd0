"""One seller, one buyer, one item: alternating price offers, one or several deals in a row.

The seller opens with an ask. A round is one move of the buyer and the seller's reply; a deal that
is still open after the last round ends by its deadline. Prices are rupees.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from env.bazaar.tells import Tells
from env.bazaar.types import (
    Accept,
    Action,
    Deal,
    Instance,
    Move,
    Observation,
    Offer,
    State,
    Table,
    WalkAway,
)
from env.core import EndReason, IllegalAction
from env.money import rupees
from env.welfare import surplus_share, zopa_width

LONGEST_MESSAGE = 2_000  # characters
HIGHEST_PRICE = 1_00_00_00_000  # rupees; beyond it there is nothing to sell
HIGHEST_ASK = 10  # times the list price; beyond it an ask is a slip of the finger


@dataclass(frozen=True)
class Bazaar:
    """Two-party bargaining: deals of at most `rounds` rounds each, one after the other.

    `draw` returns one Instance per deal. `manner` returns the seller's tells from the table before
    its move and its private values; None where sellers show none.
    """

    draw: Callable[[np.random.Generator], tuple[Instance, ...]]
    rounds: int
    decimals: int = 0
    seller_type: str = ""
    manner: Callable[[Table, Mapping[str, Any]], Tells] | None = None
    remember: Callable[[Instance, tuple[Deal, ...]], Instance] | None = None  # what past deals do

    agents = ("seller", "buyer")

    def reset(self, rng: np.random.Generator) -> State:
        instances = self.draw(rng)
        return self._deal(instances, ())

    def to_act(self, state: State) -> str | None:
        return state.turn

    def observe(self, state: State, agent: str) -> Observation:
        return Observation(agent, state.table, state.private[agent])

    def end(self, state: State) -> EndReason | None:
        """How the last deal ended, once all are done."""
        return state.end

    def payoffs(self, state: State) -> dict[str, float]:
        """Each side's surplus in rupees, summed over the deals made so far."""
        closed = [
            (deal, instance)
            for deal, instance in zip(state.table.past, state.private["nature"], strict=False)
            if deal.price is not None
        ]
        return {
            "buyer": sum(buyer_payoff(instance.buyer, deal) for deal, instance in closed),
            "seller": sum(d.price - i.seller["reservation"] for d, i in closed),
        }

    def step(self, state: State, action: Action) -> State:
        if state.turn is None:
            raise IllegalAction("this game is over; no move is left to make")
        check_message(action)
        action = plain(action)
        return (self._sell if state.turn == "seller" else self._buy)(state, action)

    def _buy(self, state: State, action: Action) -> State:
        table = state.table
        asked = {"moves": (*table.moves, Move("buyer", action)), "round": table.round + 1}
        if isinstance(action, Offer):
            check_bid(action.price, state.private["buyer"], table.decimals)
            table = table._replace(bids=(*table.bids, action.price), **asked)
            return State(table, "seller", state.private)
        if isinstance(action, Accept):
            price = table.asks[-1]
            check_budget(price, state.private["buyer"])
            return self._close(state, table._replace(**asked), EndReason.AGREEMENT, "buyer", price)
        if isinstance(action, WalkAway):
            return self._close(state, table._replace(**asked), EndReason.WALKAWAY, "buyer")
        raise unknown_action(action)

    def _sell(self, state: State, action: Action) -> State:
        table = state.table
        moves = (*table.moves, Move("seller", action, self._tells(state)))
        if isinstance(action, Offer):
            check_ask(action.price, table)
            after = table._replace(asks=(*table.asks, action.price), moves=moves)
            if table.bids and table.round >= table.rounds:
                return self._close(state, after, EndReason.DEADLINE, "seller")
            return State(after, "buyer", state.private)
        after = table._replace(moves=moves)
        if isinstance(action, Accept):
            if not table.bids:
                raise IllegalAction("there is no bid to accept yet; open with an asking price")
            return self._close(state, after, EndReason.AGREEMENT, "seller", table.bids[-1])
        if isinstance(action, WalkAway):
            return self._close(state, after, EndReason.WALKAWAY, "seller")
        raise unknown_action(action)

    def _tells(self, state: State) -> Tells | None:
        if self.manner is None or not state.table.bids:
            return None
        return self.manner(state.table, state.private["seller"])

    def _close(
        self, state: State, table: Table, end: EndReason, by: str, price: float | None = None
    ) -> State:
        opening_ask = table.asks[0] if table.asks else 0.0
        past = (*table.past, Deal(end, by, price, table.round, opening_ask))
        instances = state.private["nature"]
        if len(past) == len(instances):
            return State(table._replace(past=past), None, state.private, end)
        return self._deal(instances, past)

    def _deal(self, instances: tuple[Instance, ...], past: tuple[Deal, ...]) -> State:
        here = instances[len(past)]
        if self.remember is not None:
            here = self.remember(here, past)
        rounds = here.rounds or self.rounds
        table = Table(here.item, rounds, len(instances), self.decimals, self.seller_type, past=past)
        private = {"buyer": here.buyer, "seller": here.seller, "nature": instances}
        return State(table, "seller", private)


def buyer_payoff(own: Mapping[str, Any], deal: Deal) -> float:
    """A buyer's surplus from a deal it made, in rupees; delay eats a gain but spares no loss."""
    gain = own["reservation"] - deal.price
    return gain * discounted(own, deal) if gain > 0 else gain


def discounted(own: Mapping[str, Any], deal: Deal) -> float:
    """What a deal keeps of its worth after its rounds, in [0, 1]; nothing past the deadline.

    Without a "discount" a deal keeps all, whatever the deadline: the classic game's grader halves.
    """
    if "discount" not in own:
        return 1.0
    if own.get("deadline") is not None and deal.rounds > own["deadline"]:
        return 0.0
    return own["discount"] ** max(0, deal.rounds - 1)


def check_bid(price: float, own: Mapping[str, Any], decimals: int) -> None:
    """Raise IllegalAction unless `price` is one a buyer may bid."""
    check_price(price, decimals)
    check_budget(price, own)


def check_budget(price: float, own: Mapping[str, Any]) -> None:
    """Raise IllegalAction where a buyer cannot pay `price`: from its purse, or else its limit."""
    budget = own.get("purse", own["reservation"])
    if price > budget:
        raise IllegalAction(f"the budget is {rupees(budget)}, and {rupees(price)} is more")


def check_ask(price: float, table: Table) -> None:
    """Raise IllegalAction unless `price` is one a seller may ask now."""
    check_price(price, table.decimals)
    highest = HIGHEST_ASK * table.item.list_price
    if price > highest:
        raise IllegalAction(
            f"an ask may be at most {rupees(highest)} here, and {rupees(price)} is more"
        )
    if table.bids and price <= table.bids[-1]:
        raise IllegalAction(
            f"the buyer already bids {rupees(table.bids[-1])}: accept it, or ask for more"
        )


def check_message(action: Action) -> None:
    """Raise IllegalAction unless what is said with `action` is a text of bearable length."""
    said = getattr(action, "message", "")
    if not isinstance(said, str) or len(said) > LONGEST_MESSAGE:
        raise IllegalAction(f"a message is a text of at most {LONGEST_MESSAGE:,} characters")


def plain(action: Action) -> Action:
    """`action` with a numpy price as Python's number, whose rounding the sellers rely on."""
    if isinstance(action, Offer) and isinstance(action.price, np.generic):
        return replace(action, price=action.price.item())
    return action


def check_price(price: float, decimals: int) -> None:
    """Raise IllegalAction unless `price` is a positive finite number of so many decimals."""
    number = isinstance(price, int | float) and not isinstance(price, bool)
    if number and abs(price) > HIGHEST_PRICE:
        raise IllegalAction(f"a price is at most {rupees(HIGHEST_PRICE)}, and this one is not")
    if not number or not price > 0:  # NaN is not
        raise IllegalAction(f"a price is a positive int or float of rupees, not {price!r:.40}")
    if round(price, decimals) != price:
        unit = "whole rupees" if decimals == 0 else f"at most {decimals} decimals"
        raise IllegalAction(f"prices here have {unit}, and {price!r:.40} does not fit")


def unknown_action(action: object) -> IllegalAction:
    """The error for a thing that is no move of this game."""
    return IllegalAction(f"expected an Offer, Accept or WalkAway, got {action!r:.80}")


def shares(state: Any, agent: str) -> list[float]:
    """The agent's share of the ZOPA in every deal of the episode; 0 where it made none.

    A deal at a loss counts below 0; where there was no ZOPA, by its share of the list price.
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
    gain = deal.price - seller if agent == "seller" else buyer - deal.price
    return surplus_share(gain, zopa_width(buyer, seller) or instance.item.list_price)
