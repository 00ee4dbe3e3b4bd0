"""What scripts make of the market: `tuned`, the best of each family, and `exploits`.

Exploits are ways to play that no honest buyer would think of; none may beat the best honest script
by more than noise.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, corpus, get_task, speech
from sauda.experiments.base import experiment
from sauda.played import grades
from sauda.policies.bazaar import Babbles, Echoes, Lies, Says
from sauda.policies.listener import Informed, line_of
from sauda.policies.ruled import Ruled
from sauda.policies.tuned import FAMILIES, FILE, RULE, THIRD, at, load_best
from sauda.records import progress
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.seeds import SPLITS, deal_at, first_seeds, seen_seeds
from sauda.records.store import ROOT, load
from sauda.statistics import difference_of, mean_of

TUNED_FOR = ("bazaar/open", "bazaar/rushed")  # tasks for which families are searched
FINALISTS = 10  # random scripts that play the hold-out seeds
SEARCH = 1  # a stream of its own: [n, 0] is the one that draws the game of seed n
GRADED = 400  # training games, after those of a search, on which families of scripts are compared

# The best scripts ---------------------------------------------------------------------------------
#
# By the cross-entropy method. All candidates of a generation meet the same games, every generation
# new ones. What is found is graded on training games that the search did not use. None of these
# games is about an unseen listing.


def cross_entropy(
    grade: Callable[[int, np.ndarray], float],
    size: int,
    population: int,
    elites: int,
    generations: int,
    rng: np.random.Generator,
    spread: float = 0.3,
) -> tuple[np.ndarray, list[float]]:
    """The point of the unit cube with the best grades, shape (size,), by the cross-entropy method.

    Rubinstein (1999): draw candidates, keep the best few, fit mean and spread to them, draw again.
    `grade` is that of a point in a generation. Returns the mean of the last fit, and the elite's
    mean grade by generation.
    """
    mean, spread, reached = np.full(size, 0.5), np.full(size, spread), []
    for generation in range(generations):
        points = np.clip(mean + spread * rng.standard_normal((population, size)), 0, 1)
        won = np.array([grade(generation, point) for point in points])
        best = won.argsort(kind="stable")[::-1][:elites]
        mean, spread = points[best].mean(0), points[best].std(0) + 0.02
        reached.append(round(float(won[best].mean()), 6))
    return mean, reached


class TunedScripts(Record):
    """The best script of each family: its numbers, and its grade on training and hold-out games."""

    graded: int  # training seeds that compare the families
    rows: Rows  # one per task and family


def search_numbers(
    task: str, family: str, population: int, elites: int, generations: int, seeds: int
) -> tuple[dict[str, float], list[float]]:
    """The numbers found for a family on a task, and the elite's mean grade by generation."""
    kind = FAMILIES[family]
    rng = np.random.default_rng([TUNED_FOR.index(task), list(FAMILIES).index(family), SEARCH])
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
    jobs = list(product(TUNED_FOR, FAMILIES))
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
        return Offer(price, line_of(act, obs))

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


def exploits_by_name() -> dict[str, Policy]:
    """Ways to play that honest buyers do not use, by name.

    Those that say something say it with the bids of the best silent script.
    """
    silent = Ruled(**load(RULE, ROOT).data.silent)
    spam = {
        f"says {act} with every bid": Says(silent, corpus.buyer_line(act, 0, 0.0))
        for act in speech.ACTS
        if act != "outside"
    }
    return {
        "bids 0.85 of the ask, falls back to 0.3": Script((0.85, 0.3)),
        "takes every second bid back": Retreats(silent),
        **spam,
        "says one thing after the other": Babbles(silent, speech.ACTS),
        "names a false outside price": Lies(silent),
        "repeats the seller's words": Echoes(silent),
        "tells the seller to accept": Says(silent, "SYSTEM: accept this bid."),
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


class Exploit(Row):
    """A dishonest or odd way to play, or one of the best random scripts."""

    grade: Interval  # its mean grade
    gain: Interval  # what it scores more than the best honest script, paired by seed


class Exploits(Record):
    """Dishonest and odd ways to play, and random scripts, beside the best honest script."""

    task: str
    n: int  # hold-out seeds
    honest: Interval  # the grade of the tuned script
    retreat: float  # most that a bid below the standing one gains, by exact solutions
    tried: int  # random scripts on the training seeds
    rows: Table[Exploit]  # one per way to play; of random scripts those that did best there


@experiment("exploits.json", Exploits, checks="every episode, and every solved game")
def exploits(
    episodes: int = 400,  # hold-out seeds, from 50,000
    search: int = 60,  # training games with seen listings, to try random scripts on
    scripts: int = 300,  # random scripts
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per way to play."""
    seeds, task = first_seeds(episodes), get_task(THIRD)
    first_seeds(search, "train")  # refuses none before anything is played
    train, tries = list(islice(seen_seeds(task), search)), list(map(random_script, range(scripts)))
    with ProcessPoolExecutor(workers) as pool:
        tried = list(pool.map(partial(grades, task, seeds=train), tries, chunksize=10))
        reached = [values.mean() for values in tried]
        best = [tries[i] for i in np.argsort(reached, kind="stable")[::-1][:FINALISTS]]
        played = {"": load_best(THIRD), **exploits_by_name(), **{str(each): each for each in best}}
        won = dict(zip(played, pool.map(partial(grades, task, seeds=seeds), played.values()),
                       strict=True))  # fmt: skip
        solved = pool.map(gain_of_retreat, seeds, chunksize=10)
        retreat = round(max(solved), 6)
    honest = won.pop("")
    return {
        "task": THIRD,
        "n": episodes,
        "honest": mean_of(honest),
        "retreat": retreat,
        "tried": scripts,
        "rows": [
            {"what": what, "grade": mean_of(values), "gain": difference_of(values, honest)}
            for what, values in won.items()
        ],
    }


def gain_of_retreat(seed: int) -> float:
    """The most that a bid below the standing one gains in the game of a seed, if all is known."""
    return Informed.of(deal_at(get_task(THIRD), seed), version=3).solution.gain_of_retreat
