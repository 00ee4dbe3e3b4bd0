"""Time-dependent concession: how far a negotiator has moved toward its reservation price.

Faratin, Sierra and Jennings (1998), "Negotiation decision functions for autonomous agents".
"""


def conceded(move: int, moves: int, exponent: float) -> float:
    """Share of the way from the best price to the reservation price at `move`, in [0, 1].

    Moves are counted from 0 to `moves` - 1; the last one concedes everything. `exponent` is
    Faratin's beta: below 1 boulware (late), 1 linear, above 1 conceder (early).
    """
    if moves <= 1:
        return 1.0
    return min(1.0, max(0.0, move / (moves - 1))) ** (1 / exponent)
