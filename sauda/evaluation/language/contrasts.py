"""Does training for a role make a better buyer or seller? Nine paired contrasts, fixed in advance.

Each adapter beside the base in both seats, each specialist beside the generalist in its own seat,
and the specialists on role beside off role, both seats pooled. Two players are compared by their
share of the ZOPA in the same scenarios, averaged over the opponents that both met. Everything
follows from recorded games: those of the tournament, where a model writes its whole move, and those
of role play, where a script decides and the model says it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sauda.evaluation.language.role_play import BASE, GENERALIST, SEATS, SPECIALISTS
from sauda.experiments.pairs import Scenarios
from sauda.experiments.tournament import Payoffs, Tournament
from sauda.records.schemas.base import Interval
from sauda.records.schemas.roles import RolePlay
from sauda.statistics import holm, mean_interval, named_interval, sign_flip_p

LEVEL = 0.05  # of the whole family
MARGIN = 0.1  # of the share of the ZOPA, within which two players are called equivalent
ADAPTERS = (*SPECIALISTS.values(), GENERALIST)
ON_ROLE, OFF_ROLE = "on role", "off role"  # the specialists in their own seat, in the other
DOING = {"buyer": "buying", "seller": "selling", "both": "in both seats"}
Shares = Mapping[tuple[str, str], Mapping[str, np.ndarray]]  # (player, seat), then opponent: (n,)


@dataclass(frozen=True)
class Contrast:
    """The share of one player less that of another."""

    player: str
    beside: str
    seat: str  # "both" for the mean of both seats
    n: int  # scenarios
    opponents: int  # that both met, in each seat
    difference: Interval
    p: float  # two-sided, of the paired sign-flip permutation test
    adjusted: float = 1.0  # by Holm, over the nine

    @property
    def is_shown(self) -> bool:
        """Whether the test of the family says that the two differ."""
        return self.adjusted < LEVEL

    @property
    def is_equivalent(self) -> bool:
        """Whether the whole interval lies within the MARGIN."""
        return self.difference.low > -MARGIN and self.difference.high < MARGIN


def of_tournament(data: Tournament) -> list[Contrast]:
    """The contrasts in the games of a tournament; none where a player did not take both seats."""
    at = Scenarios.recorded(data.scenarios)
    shares: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for buyer, sellers in data.games.items():
        for seller, played in sellers.items():
            share = Payoffs.of(played.as_json(), at).share
            shares.setdefault((buyer, "buyer"), {})[seller] = share["buyer"]
            shares.setdefault((seller, "seller"), {})[buyer] = share["seller"]
    return contrasts(shares)


def of_role_play(data: RolePlay) -> list[Contrast]:
    """The contrasts in games where a script decides; none where a model did not take both seats."""
    return contrasts(
        {
            (cell.model, cell.seat): {"the script": np.array([game.share for game in cell.games])}
            for cell in data.games
        }
    )


def contrasts(shares: Shares) -> list[Contrast]:
    """The nine contrasts, each p adjusted for all; none where a player did not take both seats."""
    if not shares.keys() >= {(player, seat) for player in (BASE, *ADAPTERS) for seat in SEATS}:
        return []
    rows = list(_family(shares))
    adjusted = holm([row.p for row in rows])
    return [replace(row, adjusted=p) for row, p in zip(rows, adjusted, strict=True)]


def _family(shares: Shares) -> Iterator[Contrast]:
    for player in ADAPTERS:
        for seat in SEATS:
            yield _contrast(player, BASE, seat, [_less(shares, player, BASE, seat)])
    for seat, specialist in SPECIALISTS.items():
        less = _less(shares, specialist, GENERALIST, seat)
        yield _contrast(specialist, GENERALIST, seat, [less])
    buyer, seller = SPECIALISTS.values()
    pooled = [_less(shares, buyer, seller, "buyer"), _less(shares, seller, buyer, "seller")]
    yield _contrast(ON_ROLE, OFF_ROLE, "both", pooled)


def _less(shares: Shares, player: str, beside: str, seat: str) -> np.ndarray:
    """The differences of two players in a seat, shape (opponents that both met, n)."""
    ours, theirs = shares[player, seat], shares[beside, seat]
    return np.array([ours[met] - theirs[met] for met in ours if met in theirs])


def _contrast(player: str, beside: str, seat: str, differences: Sequence[np.ndarray]) -> Contrast:
    """One contrast from the differences in each of its seats, (opponents, n) each."""
    mean = np.mean([by_opponent.mean(axis=0) for by_opponent in differences], axis=0)
    return Contrast(
        player,
        beside,
        seat,
        len(mean),
        len(differences[0]),
        Interval(**named_interval(mean_interval(mean))),
        sign_flip_p(mean),
    )


def verdict(rows: Sequence[Contrast], name: Callable[[str], str]) -> str:
    """What the nine say, to stand after a colon; `name` gives a player in words.

    A second sentence says whether each specialist is equivalent to the generalist in its own seat.
    """
    shown = [row for row in rows if row.is_shown]
    largest = max(rows, key=lambda row: abs(row.difference.mean))
    opening = f"{len(shown)} of {len(rows)} contrasts show"
    if not shown:
        opening = f"none of {len(rows)} contrasts shows"
    details = "; ".join(_told(row, name) for row in shown or [largest])
    return (
        f"{opening} a difference in share at {LEVEL:.0%} after correction by Holm, n ="
        f" {largest.n} scenarios: {'' if shown else 'the largest is '}{details}. Within"
        f" ±{MARGIN} of the share, {', and '.join(_equivalences(rows, name))}."
    )


def _equivalences(rows: Sequence[Contrast], name: Callable[[str], str]) -> Iterator[str]:
    for row in (row for row in rows if row.beside == GENERALIST):
        how = "is" if row.is_equivalent else "is not shown to be"
        yield f"{name(row.player)} {how} equivalent to {name(row.beside)}, {DOING[row.seat]}"


def _told(row: Contrast, name: Callable[[str], str]) -> str:
    mean, low, high = (
        format(getattr(row.difference, end), "+z.3f") for end in Interval.model_fields
    )
    return f"{name(row.player)} less {name(row.beside)}, {DOING[row.seat]}, {mean} [{low}, {high}]"
