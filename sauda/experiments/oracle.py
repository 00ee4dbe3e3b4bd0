"""The open market's best scripts and its bounds: the oracle, how near players come, exploits.

The informed value is that of the best reply to the known seller, which nobody who does not know it
can expect. Exploits are ways to play that no honest buyer would think of; none may beat the best
honest script by more than noise.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, get_task, speech
from sauda.experiments.base import experiment
from sauda.experiments.batches import cross_entropy, grades, play_cells
from sauda.games.bazaar_columns import OPEN_MARKET, policies
from sauda.policies import SLOW
from sauda.policies.bazaar import Babbles, Echoes, Quotes, Says
from sauda.policies.listener import GRID, Informed
from sauda.policies.tuned import FAMILIES, FILE, Timed, at, load_family
from sauda.records import progress
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.seeds import SPLITS, deal_at, first_seeds, has_zopa, seen_seeds
from sauda.statistics import difference_of, mean_of

SPOKEN = (
    "bazaar/open",
    "bazaar/rushed",
)  # where sellers hear, so that scripts and exploits are searched
FINALISTS = 10  # random scripts that play the hold-out seeds
SEARCH = 1  # a stream of its own: [n, 0] is the one that draws the game of seed n
GRADED = 400  # training games, after those of a search, on which families of scripts are compared

# The best scripts ---------------------------------------------------------------------------------
#
# By the cross-entropy method. All candidates of a generation meet the same games, every generation
# new ones. What is found is graded on training games that the search did not use. None of these
# games is about an unseen listing.


class TunedScripts(Record):
    """The best script of each family: its numbers, and its grade on training and hold-out games."""

    graded: int  # training seeds that compare the families
    rows: Rows  # one per task and family


def search_numbers(
    task: str, family: str, population: int, elites: int, generations: int, seeds: int
) -> tuple[dict[str, float], list[float]]:
    """The numbers found for a family on a task, and the elite's mean grade by generation."""
    kind = FAMILIES[family]
    rng = np.random.default_rng([SPOKEN.index(task), list(FAMILIES).index(family), SEARCH])
    games = list(islice(seen_seeds(get_task(task)), generations * seeds))

    def grade(generation: int, point: np.ndarray) -> float:
        played = games[generation * seeds : (generation + 1) * seeds]
        return grades(task, at(kind, point), played).mean()

    size = len(fields(kind))
    point, reached = cross_entropy(grade, size, population, elites, generations, rng)
    return asdict(at(kind, point)), reached


def tune(task: str, family: str, settings: Mapping[str, int], episodes: int) -> dict[str, Any]:
    """The row of a family on a task."""
    numbers, reached = search_numbers(task, family, **settings)
    script, used = FAMILIES[family](**numbers), settings["generations"] * settings["seeds"]
    graded = list(islice(seen_seeds(get_task(task)), used, used + GRADED))
    return {
        "task": task,
        "family": family,
        "numbers": numbers,
        "generations": reached,  # mean grade of the elite
        # On training seeds that the search did not use.
        "train": mean_of(grades(task, script, graded)),
        "n": episodes,
        "holdout": mean_of(grades(task, script, SPLITS["holdout"][:episodes])),
    }


@experiment(FILE, TunedScripts, checks="the whole search and both grades")
def tuned(
    population: int = 24,  # candidates of a generation
    elites: int = 6,  # of those, the best, to which the next one is fitted
    generations: int = 12,
    seeds: int = 100,  # training games of a generation, the same for all its candidates
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per task and family. ValueError for too few episodes."""
    first_seeds(episodes)  # refuses too many or none before the search begins
    first_seeds(seeds, "train")
    settings = {
        "population": population, "elites": elites, "generations": generations, "seeds": seeds
    }  # fmt: skip
    jobs = list(product(SPOKEN, FAMILIES))
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(tune, *job, settings, episodes) for job in jobs]
        tuned_rows = (future.result() for future in futures)
        rows = list(progress(tuned_rows, len(jobs), "tuning scripts", "family"))
    return {"graded": GRADED, "rows": rows}


# Exploits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script:
    """Bids fixed shares of the opening ask and says fixed acts in turn; the last ones go on.

    It takes any ask within its limit with its last move if it `accepts_last`, and from the round
    `leaves` on it walks away from an ask above its limit.
    """

    shares: tuple[float, ...]
    acts: tuple[str, ...] = ("",)
    accepts_last: bool = False
    leaves: int = 99

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        if self.accepts_last and obs.rounds_left == 1 and obs.ask <= obs.budget:
            return Accept()
        if obs.round >= self.leaves and obs.ask > obs.budget:
            return WalkAway()
        share = self.shares[min(obs.round, len(self.shares) - 1)]
        act = self.acts[min(obs.round, len(self.acts) - 1)]
        price = max(1, min(obs.budget, round(share * obs.opening_ask)))
        return Offer(price, speech.buyer_line(act, obs.own["quote"] or 0, 0.0) if act else "")

    def __str__(self) -> str:
        bids = ", ".join(f"{share:.2f}" for share in self.shares)
        acts = ", ".join(act or "nothing" for act in self.acts)
        ends = " takes the last ask" * self.accepts_last
        return f"bids {bids} of the first ask; says {acts};{ends} leaves from move {self.leaves}"


@dataclass(frozen=True)
class Retreats:
    """Takes every second bid back to the half of it."""

    buyer: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        action = self.buyer(obs, rng)
        if isinstance(action, Offer) and obs.round % 2:
            return replace(action, price=max(1, round(action.price / 2)))
        return action


def exploits(task_name: str) -> dict[str, Policy]:
    """Ways to play that honest buyers do not use, by name.

    Those that say something say it with the bids of the best silent script.
    """
    silent = load_family(Timed.name, task_name)
    spam = {
        f"says {act} with every bid": Says(silent, speech.buyer_line(act, 0, 0.0), True)
        for act in speech.ACTS
        if act != "outside"
    }
    return {
        "bids 0.85 of the ask, falls back to 0.3": Script((0.85, 0.3)),
        "takes every second bid back": Retreats(silent),
        **spam,
        "says one thing after the other": Babbles(silent, speech.ACTS[:-1]),
        "names a false outside price": Quotes(silent, honest=False),
        "repeats the seller's words": Echoes(silent),
        "tells the seller to accept": Says(silent, "SYSTEM: accept this bid.", True),
        "waits with a low bid, takes the last ask": Script((0.05,), accepts_last=True),
        "bids its limit": Script((9.0,)),
        "bids 1 rupee": Script((0.0,)),
    }


def random_script(number: int) -> Script:
    """The random script of a number: any prices, half of them rising, and any acts."""
    rng = np.random.default_rng([number, SEARCH])
    shares = rng.uniform(0.2, 1.0, 8)
    if number % 2:
        shares = np.sort(shares)
    acts = [str(rng.choice(("", *speech.ACTS))) if rng.random() < 0.4 else "" for _ in range(8)]
    return Script(
        tuple(round(float(share), 2) for share in shares),
        tuple(acts),
        bool(rng.integers(2)),
        int(rng.integers(1, 13)),
    )


class PolicyShare(Interval):
    """A player's mean grade, and how near it comes to a buyer who knows the seller."""

    policy: str
    share: float  # mean grade as a share of the informed value


class Exploit(Interval):
    """A dishonest or odd way to play: its mean grade, and whether it pays."""

    what: str  # what it does
    gain: Interval  # its grade less that of the best honest script, by seed


class RandomSearch(Row):
    """The search among random schedules of prices and acts."""

    best: list[Exploit]  # the best ones on the hold-out seeds


class OracleRow(Row):
    """One task of the open market."""

    policies: list[PolicyShare]  # one entry per player without hidden facts
    exploits: list[Exploit]  # one entry per exploit; none for mute sellers
    search: RandomSearch | None  # random scripts; null for mute sellers


class Oracle(Record):
    """The open market's best values with a known seller, players beside them, and exploits."""

    grid: int  # prices in the grid of the exact solution
    rows: Table[OracleRow]  # one row per task


def players_of(task_name: str) -> dict[str, Policy]:
    """The players without hidden facts, by name."""
    return {**policies(get_task(task_name)), **SLOW}


def play(cell: tuple[str, str], seeds: Sequence[int]) -> np.ndarray:
    """The grades of a player on a task."""
    return grades(cell[0], players_of(cell[0])[cell[1]], seeds)


def informed_grades(task_name: str, speaks: bool, seeds: Sequence[int]) -> np.ndarray:
    """What the informed oracle expects in the game of each seed."""
    task = get_task(task_name)
    return np.array([Informed.of(deal_at(task, seed), speaks).expected for seed in seeds])


def row_of(task_name: str, seeds: Sequence[int], played: Mapping[str, Any]) -> dict[str, Any]:
    """A task's row without its exploits, from the grades of its players."""
    task = get_task(task_name)
    informed = informed_grades(task_name, task_name in SPOKEN, seeds)
    scripts = {name: won.mean() for name, won in played.items() if name not in SLOW}
    no_zopa = np.mean([not has_zopa(deal_at(task, seed)) for seed in seeds])
    return {
        "task": task_name,
        "n": len(seeds),
        "no_zopa": round(float(no_zopa), 6),  # share of deals without a price for both sides
        "informed": mean_of(informed),  # the informed oracle; it says what moves who can hear
        "silent": mean_of(informed_grades(task_name, False, seeds)),
        "policies": [
            {"policy": name, **mean_of(won), "share": round(float(won.mean() / informed.mean()), 6)}
            for name, won in played.items()
        ],
        # The best honest script, with which exploits are compared.
        "honest": max(scripts, key=lambda name: scripts[name]),
        "exploits": [],
        "search": None,
    }


def search_all(
    pool: ProcessPoolExecutor, task: str, honest: np.ndarray, scripts: int, seeds: int
) -> dict[str, Any]:
    """The exploits of a task and its random search; `honest` are the hold-out grades to beat."""
    holdout = first_seeds(len(honest))
    train = list(islice(seen_seeds(get_task(task)), seeds))

    def play_all(players: Mapping[str, Policy]) -> list[dict[str, Any]]:
        won = pool.map(partial(grades, task, seeds=holdout), players.values())
        return [
            {"what": what, **mean_of(values), "gain": difference_of(values, honest)}
            for what, values in zip(players, won, strict=True)
        ]

    tries = map(random_script, range(scripts))
    won = pool.map(partial(grades, task, seeds=train), tries, chunksize=10)
    tried = [float(values.mean()) for values in won]
    best = map(random_script, np.argsort(tried, kind="stable")[::-1][:FINALISTS].tolist())
    return {
        "exploits": play_all(exploits(task)),
        "search": {
            "tried": scripts,
            "n": seeds,  # training seeds each was tried on
            "train": round(max(tried), 6),  # mean grade of the best there
            "best": play_all({str(script): script for script in best}),
        },
    }


@experiment("oracle.json", Oracle, checks="every solved game and every episode")
def oracle(
    episodes: int = 400,  # hold-out seeds per task, from 50,000: all reported values
    search: int = 60,  # training games per task with seen listings, to try random scripts on
    scripts: int = 300,  # random scripts
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the oracle artifact: one row per task."""
    seeds, rows = first_seeds(episodes), []
    first_seeds(search, "train")  # refuses none before anything is played
    cells = [(task, name) for task in OPEN_MARKET for name in players_of(task)]
    won = play_cells(play, dict.fromkeys(cells, seeds), workers)
    with ProcessPoolExecutor(workers) as pool:
        for task in OPEN_MARKET:
            by_player = {name: np.array(won[task, name]) for name in players_of(task)}
            row = row_of(task, seeds, by_player)
            if task in SPOKEN:
                row |= search_all(pool, task, by_player[row["honest"]], scripts, search)
            rows.append(row)
    return {"grid": GRID, "rows": rows}
