"""Amounts: rupees in Indian notation, measures of how a deal divides the surplus, concession."""

import math
import re


def rupees(amount: float) -> str:
    """`amount` in Indian notation: ₹1,20,000, ₹31.50, −₹500. Raises ValueError on NaN and inf."""
    if not math.isfinite(amount):
        raise ValueError(f"expected a finite amount of rupees, got {amount}")
    whole, paise = f"{abs(amount):.2f}".split(".")
    text = f"₹{group_digits(whole)}" if paise == "00" else f"₹{group_digits(whole)}.{paise}"
    return f"−{text}" if amount < 0 and text != "₹0" else text


def group_digits(digits: str) -> str:
    """`digits` of a whole number in Indian groups: 1,20,000."""
    if len(digits) <= 3:
        return digits
    return re.sub(r"(?<=\d)(?=(?:\d\d)*\d{3}$)", ",", digits)


# Measures of how a deal divides the surplus, in the game's own unit.


def zopa_width(buyer_reservation: float, seller_reservation: float) -> float:
    """The width of the zone of possible agreement; 0 if the reservation prices cross."""
    return max(0.0, buyer_reservation - seller_reservation)


# Time-dependent concession: how far a negotiator has moved toward its reservation price.
#
# Faratin, Sierra and Jennings (1998), "Negotiation decision functions for autonomous agents".


def conceded(move: int, moves: int, exponent: float) -> float:
    """Share of the way from the best price to the reservation price at `move`, in [0, 1].

    Moves are counted from 0 to `moves` - 1; the last one concedes everything. `exponent` is
    Faratin's beta: below 1 boulware (late), 1 linear, above 1 conceder (early).
    """
    if moves <= 1:
        return 1.0
    return min(1.0, max(0.0, move / (moves - 1))) ** (1 / exponent)
