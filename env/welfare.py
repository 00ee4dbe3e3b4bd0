"""Who got how much of what there was to share. Amounts in the game's own unit."""

from collections.abc import Iterable, Mapping
from math import hypot, prod


def zopa_width(buyer_reservation: float, seller_reservation: float) -> float:
    """The span of prices both sides prefer to no deal; 0 where they cross."""
    return max(0.0, buyer_reservation - seller_reservation)


def surplus_share(payoff: float, width: float) -> float:
    """A payoff as a share of the ZOPA's `width`; below 0 for a deal at a loss.

    Raises ValueError where there is no ZOPA, because nothing can be shared.
    """
    if width <= 0:
        raise ValueError("there is no ZOPA in this episode, so there is no share of it")
    return payoff / width


def nash_product(payoffs: Mapping[str, float]) -> float:
    """The product of the surpluses (Nash 1950); 0 as soon as one party gains nothing."""
    return prod(max(0.0, payoff) for payoff in payoffs.values())


def frontier_distance(
    payoffs: tuple[float, float], frontier: Iterable[tuple[float, float]]
) -> float:
    """Euclidean distance of a pair of payoffs from the nearest point of a Pareto frontier.

    Between two prices of one item every deal is on the frontier; no deal is width / sqrt(2) away.
    """
    return min(hypot(payoffs[0] - x, payoffs[1] - y) for x, y in frontier)
