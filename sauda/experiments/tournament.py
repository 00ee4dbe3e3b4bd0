"""The tournament: every script that buys against every script that sells, on the same scenarios.

In PAIR_TASK both sides are scripts, or one of them a script whose moves a language model says. Each
knows its own limit and sees prices; the last bid counts, and no words do. A buyer and a seller go
by their names in BUYERS and SELLERS; "acts(linear)" is the script that plays through language.

The games of a pair are columns with one value per scenario: `end` is a letter of ENDS, `price` the
price of the deal or None, `rounds` those played, 0 after a forfeit. Prices are rupees. They become
the matrix, the ranks and the exploitability.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, product
from typing import Any, NamedTuple

import numpy as np

from env import CATALOGUE, Bazaar, EndReason, Episode, Instance, Policy, Task, market, rollout
from sauda.experiments.base import experiment
from sauda.llm.registry import script
from sauda.policies import BUYERS, SELLERS
from sauda.records.schemas.base import Record, Row, Rows, Table
from sauda.records.seeds import SPLITS, deal_at, is_unseen_game
from sauda.statistics import (
    difference_of,
    mean_of,
    name_interval,
    paired_difference,
    wilson_interval,
)

FILE = "tournament.json"
SHOWN = {"10th percentile": 0.1, "median": 0.5, "90th percentile": 0.9}
SCRIPTS = tuple(name for name in SELLERS if name != "schedule")  # whose terms no scenario has
SEATS = ("buyer", "seller")
ENDS = {
    "A": "agreement",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "buyer forfeited",
    "G": "seller forfeited",
}


class Pair(NamedTuple):
    """A buyer and a seller by name."""

    buyer: str
    seller: str


# What they play for ------------------------------------------------------------------------------


def draw_deal(rng: np.random.Generator) -> tuple[Instance]:
    """One deal: item, rounds, both limits, the buyer's cost of time.

    Numbers of a seller type are drawn first and thrown away: in the games that are recorded of role
    play they come first in the stream, and these games must come out again.
    """
    rng.integers(4)
    rng.random(7)
    discount = rng.uniform(0.94, 0.98)  # factor on the buyer's gain per round after the first
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    rounds = int(rng.integers(8, 12, endpoint=True))
    seller, buyer = (
        round(item.list_price * rng.uniform(*shares)) for shares in ((0.40, 0.80), (0.60, 1.10))
    )
    own = {"reservation": buyer, "discount": discount, "purse": round(1.5 * item.list_price)}
    return (Instance(item, own, {"reservation": seller}, rounds=rounds),)


PAIR_TASK = Task(
    name="bazaar/pair",
    env=Bazaar(draw=draw_deal, rounds=12),
    learner="buyer",
    opponents={"seller": SELLERS["linear"]},
    grade=market.market_grade,
    success=0.3,
    about="A buyer and a seller who see prices and their own limits, and nothing else.",
)


def task_against(seller: str) -> Task:
    """PAIR_TASK with the script called `seller`; ValueError naming the sellers there are."""
    sellers = {name: SELLERS[name] for name in SCRIPTS}
    return replace(PAIR_TASK, opponents={"seller": find_script("seller", sellers, seller)})


def find_script(seat: str, policies: Mapping[str, Policy], name: str) -> Policy:
    """The script of that name; ValueError naming those there are."""
    if (policy := script(policies, name)) is None:
        raise ValueError(f"no {seat} {name!r}; {seat}s are {', '.join(policies)}, acts(SCRIPT)")
    return policy


def scenario_seeds(n: int) -> tuple[int, ...]:
    """The first `n` hold-out seeds about listings that no training game has.

    Raises ValueError for fewer than 2, or too many.
    """
    unseen = (seed for seed in SPLITS["holdout"] if is_unseen_game(PAIR_TASK, seed))
    seeds = tuple(islice(unseen, max(0, n)))
    if n < 2 or len(seeds) < n:
        most = f"; there are {len(seeds):,}" if len(seeds) < n else ""
        raise ValueError(f"at least 2 scenarios are needed, not {n:,}{most}")
    return seeds


class Scenarios(Record):
    """The scenarios, one value each; all pairs play all of them."""

    seed: list[int]  # hold-out seed
    list_price: list[int]  # list price, rupees
    buyer: list[int]  # the buyer's limit, rupees
    seller: list[int]  # the seller's limit, rupees
    discount: list[float]  # factor on the buyer's gain for each round after the first

    @classmethod
    def of(cls, seeds: Sequence[int]) -> "Scenarios":
        """The scenarios of `seeds`."""
        deals = [deal_at(PAIR_TASK, seed) for seed in seeds]
        return cls(
            seed=list(seeds),
            list_price=[deal.item.list_price for deal in deals],
            buyer=[deal.buyer["reservation"] for deal in deals],
            seller=[deal.seller["reservation"] for deal in deals],
            discount=[deal.buyer["discount"] for deal in deals],
        )

    @property
    def zopa(self) -> np.ndarray:
        """Whether some price serves both sides, shape (n,)."""
        return np.array(self.buyer) > np.array(self.seller)


# Their games -------------------------------------------------------------------------------------


def play_pair(pair: Pair, seeds: Sequence[int]) -> list[Episode]:
    """The games of two scripts over `seeds`."""
    task, buyer = task_against(pair.seller), find_script("buyer", BUYERS, pair.buyer)
    return [rollout(task, buyer, seed) for seed in seeds]


def columns(episodes: Sequence[Episode]) -> dict[str, Any]:
    """The columns of `episodes`."""
    deals = [played.final.table.past[0] if played.final.table.past else None for played in episodes]
    return {
        "end": "".join(map(_letter, episodes)),
        "price": [deal and deal.price for deal in deals],
        "rounds": [deal.rounds if deal else 0 for deal in deals],
    }


def _letter(played: Episode) -> str:
    """How an episode ended, as a letter of ENDS."""
    if played.end == EndReason.FORFEIT:
        return "F" if played.turns[-1].agent == "buyer" else "G"
    if played.end == EndReason.WALKAWAY:
        return "S" if played.final.table.past[0].by == "seller" else "B"
    return {EndReason.AGREEMENT: "A", EndReason.DEADLINE: "D"}[played.end]


def payoffs(played: Mapping[str, Any], at: Scenarios) -> dict[str, dict[str, np.ndarray]]:
    """What both sides got in games in columns: "share" and "utility" by seat, shape (n,).

    A share is of the ZOPA, or of the list price where there is none; no deal counts 0. Utility is
    the share with the buyer's cost of time; time costs the seller nothing.
    """
    buyer, seller = np.array(at.buyer), np.array(at.seller)
    width = np.where(at.zopa, buyer - seller, at.list_price)
    price = np.array(played["price"], float)  # NaN where there is none
    deal = np.array([end == "A" for end in played["end"]])
    bought = np.where(deal, (buyer - price) / width, 0.0)
    sold = np.where(deal, (price - seller) / width, 0.0)
    kept = np.array(at.discount) ** np.maximum(0, np.array(played["rounds"]) - 1)
    timed = np.where(bought > 0, kept, 1.0) * bought
    return {
        "share": {"buyer": bought, "seller": sold},
        "utility": {"buyer": timed, "seller": sold},
    }


# The tournament ---------------------------------------------------------------------------------


class PairCell(Row):
    """One buyer against one seller: a cell of the matrix."""

    share: Row  # of each seat, the mean share of the ZOPA; no deal counts 0
    utility: Row  # the same with the buyer's cost of time


class PairColumns(Record):
    """The games of one pair, one value per scenario."""

    end: str  # one letter of `ends` per scenario
    price: list[int | None]  # price of the deal in rupees; null without one
    rounds: list[int]  # rounds played; 0 after a forfeit


class Tournament(Record):
    """Every script that buys against every script that sells: matrix, ranks, who exploits whom."""

    ends: dict[str, str]  # what the letters of the columns `end` mean
    scenarios: Scenarios  # what the pairs play for
    cells: Table[PairCell]  # one entry per pair
    ranks: Rows  # one per player and seat, the best first
    exploitability: Rows  # one per player and seat
    games: dict[str, dict[str, PairColumns]]  # columns by buyer and seller


@experiment(FILE, Tournament, checks="every game and every figure")
def tournament(
    buyers: tuple[str, ...] = tuple(BUYERS),
    sellers: tuple[str, ...] = SCRIPTS,
    scenarios: int = 200,  # hold-out games per pair, about listings that no training game has
) -> dict[str, Any]:
    """The data of the artifact; ValueError for a name that cannot take its seat."""
    for players in (buyers, sellers):
        if len(set(players)) < max(2, len(players)):
            raise ValueError("a tournament has at least two buyers and two sellers, once each")
    pairs = [Pair(*pair) for pair in product(buyers, sellers)]
    for pair in pairs:  # before any of them plays
        find_script("buyer", BUYERS, pair.buyer), task_against(pair.seller)
    seeds = scenario_seeds(scenarios)
    at, names = Scenarios.of(seeds), {"buyer": buyers, "seller": sellers}
    played = {pair: columns(play_pair(pair, seeds)) for pair in pairs}
    won = {pair: payoffs(games, at) for pair, games in played.items()}
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


def by_seat(
    won: Mapping[Pair, Any], buyers: Sequence[str], sellers: Sequence[str], figure: str
) -> dict[str, np.ndarray]:
    """A figure of each seat in every pair, shape (players of the seat, opponents, n)."""
    buyer, seller = (
        np.array([[won[Pair(b, s)][figure][seat] for s in sellers] for b in buyers])
        for seat in SEATS
    )
    return {"buyer": buyer, "seller": seller.swapaxes(0, 1)}


def cell(
    pair: Pair, played: Mapping[str, Any], won: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """The row of the matrix for one pair."""
    n = len(played["end"])
    return {
        "buyer": pair.buyer,
        "seller": pair.seller,
        "n": n,
        **{name: {seat: mean_of(by_seat[seat]) for seat in SEATS} for name, by_seat in won.items()},
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
            "rank": 1 + sum(paired_difference(other, won)[1] > 0 for other in means),
            "utility": mean_of(won),
            "share": mean_of(of_zopa),
        }
        for name, won, of_zopa in zip(players, means, shares, strict=True)
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
    utility = payoffs(played, at)["utility"]["buyer"]
    ranked = sorted(at.zopa.nonzero()[0].tolist(), key=lambda i: (utility[i], at.seed[i]))
    if not ranked:
        return []
    places = {why: ranked[round(part * (len(ranked) - 1))] for why, part in SHOWN.items()}
    return [ShownGame(why, index, at.seed[index]) for why, index in places.items()]
