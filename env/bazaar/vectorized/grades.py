"""The graders of both families over arrays: a share for each deal, a grade for each game."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...tasks import TASKS
from ..classic import career_grade, deadline_grade, mean_share, tells_grade
from ..market import market_grade
from .rounding import power
from .types import FORFEIT, Deals, Games, Outcome


def shares_of(deal: Deals, outcome: Outcome) -> np.ndarray:
    """The learner's share of the ZOPA in one deal, as `shares`; shape (n,)."""
    limit, width = deal.own[0].reservation, deal.own[0].reservation - deal.seller_reservation
    to_share = np.where(width > 0, width, deal.list_price)
    return np.where(outcome.buyer == 0, (limit - outcome.price) / to_share, 0.0)


def parts_of(games: Games, outcomes: Sequence[Outcome], share: np.ndarray) -> np.ndarray:
    """The grade of each deal alone, shape (deals, n), as `share`."""
    grade = _GRADES[TASKS[games.task].grade]
    return np.stack([grade(*part) for part in zip(games.deals, outcomes, share, strict=True)])


def graded(games: Games, parts: np.ndarray) -> np.ndarray:
    """The task's grade of each game, shape (n,), from those of its deals, shape (deals, n)."""
    mean = sum(parts) / len(parts)
    grade = _GRADES[TASKS[games.task].grade]
    return mean if grade is _market_part else np.minimum(1.0, mean)


def _share_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, share)


def _career_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, share) * (1 - 0.3 * outcome.rounds / deal.rounds)


def _tells_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    won = np.maximum(0.0, share)
    return np.minimum(1.0, won + 0.15 * np.maximum(0.0, 2 * won - 1))


def _deadline_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    """For a task of one deal, where clipping the mean after halving makes no difference."""
    late = outcome.rounds > deal.own[0].deadline
    return np.minimum(1.0, np.maximum(0.0, share)) * np.where(late, 0.5, 1.0)


def _market_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    own, price = deal.own[0], outcome.price
    width = own.reservation - deal.seller_reservation
    kept = power(own.discount, np.maximum(0, outcome.rounds - 1)).astype(float)
    kept = np.where(outcome.rounds > own.deadline, 0.0, kept)
    undealt = np.where((width <= 0) & (outcome.end != FORFEIT), kept, 0.0)
    loss = np.maximum(-1.0, (own.reservation - price) / deal.list_price)
    gain = np.where(
        (width <= 0) | (price > own.reservation), loss, kept * (own.reservation - price) / width
    )
    return np.where(outcome.buyer == 0, gain, undealt)


_GRADES: Mapping[Callable, Callable[[Deals, Outcome, np.ndarray], np.ndarray]] = {
    mean_share: _share_part,
    deadline_grade: _deadline_part,
    career_grade: _career_part,
    tells_grade: _tells_part,
    market_grade: _market_part,
}
