"""Ranks and exploitability from the payoffs of all pairs.

Two players are compared in the same seat of the same scenario against the same opponent: who gets
the higher utility did better, and equal utilities are half a win for both. So neither the seat nor
the opponent favours a player, and no order of seats has to be modelled. Bradley and Terry (1952)
turn the comparisons into strengths on a log-odds scale. Intervals resample scenarios.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.statistics import TAILS, mean_interval, named_interval, paired_difference, resamples

PENALTY = 1e-3  # on squared strengths: keeps them finite for a player that always does worse
REFITS = 500  # resamples of which each ranking is fitted


def bradley_terry(
    wins: np.ndarray, penalty: float = PENALTY, start: np.ndarray | None = None
) -> np.ndarray:
    """The strengths of k players as log-odds with mean 0, shape (k,).

    `wins`, shape (k, k), says how often the player of a row did better than that of a column. The
    strengths maximise the log-likelihood less `penalty` times the sum of their squares.
    """
    from scipy.optimize import minimize
    from scipy.special import expit  # SciPy takes long to import, and the page fits nothing

    games = wins + wins.T

    def loss(strength: np.ndarray) -> float:
        gap = strength[:, None] - strength
        return (wins * np.logaddexp(0, -gap)).sum() + penalty * strength @ strength

    def slope(strength: np.ndarray) -> np.ndarray:
        gap = strength[:, None] - strength
        return (games * expit(gap) - wins).sum(axis=1) + 2 * penalty * strength

    def curvature(strength: np.ndarray) -> np.ndarray:
        chance = expit(strength[:, None] - strength)
        weight = games * chance * (1 - chance)
        return np.diag(weight.sum(axis=1) + 2 * penalty) - weight

    start = np.zeros(len(wins)) if start is None else start
    # Exact Newton steps: the curvature is small and known, and a loose fit would move the digits.
    fitted = minimize(
        loss, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-8}
    )
    return fitted.x - fitted.x.mean()


def comparisons(utility: np.ndarray) -> np.ndarray:
    """How often each player did better than each other in each scenario, shape (n, k, k).

    `utility` has shape (k, opponents, n); ties count half.
    """
    mine, theirs = utility[:, None], utility[None]
    better = ((mine > theirs) + 0.5 * (mine == theirs)).sum(axis=2)
    better[np.diag_indices(len(utility))] = 0
    return np.moveaxis(better, 2, 0)


def ranks(
    seat: str, players: Sequence[str], wins: np.ndarray, figures: Mapping[str, np.ndarray]
) -> list[dict[str, Any]]:
    """One row a player, the strongest first.

    `wins` are `comparisons`, shape (n, k, k); `figures` hold one value a player and scenario, shape
    (k, n), by the name of their column. A player's rank is one more than the number of players
    whose whole interval lies above its own: players whose intervals overlap may share a rank.
    """
    n, point = len(wins), bradley_terry(wins.sum(axis=0))
    drawn = np.tensordot(resamples(n)[:REFITS].astype(float), wins, axes=1)
    refits = np.array([bradley_terry(one, start=point) for one in drawn])
    low, high = np.percentile(refits, TAILS, axis=0)
    rows = [
        {
            "seat": seat,
            "player": name,
            "rank": 1 + int((low > high[i]).sum()),
            "strength": named_interval((point[i], low[i], high[i])),
            **{
                column: named_interval(mean_interval(values[i]))
                for column, values in figures.items()
            },
        }
        for i, name in enumerate(players)
    ]
    return sorted(rows, key=lambda row: -row["strength"]["mean"])


def exploitability(
    seat: str,
    players: Sequence[str],
    opponents: Sequence[str],
    utility: np.ndarray,
    theirs: np.ndarray,
) -> list[dict[str, Any]]:
    """What the best of the opponents takes from each player in `seat`, one row a player.

    `utility` and `theirs` are the players' and the opponents', both of shape (k, opponents, n). The
    best opponent is chosen on every other scenario and measured on the rest, so that luck in the
    choice does not count.
    """
    rows = []
    for i, name in enumerate(players):
        best = int(theirs[i, :, ::2].mean(axis=1).argmax())
        taken, usual = theirs[i, best, 1::2], theirs[i, :, 1::2].mean(axis=0)
        rows.append(
            {
                "seat": seat,
                "player": name,
                "by": opponents[best],
                "n": len(taken),
                "chosen_on": theirs[i, best, ::2].size,
                "taken": named_interval(mean_interval(taken)),
                "usual": named_interval(mean_interval(usual)),
                "more": named_interval(paired_difference(taken, usual)),
                "left": named_interval(mean_interval(utility[i, best, 1::2])),
            }
        )
    return rows


def variance(share: np.ndarray) -> dict[str, float]:
    """How much of the variance of the matrix its rows, its columns and their interaction explain.

    `share` has shape (buyers, sellers), the mean share of every pair; the three parts sum to 1.
    """
    centred = share - share.mean()
    rows = centred.mean(axis=1, keepdims=True)
    columns = centred.mean(axis=0, keepdims=True)
    parts = (rows + 0 * centred, columns + 0 * centred, centred - rows - columns)
    total = (centred**2).sum()
    names = ("buyer", "seller", "interaction")
    return {
        name: round(float((part**2).sum() / total), 6) if total else 0.0
        for name, part in zip(names, parts, strict=True)
    }
