"""Measures of how a deal divides the surplus. Amounts are in the game's own unit."""

from collections.abc import Iterable, Mapping
from math import hypot, prod


def zopa_width(buyer_reservation: float, seller_reservation: float) -> float:
    """The width of the zone of possible agreement; 0 if the reservation prices cross."""
    return max(0.0, buyer_reservation - seller_reservation)


def surplus_share(payoff: float, width: float) -> float:
    """`payoff` as a share of the ZOPA's `width`; below 0 for a deal at a loss.

    Raises ValueError if `width` is not above 0, because there is nothing to share.
    """
    if width <= 0:
        raise ValueError("there is no ZOPA in this episode, so there is no share of it")
    return payoff / width


def nash_product(payoffs: Mapping[str, float]) -> float:
    """The product of the surpluses (Nash 1950); 0 if one party gains nothing."""
    return prod(max(0.0, payoff) for payoff in payoffs.values())


def frontier_distance(
    payoffs: tuple[float, float], frontier: Iterable[tuple[float, float]]
) -> float:
    """Euclidean distance of a pair of payoffs from the nearest point of a Pareto frontier.

    With one item and two parties every deal within the ZOPA is on the frontier, and no deal is
    width / sqrt(2) away from it.
    """
    return min(hypot(payoffs[0] - x, payoffs[1] - y) for x, y in frontier)
