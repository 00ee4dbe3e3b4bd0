"""The tournament: every buyer against every seller of the open market, on the same scenarios.

`pairs.py` plays two of them. Here their games become the matrix, the ranks and the exploitability.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, product, repeat
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import Field, FiniteFloat

from env import SELLER_TYPES
from sauda.experiments.base import experiment
from sauda.experiments.batches import in_batches, join
from sauda.experiments.comparison import Replayed, version_of
from sauda.experiments.pairs import (
    ENDS,
    SEATS,
    TASK,
    Pair,
    Replies,
    Scenarios,
    buyer_policy,
    model_columns,
    play_models,
    play_pair,
    replay_models,
    replay_pair,
    scenario_seeds,
    sides,
    task_against,
    weights,
)
from sauda.games import BAZAAR
from sauda.llm.model import CACHE, NULL, load_once
from sauda.llm.seller import PERSONAS
from sauda.llm.sources import (
    Played,
    is_same_player,
    model_sources,
    prompt_hashes,
    with_cpus,
)
from sauda.policies import BUYERS
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, ModelSource, Record
from sauda.records.store import ROOT, Artifact, load
from sauda.statistics import (
    TAILS,
    mean_interval,
    name_interval,
    paired_difference,
    resamples,
    wilson_interval,
)

FILE = "tournament.json"
# The untrained base and the buyer after each stage of training; the page serves "mini+distill".
STAGES = ("mini", "mini+sft", "mini+distill", "mini+grpo", "mini+dpo")
ROLES = ("mini+roles-buyer", "mini+roles-seller", "mini+roles-generalist")
SLOW = "belief"  # takes most of the time, so its pairs begin first
ENTERED_BUYERS = (*BUYERS, "pilot", SLOW, *STAGES, *ROLES)
ENTERED_SELLERS = (
    "boulware", "linear", "conceder", "tit_for_tat", "random",
    *SELLER_TYPES,
    *(f"{NULL}:{persona}" for persona in PERSONAS),
    STAGES[0], *ROLES,
)  # fmt: skip
SHOWN = {"10th percentile": 0.1, "median": 0.5, "90th percentile": 0.9}
PENALTY = 1e-3  # on squared strengths: keeps them finite for a player that always does worse
REFITS = 500  # resamples of which each ranking is fitted
Games = Mapping[Pair, Mapping[str, Any]]  # columns by pair
T = TypeVar("T")


class Seats(Record, Generic[T]):
    """A figure of both seats."""

    buyer: T = Field(description="of the buyer")
    seller: T = Field(description="of the seller")


class PairCell(Record):
    """One buyer against one seller: a cell of the matrix."""

    buyer: str = Field(description="name of the buyer")
    seller: str = Field(description="name of the seller")
    n: int = Field(description="scenarios")
    share: Seats[Interval] = Field(description="mean share of the ZOPA; no deal counts 0")
    utility: Seats[Interval] = Field(description="the same with the buyer's cost of time")
    deal_rate: Interval = Field(description="share of scenarios that end in a deal")
    fairness: Interval | None = Field(
        description="1 less the distance of both shares, over deals with a ZOPA; null without one"
    )
    fair_deals: int = Field(description="deals with a ZOPA")
    pareto_distance: Interval = Field(
        description="distance of both utilities from a deal in the first round, with a ZOPA"
    )
    rounds: Interval = Field(description="rounds played")
    refused_rightly: int = Field(description="scenarios without a ZOPA that end without a deal")
    losses: Seats[int] = Field(description="deals below the seat's own limit")
    misstated: Seats[int] = Field(description="agreements stated at another price than agreed")
    invalid: Seats[int] = Field(description="games that the seat forfeits by an invalid move")
    ends: dict[str, int] = Field(description="games by the way they ended")


class PlayerRank(Record):
    """One player among those of its seat."""

    seat: Literal["buyer", "seller", "both"] = Field(
        description="the seat; `both` pools the comparisons of players that take both seats"
    )
    player: str = Field(description="name of the player")
    rank: int = Field(description="1 and the players whose whole interval lies above its own")
    strength: Interval = Field(description="Bradley-Terry log-odds, mean 0 over the players")
    share: Interval = Field(description="mean share of the ZOPA over all opponents")
    utility: Interval = Field(description="mean utility over all opponents")


class Exploited(Record):
    """What the best of the opponents takes from one player."""

    seat: Literal["buyer", "seller"] = Field(description="seat of the player")
    player: str = Field(description="name of the player")
    by: str = Field(description="the opponent that takes most, chosen on other scenarios")
    n: int = Field(description="scenarios of the figures")
    chosen_on: int = Field(description="other scenarios, on which the opponent was chosen")
    taken: Interval = Field(description="mean utility of that opponent against the player")
    usual: Interval = Field(description="the same of all opponents together")
    more: Interval = Field(description="the first less the second, paired by scenario")
    left: Interval = Field(description="mean utility that the player keeps against it")


class VarianceParts(Record):
    """How much of the variance of the matrix of the buyers' mean shares each part explains."""

    buyer: FiniteFloat = Field(description="who buys")
    seller: FiniteFloat = Field(description="who sells")
    interaction: FiniteFloat = Field(description="who meets whom")


class ScenarioColumns(Record):
    """The scenarios, one value each; all pairs play all of them."""

    seed: list[int] = Field(description="hold-out seed")
    list_price: list[int] = Field(description="list price, rupees")
    buyer: list[int] = Field(description="the buyer's limit, rupees")
    seller: list[int] = Field(description="the seller's limit, rupees")
    discount: list[FiniteFloat] = Field(
        description="factor on the buyer's gain for each round after the first"
    )


class PairColumns(Record):
    """The games of one pair, one value per scenario."""

    end: str = Field(description="one letter of `ends` per scenario")
    price: list[int | None] = Field(description="price of the deal in rupees; null without one")
    rounds: list[int] = Field(description="rounds played; 0 after a forfeit")
    misstated: Seats[list[int]] = Field(description="scenarios whose agreement was mis-stated")


class RecordedReply(Record):
    """One reply of a language model in a game."""

    seat: Literal["buyer", "seller"] = Field(description="the model's seat")
    text: str = Field(description="the whole reply")


class Tournament(Record):
    """Every buyer against every seller: the matrix, ranks, and who exploits whom."""

    task: str = Field(description="name of the task")
    ends: dict[str, str] = Field(description="what the letters of the columns `end` mean")
    scenarios: ScenarioColumns = Field(description="what the pairs play for")
    cells: list[PairCell] = Field(description="one entry per pair")
    ranks: list[PlayerRank] = Field(description="one entry per player and seat, strongest first")
    exploitability: list[Exploited] = Field(description="one entry per player and seat")
    variance: VarianceParts = Field(description="what the matrix depends on")
    games: dict[str, dict[str, PairColumns]] = Field(description="columns by buyer and seller")
    replies: dict[str, dict[str, list[list[RecordedReply]]]] = Field(
        description="by buyer and seller, where a language model plays: its replies in the games at"
        " the 10th, 50th and 90th percentile of the buyer's utility"
    )
    models: dict[str, ModelSource] = Field(description="language models, by name")


# The experiment ----------------------------------------------------------------------------------


class Entrants(NamedTuple):
    """Who plays.

    A language model joins by its name: as a buyer "mini+grpo", as a seller of whole moves the same,
    as the wording of a persona "mini:firm".
    """

    buyers: Sequence[str] = ENTERED_BUYERS
    sellers: Sequence[str] = ENTERED_SELLERS

    def pairs(self) -> list[Pair]:
        """Every buyer with every seller; ValueError for a name that cannot take its seat."""
        for names in self:
            if len(set(names)) < max(2, len(names)):
                raise ValueError("a tournament has at least two buyers and two sellers, once each")
        for seller in self.sellers:
            task_against(seller)
        for buyer in self.buyers:
            buyer_policy(buyer)
        return [Pair(*pair) for pair in product(self.buyers, self.sellers)]

    def both(self) -> list[str]:
        """The players that take both seats."""
        return [name for name in self.buyers if name in self.sellers]


def count_scripted(config: Mapping[str, Any], data: Tournament) -> int:
    """Games of all pairs without a language model."""
    models = tuple(data.models)
    return sum(
        cell.n
        for cell in data.cells
        if not (cell.buyer.startswith(models) or cell.seller.startswith(models))
    )


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data computed again for `verify`, scripts by the scalar engine.

    So the batch engine, which recorded most pairs, is checked by the rules themselves. Pairs with a
    language model keep their games, but those with recorded replies are replayed from them.
    """
    entrants, at = _read_entrants(artifact)
    recorded = artifact.data.as_json()
    pairs = entrants.pairs()
    games = play_scripted(pairs, tuple(at.seeds), workers, replay_pair)
    for pair in filter(sides, pairs):
        then = (recorded[of][pair.buyer][pair.seller] for of in ("games", "replies"))
        games[pair] = replay_shown(pair, at, *then)
    kept = {name: recorded[name] for name in ("replies", "models")}
    return summarize(entrants, games, at) | kept


def _read_entrants(artifact: Artifact) -> tuple[Entrants, Scenarios]:
    settings = artifact.settings()
    entrants = Entrants(settings["buyers"], settings["sellers"])
    return entrants, Scenarios.of(scenario_seeds(settings["scenarios"]))


@experiment(
    FILE,
    Tournament,
    version=1,
    tab="Results",
    method="replayed in part",
    checks="scripts replayed by the scalar rules; model rows recomputed from recorded columns; "
    "the first games of each model by --models tournament",
    amount=count_scripted,
    unit="games",
    replay=replay,
    model_hashes=lambda: prompt_hashes(BAZAAR),
    table=lambda data: chain(data["ranks"], data["exploitability"]),
)
def tournament(
    buyers: tuple[str, ...] = ENTERED_BUYERS,
    sellers: tuple[str, ...] = ENTERED_SELLERS,
    scenarios: int = 100,  # hold-out games per pair, about listings that no training game has
    batch: int = 50,  # games of a language model played together
    *,
    workers: int = 2,
    keep: bool = False,  # recorded games of language models that are still the same
    root: Path = ROOT,
    folder: Path = CACHE / "tournament",  # of finished batches of language models
) -> dict[str, Any]:
    """The data of the artifact; ValueError for a name that cannot take its seat."""
    entrants, seeds = Entrants(buyers, sellers), scenario_seeds(scenarios)
    pairs, at = entrants.pairs(), Scenarios.of(seeds)
    recorded = load(FILE, root).data.as_json() if keep else None
    games = play_scripted(pairs, seeds, workers)
    played, rest = enter_models([*filter(sides, pairs)], at, batch, folder, recorded)
    return summarize(entrants, games | played, at) | rest


def play_scripted(
    pairs: Sequence[Pair], seeds: tuple[int, ...], workers: int, play: Any = play_pair
) -> dict[Pair, dict[str, Any]]:
    """The columns of the pairs without a language model, the slow ones first."""
    some = [pair for pair in pairs if not sides(pair)]
    some.sort(key=lambda pair: (pair.buyer != SLOW, pair.seller))
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(play, some, repeat(seeds))
        return dict(zip(some, progress(played, len(some), "playing scripts", "pair"), strict=True))


def enter_models(
    pairs: Sequence[Pair],
    at: Scenarios,
    batch: int,
    folder: Path,
    recorded: Mapping[str, Any] | None = None,
) -> tuple[dict[Pair, Mapping[str, Any]], dict[str, Any]]:
    """The columns of pairs with a language model; `replies` and `models` of the artifact.

    Pairs in `recorded`, the data of an earlier tournament over the same scenarios, keep their games
    where weights, sampling, prompt and parser are still the same. A model whose games were played
    on several kinds of CPU names them all.
    """
    models = model_sources({name for pair in pairs for name in weights(pair)}, BAZAAR)
    games, replies, on = {}, {}, []
    for pair in progress(pairs, len(pairs), "playing models", "pair") if pairs else ():
        kept = recorded is not None and _is_recorded(pair, at, models, recorded)
        if kept:
            games[pair] = recorded["games"][pair.buyer][pair.seller]
            replies[pair] = recorded["replies"][pair.buyer][pair.seller]
        else:
            columns = play_or_read(pair, at.seeds, batch, folder)
            said = columns.pop("replies")
            games[pair] = columns
            replies[pair] = [
                [{"seat": seat, "text": text} for seat, text in said[game.index]]
                for game in choose_shown(columns, at)
            ]
        on += [Played(name, kept, not kept) for name in weights(pair)]
    models = with_cpus(models, recorded["models"] if recorded else {}, on)
    return games, {"replies": _by_seat(replies), "models": models}


def _is_recorded(
    pair: Pair, at: Scenarios, models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> bool:
    """Whether `recorded` has the games of a pair of language models that are still the same."""
    then = recorded["models"]
    return (
        list(at.seeds) == recorded["scenarios"]["seed"]
        and pair.seller in recorded["replies"].get(pair.buyer, ())
        and all(is_same_player(then.get(name), models[name]) for name in weights(pair))
    )


def _by_seat(values: Mapping[Pair, Any]) -> dict[str, dict[str, Any]]:
    """Values of pairs, by buyer and then by seller."""
    found: dict[str, dict[str, Any]] = {}
    for pair, value in values.items():
        found.setdefault(pair.buyer, {})[pair.seller] = value
    return found


def play_or_read(pair: Pair, seeds: Sequence[int], batch: int, folder: Path) -> dict[str, Any]:
    """The columns of a pair with a language model; finished batches are read from `folder`."""
    marks = [version_of(load_once(name)) for name in weights(pair)]
    pieces = in_batches(
        seeds,
        batch,
        folder,
        lambda some: repr((*pair, list(some), *marks)),
        lambda some: play_models(pair, some),
    )
    start = 0
    for piece in pieces:  # the scenarios that a batch lists count from its first
        listed = piece["misstated"].items()
        piece["misstated"] = {seat: [start + i for i in some] for seat, some in listed}
        start += len(piece["end"])
    return join(pieces)


def replay_first_games(artifact: Artifact) -> Iterator[Replayed]:
    """The first batch of every pair with a language model, played again.

    Raises ValueError where no model played.
    """
    entrants, at = _read_entrants(artifact)
    recorded, batch = artifact.data.as_json(), artifact.config["batch"]
    if not (pairs := [*filter(sides, entrants.pairs())]):
        raise ValueError("no language model plays in the recorded tournament")
    at = Scenarios.of(at.seeds[:batch])
    for pair in pairs:
        then = _first_scenarios(recorded["games"][pair.buyer][pair.seller], len(at.seeds))
        now = play_models(pair, at.seeds)
        del now["replies"]
        yield Replayed(
            TASK,
            f"{pair.buyer} against {pair.seller}",
            _with_grade(then, at),
            _with_grade(now, at),
            ", ".join(recorded["models"][name]["cpu"] for name in weights(pair)),
            ", ".join(load_once(name).cpu for name in weights(pair)),
        )


def _first_scenarios(played: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The columns of the first `n` scenarios."""
    stated = {seat: [i for i in some if i < n] for seat, some in played["misstated"].items()}
    return {name: played[name][:n] for name in ("end", "price", "rounds")} | {"misstated": stated}


def _with_grade(played: Mapping[str, Any], at: Scenarios) -> dict[str, Any]:
    """The columns with the buyer's utility as the grade that two runs are compared by."""
    return {**played, "grade": Payoffs.of(played, at).utility["buyer"].tolist()}


# The games that are shown ------------------------------------------------------------------------


class ShownGame(NamedTuple):
    """A game of a pair that the page shows; the replies of a language model in it are recorded."""

    why: str  # a key of SHOWN
    index: int  # of its scenario
    seed: int


def choose_shown(columns: Mapping[str, Any], at: Scenarios) -> list[ShownGame]:
    """The games at percentiles of the buyer's utility, among the scenarios with a ZOPA.

    Of equal utilities the lower seed comes first, so that the choice is the same every time. Empty
    without a ZOPA.
    """
    utility = Payoffs.of(columns, at).utility["buyer"]
    ranked = sorted(at.zopa.nonzero()[0].tolist(), key=lambda i: (utility[i], at.seeds[i]))
    if not ranked:
        return []
    places = {why: ranked[round(part * (len(ranked) - 1))] for why, part in SHOWN.items()}
    return [ShownGame(why, index, at.seeds[index]) for why, index in places.items()]


def replay_shown(
    pair: Pair, at: Scenarios, columns: Mapping[str, Any], replies: Sequence[Replies]
) -> dict[str, Any]:
    """The columns of a pair with its shown games as their replies give them now."""
    games = choose_shown(columns, at)
    plays = replay_models(pair, [game.seed for game in games], replies)
    now = model_columns(task_against(pair.seller), plays)
    indices = [game.index for game in games]
    corrected = {}
    for name in ("end", "price", "rounds"):
        values = list(columns[name])
        for place, value in zip(indices, now[name], strict=True):
            values[place] = value
        corrected[name] = "".join(values) if name == "end" else values
    corrected["misstated"] = {
        seat: sorted(set(listed).difference(indices) | {indices[i] for i in now["misstated"][seat]})
        for seat, listed in columns["misstated"].items()
    }
    return corrected


# Figures of a pair -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Payoffs:
    """What both sides got in n scenarios; every array has shape (n,).

    A share is of the ZOPA, or of the list price where there is none; no deal counts 0. Utility is
    the share with the buyer's cost of time; time costs the seller nothing.
    """

    deal: np.ndarray  # bool
    share: Mapping[str, np.ndarray]  # by seat
    utility: Mapping[str, np.ndarray]  # by seat

    @classmethod
    def of(cls, columns: Mapping[str, Any], at: Scenarios) -> "Payoffs":
        """The payoffs of the games in `columns`."""
        deal = np.array([end == "A" for end in columns["end"]])
        price = np.array([np.nan if price is None else price for price in columns["price"]], float)
        share = {
            "buyer": np.where(deal, (at.buyer - price) / at.width, 0.0),
            "seller": np.where(deal, (price - at.seller) / at.width, 0.0),
        }
        kept = at.discount ** np.maximum(0, np.array(columns["rounds"]) - 1)
        bought = np.where(share["buyer"] > 0, kept, 1.0) * share["buyer"]
        return cls(deal, share, {"buyer": bought, "seller": share["seller"]})


def pareto_distance(buyer: np.ndarray, seller: np.ndarray) -> np.ndarray:
    """The distance of utilities from those of deals in the first round, as shares of the ZOPA.

    The Euclidean distance from the Pareto frontier from (0, 1) to (1, 0): 0 for such a deal,
    1/sqrt(2) for no deal. Both arrays have shape (n,).
    """
    nearest = np.clip((1 + buyer - seller) / 2, 0, 1)
    return np.hypot(buyer - nearest, seller - (1 - nearest))


def cell(pair: Pair, columns: Mapping[str, Any], at: Scenarios) -> dict[str, Any]:
    """The row of the matrix for one pair."""
    won, count = Payoffs.of(columns, at), Counter(columns["end"])
    fair = 1 - abs(won.share["buyer"] - won.share["seller"])[won.deal & at.zopa]
    n, deals = len(won.deal), int(won.deal.sum())
    distance = pareto_distance(*(won.utility[seat][at.zopa] for seat in SEATS))
    return {
        "buyer": pair.buyer,
        "seller": pair.seller,
        "n": n,
        "share": {seat: name_interval(mean_interval(won.share[seat])) for seat in SEATS},
        "utility": {seat: name_interval(mean_interval(won.utility[seat])) for seat in SEATS},
        "deal_rate": name_interval(wilson_interval(deals, n)),
        "fairness": name_interval(mean_interval(fair)) if len(fair) else None,
        "fair_deals": len(fair),
        "pareto_distance": name_interval(mean_interval(distance)),
        "rounds": name_interval(mean_interval(np.array(columns["rounds"], float))),
        "refused_rightly": int((~won.deal & ~at.zopa).sum()),
        "losses": {seat: int((won.share[seat] < 0).sum()) for seat in SEATS},
        "misstated": {seat: len(columns["misstated"][seat]) for seat in SEATS},
        "invalid": {"buyer": count["F"], "seller": count["G"]},
        "ends": {meaning: count[letter] for letter, meaning in ENDS.items()},
    }


# Ranks -------------------------------------------------------------------------------------------


def summarize(entrants: Entrants, games: Games, at: Scenarios) -> dict[str, Any]:
    """The tables of the artifact, all computed from the games."""
    won = {pair: Payoffs.of(played, at) for pair, played in games.items()}

    def grid(figure: str, seat: str) -> np.ndarray:
        """The figure of `seat` in every pair, shape (players of the seat, opponents, n)."""
        rows = [
            [getattr(won[Pair(buyer, seller)], figure)[seat] for seller in entrants.sellers]
            for buyer in entrants.buyers
        ]
        return np.array(rows) if seat == "buyer" else np.array(rows).swapaxes(0, 1)

    utility, share = ({seat: grid(of, seat) for seat in SEATS} for of in ("utility", "share"))
    names = {"buyer": entrants.buyers, "seller": entrants.sellers}
    return {
        "task": TASK,
        "ends": dict(ENDS),
        "scenarios": at.as_json(),
        "cells": [cell(pair, games[pair], at) for pair in entrants.pairs()],
        "ranks": list(_rank_seats(entrants, names, utility, share)),
        "exploitability": [
            row
            for seat, other in (SEATS, SEATS[::-1])
            for row in exploitability(
                seat, names[seat], names[other], utility[seat], utility[other].swapaxes(0, 1)
            )
        ],
        "variance": variance(share["buyer"].mean(axis=2)),
        "games": _by_seat({pair: games[pair] for pair in entrants.pairs()}),
    }


def _rank_seats(
    entrants: Entrants,
    names: Mapping[str, Sequence[str]],
    utility: Mapping[str, np.ndarray],
    share: Mapping[str, np.ndarray],
) -> Iterator[dict[str, Any]]:
    """The ranks of the buyers, of the sellers, and of the players that take both seats."""
    wins = {seat: comparisons(utility[seat]) for seat in SEATS}
    means = {
        seat: {"share": share[seat].mean(axis=1), "utility": utility[seat].mean(axis=1)}
        for seat in SEATS
    }
    for seat in SEATS:
        yield from ranks(seat, names[seat], wins[seat], means[seat])
    both = entrants.both()
    if len(both) < 2:
        return
    at = {seat: [names[seat].index(name) for name in both] for seat in SEATS}
    pooled = sum(wins[seat][:, at[seat]][:, :, at[seat]] for seat in SEATS)
    of_both = {
        figure: sum(means[seat][figure][at[seat]] for seat in SEATS) / len(SEATS)
        for figure in ("share", "utility")
    }
    yield from ranks("both", both, pooled, of_both)


def bradley_terry(
    wins: np.ndarray, penalty: float = PENALTY, start: np.ndarray | None = None
) -> np.ndarray:
    """The strengths of k players as log-odds with mean 0, shape (k,): Bradley and Terry (1952).

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

    Two players are compared in the same seat of the same scenario against the same opponent: who
    gets the higher utility did better. So neither the seat nor the opponent favours a player, and
    no order of seats has to be modelled.

    `utility` has shape (k, opponents, n); ties count half.
    """
    mine, theirs = utility[:, None], utility[None]
    better = ((mine > theirs) + 0.5 * (mine == theirs)).sum(axis=2)
    better[np.diag_indices(len(utility))] = 0
    return np.moveaxis(better, 2, 0)


def ranks(
    seat: str, players: Sequence[str], wins: np.ndarray, figures: Mapping[str, np.ndarray]
) -> list[dict[str, Any]]:
    """One row per player, the strongest first.

    `wins` are `comparisons`, shape (n, k, k); `figures` hold one value per player and scenario,
    shape (k, n), by the name of their column. A player's rank is one more than the number of
    players whose whole interval lies above its own: players whose intervals overlap may share one.
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
            "strength": name_interval((point[i], low[i], high[i])),
            **{
                column: name_interval(mean_interval(values[i]))
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
    """What the best of the opponents takes from each player in `seat`, one row per player.

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
                "taken": name_interval(mean_interval(taken)),
                "usual": name_interval(mean_interval(usual)),
                "more": name_interval(paired_difference(taken, usual)),
                "left": name_interval(mean_interval(utility[i, best, 1::2])),
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
