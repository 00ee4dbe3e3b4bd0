"""The tournament: every script that buys against every script that sells, on the same scenarios.

`pairs.py` plays two of them. Here their games become the matrix, the ranks and the exploitability.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from sauda.experiments.base import experiment, rows_of
from sauda.experiments.pairs import (
    ENDS,
    SCRIPTS,
    SEATS,
    Pair,
    Payoffs,
    Scenarios,
    buyer_policy,
    columns,
    play_pair,
    scenario_seeds,
    task_against,
)
from sauda.policies import BUYERS
from sauda.records.schemas.base import Interval, Record
from sauda.statistics import (
    difference_of,
    mean_of,
    name_interval,
    paired_difference,
    wilson_interval,
)

FILE = "tournament.json"
SHOWN = {"10th percentile": 0.1, "median": 0.5, "90th percentile": 0.9}
T = TypeVar("T")


class Seats(Record, Generic[T]):
    """A figure of both seats."""

    buyer: T  # of the buyer
    seller: T  # of the seller


class PairCell(Record):
    """One buyer against one seller: a cell of the matrix."""

    buyer: str
    seller: str
    n: int  # scenarios
    share: Seats[Interval]  # mean share of the ZOPA; no deal counts 0
    utility: Seats[Interval]  # the same with the buyer's cost of time
    deal_rate: Interval  # share of scenarios that end in a deal
    rounds: Interval  # rounds played


class PlayerRank(Record):
    """One player among those of its seat."""

    seat: Literal["buyer", "seller"]  # the seat
    player: str
    rank: int  # 1 and the players that win more, by a paired interval above 0
    utility: Interval  # mean utility over all opponents
    share: Interval  # mean share of the ZOPA over all opponents


class Exploited(Record):
    """What the best of the opponents takes from one player."""

    seat: Literal["buyer", "seller"]  # seat of the player
    player: str
    by: str  # the opponent that takes most, chosen on other scenarios
    n: int  # scenarios of the figures
    taken: Interval  # mean utility of that opponent against the player
    usual: Interval  # the same of all opponents together
    more: Interval  # the first less the second, paired by scenario


class ScenarioColumns(Record):
    """The scenarios, one value each; all pairs play all of them."""

    seed: list[int]  # hold-out seed
    list_price: list[int]  # list price, rupees
    buyer: list[int]  # the buyer's limit, rupees
    seller: list[int]  # the seller's limit, rupees
    discount: list[float]  # factor on the buyer's gain for each round after the first


class PairColumns(Record):
    """The games of one pair, one value per scenario."""

    end: str  # one letter of `ends` per scenario
    price: list[int | None]  # price of the deal in rupees; null without one
    rounds: list[int]  # rounds played; 0 after a forfeit


class Tournament(Record):
    """Every script that buys against every script that sells: matrix, ranks, who exploits whom."""

    ends: dict[str, str]  # what the letters of the columns `end` mean
    scenarios: ScenarioColumns  # what the pairs play for
    cells: list[PairCell]  # one entry per pair
    ranks: list[PlayerRank]  # one entry per player and seat, the best first
    exploitability: list[Exploited]  # one entry per player and seat
    games: dict[str, dict[str, PairColumns]]  # columns by buyer and seller


@experiment(
    FILE, Tournament, checks="every game and every figure", table=rows_of("ranks", "exploitability")
)
def tournament(
    buyers: tuple[str, ...] = tuple(BUYERS),
    sellers: tuple[str, ...] = SCRIPTS,
    scenarios: int = 200,  # hold-out games per pair, about listings that no training game has
) -> dict[str, Any]:
    """The data of the artifact; ValueError for a name that cannot take its seat."""
    pairs, seeds = pair_up(buyers, sellers), scenario_seeds(scenarios)
    at, names = Scenarios.of(seeds), {"buyer": buyers, "seller": sellers}
    played = {pair: columns(play_pair(pair, seeds)) for pair in pairs}
    won = {pair: Payoffs.of(games, at) for pair, games in played.items()}
    utility, share = (by_seat(won, buyers, sellers, of) for of in ("utility", "share"))
    best = [ranks(seat, names[seat], utility[seat], share[seat]) for seat in SEATS]
    exploited = [
        exploitability(seat, names[seat], names[other], utility[other].swapaxes(0, 1))
        for seat, other in (SEATS, SEATS[::-1])
    ]
    games = {buyer: {seller: played[Pair(buyer, seller)] for seller in sellers} for buyer in buyers}
    return {
        "ends": dict(ENDS),
        "scenarios": at.as_json(),
        "cells": [cell(pair, played[pair], won[pair]) for pair in pairs],
        "ranks": [*chain(*best)],
        "exploitability": [*chain(*exploited)],
        "games": games,
    }


def pair_up(buyers: Sequence[str], sellers: Sequence[str]) -> list[Pair]:
    """Every buyer with every seller; ValueError for a name that cannot take its seat."""
    for names in (buyers, sellers):
        if len(set(names)) < max(2, len(names)):
            raise ValueError("a tournament has at least two buyers and two sellers, once each")
    for buyer in buyers:
        buyer_policy(buyer)
    for seller in sellers:
        task_against(seller)
    return [Pair(*pair) for pair in product(buyers, sellers)]


def by_seat(
    won: Mapping[Pair, Payoffs], buyers: Sequence[str], sellers: Sequence[str], figure: str
) -> dict[str, np.ndarray]:
    """A figure of each seat in every pair, shape (players of the seat, opponents, n)."""
    buyer, seller = (
        np.array([[getattr(won[Pair(b, s)], figure)[seat] for s in sellers] for b in buyers])
        for seat in SEATS
    )
    return {"buyer": buyer, "seller": seller.swapaxes(0, 1)}


def cell(pair: Pair, played: Mapping[str, Any], won: Payoffs) -> dict[str, Any]:
    """The row of the matrix for one pair."""
    n = len(played["end"])
    return {
        "buyer": pair.buyer,
        "seller": pair.seller,
        "n": n,
        "share": {seat: mean_of(won.share[seat]) for seat in SEATS},
        "utility": {seat: mean_of(won.utility[seat]) for seat in SEATS},
        "deal_rate": name_interval(wilson_interval(played["end"].count("A"), n)),
        "rounds": mean_of(np.array(played["rounds"], float)),
    }


def ranks(
    seat: str, players: Sequence[str], utility: np.ndarray, share: np.ndarray
) -> list[dict[str, Any]]:
    """One row per player, the best first; figures have shape (players, opponents, n).

    Two players are compared in the same scenarios against the same opponents. A player's rank is
    one more than the number of those that win more with a whole interval above 0, so that players
    may share a rank.
    """
    means, shares = utility.mean(axis=1), share.mean(axis=1)
    rows = [
        {
            "seat": seat,
            "player": name,
            "rank": 1 + sum(paired_difference(other, own)[1] > 0 for other in means),
            "utility": mean_of(own),
            "share": mean_of(of_zopa),
        }
        for name, own, of_zopa in zip(players, means, shares, strict=True)
    ]
    return sorted(rows, key=lambda row: -row["utility"]["mean"])


def exploitability(
    seat: str, players: Sequence[str], opponents: Sequence[str], theirs: np.ndarray
) -> Iterator[dict[str, Any]]:
    """What the best of the opponents takes from each player in `seat`, one row per player.

    `theirs` is the opponents' utility, of shape (players, opponents, n). The best opponent is
    chosen on every other scenario and measured on the rest, so that luck in the choice does not
    count.
    """
    for name, won in zip(players, theirs, strict=True):
        best = int(won[:, ::2].mean(axis=1).argmax())
        taken, usual = won[best, 1::2], won[:, 1::2].mean(axis=0)
        yield {
            "seat": seat,
            "player": name,
            "by": opponents[best],
            "n": len(taken),
            "taken": mean_of(taken),
            "usual": mean_of(usual),
            "more": difference_of(taken, usual),
        }


class ShownGame(NamedTuple):
    """A game of a pair that the page plays again."""

    why: str  # a key of SHOWN
    index: int  # of its scenario
    seed: int


def choose_shown(played: Mapping[str, Any], at: Scenarios) -> list[ShownGame]:
    """The games at percentiles of the buyer's utility, among the scenarios with a ZOPA.

    Of equal utilities the lower seed comes first, so that the choice is the same every time. Empty
    without a ZOPA.
    """
    utility = Payoffs.of(played, at).utility["buyer"]
    ranked = sorted(at.zopa.nonzero()[0].tolist(), key=lambda i: (utility[i], at.seeds[i]))
    if not ranked:
        return []
    places = {why: ranked[round(part * (len(ranked) - 1))] for why, part in SHOWN.items()}
    return [ShownGame(why, index, at.seeds[index]) for why, index in places.items()]
