"""Python's arithmetic over arrays, equal to the last bit, so that a batch equals scalar games."""

import numpy as np

from ...concession import conceded

power = np.frompyfunc(pow, 2, 1)  # Python's pow: numpy's may differ in the last bit


def rounded(prices: np.ndarray, decimals: int) -> np.ndarray:
    """`prices` rounded as by Python's `round`, for up to 6 decimals; same shape.

    `np.round` multiplies first and errs where the product falls on a tie; here the exact remainder
    of the product decides (Dekker 1971).
    """
    if decimals == 0:
        return np.rint(prices)
    per_rupee = 10.0**decimals
    scaled = prices * per_rupee
    nearest = np.rint(scaled)
    ties = np.flatnonzero(np.abs(scaled - nearest) > 0.499)
    if ties.size:
        price, product = prices[ties], scaled[ties]
        split = price * (2.0**27 + 1)
        high = split - (split - price)  # the upper half of the digits: its product is exact
        remainder = (per_rupee * high - product) + per_rupee * (price - high)
        below = np.floor(product)
        over = (product - (below + 0.5)) + remainder
        nearest[ties] = below + ((over > 0) | ((over == 0) & (below % 2 == 1)))
    return nearest / per_rupee


def batch_conceded(move: int, moves: np.ndarray, exponent: float) -> np.ndarray:
    """`conceded` at one `move` for integer numbers of `moves`; both arrays of shape (n,)."""
    return np.array([conceded(move, m, exponent) for m in range(int(moves.max()) + 1)])[moves]
