"""Time-dependent concession: how far a negotiator has moved from its best price to its limit.

Faratin, Sierra and Jennings (1998), "Negotiation decision functions for autonomous agents".
"""


def conceded(move: int, moves: int, exponent: float) -> float:
    """Share of the way conceded at `move` of `moves` (counted from 0), in [0, 1].

    `exponent` is Faratin's beta: below 1 boulware (late), 1 linear, above 1 conceder (early). The
    last move concedes everything.
    """
    if moves <= 1:
        return 1.0
    return min(1.0, max(0.0, move / (moves - 1))) ** (1 / exponent)
