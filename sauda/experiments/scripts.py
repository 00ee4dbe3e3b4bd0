"""What odd scripts make of the market, and the search for the numbers of honest ones.

Exploits are ways to play that no honest buyer would think of; none may beat the best honest script
by more than noise.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, corpus, get_task, speech
from sauda.experiments.base import experiment
from sauda.played import grades
from sauda.policies.bazaar import Babbles, Echoes, Lies, Says
from sauda.policies.listener import Informed, line_of
from sauda.policies.ruled import Ruled
from sauda.policies.tuned import RULE, THIRD, load_best
from sauda.records.schemas.base import Interval, Record, Row, Table
from sauda.records.seeds import deal_at, first_seeds, seen_seeds
from sauda.records.store import ROOT, load
from sauda.statistics import difference_of, mean_of

FINALISTS = 10  # random scripts that play the hold-out seeds
SEARCH = 1  # a stream of its own: [n, 0] is the one that draws the game of seed n


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
    return Informed.of(deal_at(get_task(THIRD), seed)).solution.gain_of_retreat
