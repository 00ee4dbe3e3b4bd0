"""What odd scripts make of the market, and the search for the numbers of honest ones.

Exploits are ways to play that no honest buyer would think of. None may beat the planner that reads
and speaks, and none may gain by words that mean nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import env
from sauda.experiments.base import experiment
from sauda.played import grades, play_cells
from sauda.policies.bazaar import Says, leave, random
from sauda.policies.listener import line_of
from sauda.policies.ruled import Ruled
from sauda.policies.tuned import PEOPLE, RULE, THIRD, load_best
from sauda.records import read_table
from sauda.records.seeds import SPLITS, first_seeds
from sauda.records.store import ROOT, load
from sauda.statistics import difference_of, mean_of


def cross_entropy(
    task: env.Task,
    policy: Callable[[np.ndarray], env.Policy],
    size: int,
    population: int,
    elites: int,
    generations: int,
    games: int,
    rng: np.random.Generator,
    spread: float = 0.3,
) -> np.ndarray:
    """The point of the unit cube with the best grades, shape (size,), by the cross-entropy method.

    Rubinstein (1999): draw candidates, keep the best few, fit mean and spread to them, draw again;
    the mean of the last fit is the result. `policy` is that of a point. All candidates of a
    generation play the same `games` training games.
    """
    mean, spread = np.full(size, 0.5), np.full(size, spread)
    for generation in range(generations):
        seeds = SPLITS["train"][generation * games : (generation + 1) * games]
        points = np.clip(mean + spread * rng.standard_normal((population, size)), 0, 1)
        won = np.array([grades(task, policy(point), seeds).mean() for point in points])
        best = won.argsort(kind="stable")[::-1][:elites]
        mean, spread = points[best].mean(0), points[best].std(0) + 0.02
    return mean


# Exploits -----------------------------------------------------------------------------------------
#
# The planner is slow, so its grades are those that `worth` recorded, of the same seeds.

PLANNER = "both"  # in worth.json, the planner that reads and speaks
Text = Callable[[env.Observation], str]


@dataclass(frozen=True)
class Bids:
    """Bids `price` within its limit, and takes an ask of that or, if it `takes_last`, the last."""

    price: Callable[[env.Observation], float]
    takes_last: bool = False

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> env.Offer | env.Accept:
        price = max(1, min(obs.budget, round(self.price(obs))))
        last = self.takes_last and obs.rounds_left == 1 and obs.ask <= obs.budget
        return env.Accept() if last or price == obs.ask else env.Offer(price)


@dataclass(frozen=True)
class Packs:
    """Bids as a buyer of the bare thing does, but for packages in turn.

    A package names its extras by rank, 0 for the one that is worth most to the buyer; it adds
    `share` of what they are worth: with 1, all packages are worth the same to it.
    """

    buyer: env.Policy
    packages: Sequence[Sequence[int]]
    share: float = 1.0

    def __call__(
        self, obs: env.Observation, rng: np.random.Generator
    ) -> env.Offer | env.Accept | env.WalkAway:
        values = obs.own["values"]
        ranked = sorted(values, key=lambda name: -values[name])
        chosen = frozenset(ranked[at] for at in self.packages[obs.round % len(self.packages)])
        paid = {name: round(self.share * value) for name, value in values.items()}
        action = self.buyer(replace(obs, table=env.count_bids(obs.table, paid)), rng)
        if not isinstance(action, env.Offer):
            return action
        price = min(action.price + env.amount_of(chosen, paid), obs.own["purse"])
        return replace(action, price=price, extras=chosen)


@dataclass(frozen=True)
class Retreats:
    """Takes every second bid back to the half of it."""

    buyer: env.Policy

    def __call__(
        self, obs: env.Observation, rng: np.random.Generator
    ) -> env.Offer | env.Accept | env.WalkAway:
        action = self.buyer(obs, rng)
        if isinstance(action, env.Offer) and obs.round % 2:
            return replace(action, price=max(1, round(action.price / 2)))
        return action


def of_ask(*shares: float) -> Callable[[env.Observation], float]:
    """These shares of the first ask, one per bid; the last one goes on."""
    return lambda obs: shares[min(obs.round, len(shares) - 1)] * obs.opening_ask


MOVES: Mapping[str, env.Policy] = {  # in silence
    "bids 1 rupee": Bids(lambda obs: 1),
    "bids its limit": Bids(lambda obs: obs.budget),
    "takes the first ask within its limit": Bids(lambda obs: obs.ask),
    "bids 1 rupee less than the ask": Bids(lambda obs: obs.ask - 1),
    "bids 0.85 of the ask, falls back to 0.3": Bids(of_ask(0.85, 0.3)),
    "bids 0.3 of the ask, then 0.75": Bids(of_ask(0.3, 0.75)),
    "sits on half the ask": Bids(of_ask(0.5)),
    "sits on half the ask, takes the last one": Bids(of_ask(0.5), takes_last=True),
    "sits on 0.7 of the ask": Bids(of_ask(0.7)),
    "waits with a low bid, takes the last ask": Bids(of_ask(0.05), takes_last=True),
    "bids half the ask, in the end its limit": Bids(
        lambda obs: obs.budget if obs.rounds_left == 1 else obs.opening_ask / 2
    ),
    "adds 1 rupee to half the ask each time": Bids(lambda obs: obs.opening_ask / 2 + obs.round),
    "bids 0.4 and 0.7 of the ask in turn": Bids(
        lambda obs: (0.4, 0.7)[obs.round % 2] * obs.opening_ask
    ),
    "bids the half of each ask": Bids(lambda obs: obs.ask / 2),
    "moves at random": random,
    "leaves at once": leave,
}
EVERY, EACH = ((0, 1, 2),), ((0,), (1,), (2,))
PACKAGES: Mapping[str, tuple[Sequence[Sequence[int]], float]] = {  # in silence: in turn, share paid
    "always the dearest package": (EVERY, 1.0),
    "all extras for half their worth": (EVERY, 0.5),
    "all extras for nothing": (EVERY, 0.0),
    "always the extra that it values most": (EACH[:1], 1.0),
    "the extra that it values most for nothing": (EACH[:1], 0.0),
    "always the extra that it values least": (EACH[2:], 1.0),
    "equal offers: each extra in turn": (EACH, 1.0),
    "equal offers: each extra twice in turn": ([each for each in EACH for _ in range(2)], 1.0),
    "equal offers: the two dearest extras in turn": (EACH[:2], 1.0),
    "equal offers: each pair in turn": (((0, 1), (0, 2), (1, 2)), 1.0),
    "equal offers: nothing and all in turn": (((), *EVERY), 1.0),
    "equal offers: all eight packages in turn": (
        [each for size in range(4) for each in combinations(range(3), size)], 1.0
    ),
    "another extra for nothing with every bid": (EACH, 0.0),
    "another extra for half its worth with every bid": (EACH, 0.5),
    "adds an extra with every bid": (((), (0,), (0, 1), *9 * EVERY), 1.0),
    "drops an extra with every bid": ((*EVERY, (0, 1), (0,), *9 * ((),)), 1.0),
    "asks for all extras for nothing, then for none": ((*EVERY, *11 * ((),)), 0.0),
}  # fmt: skip
NOISE: Mapping[str, str | Text] = {  # words that are no honest act; with the best silent bids
    "names a false outside price": lambda obs: (
        ""
        if obs.round
        else env.corpus.buyer_line("outside", round(0.6 * obs.table.item.list_price), 0)
    ),
    "names a lower outside price with every bid": lambda obs: env.corpus.buyer_line(
        "outside", round(0.9 ** (obs.round + 1) * obs.table.item.list_price), 0
    ),
    "repeats the seller's words": lambda obs: obs.table.moves[-1].action.message,
    "repeats the seller's first words": lambda obs: obs.table.moves[0].action.message,
    **{
        row["what"]: row["text"] * int(row["times"])
        for row in read_table(Path(__file__).with_name("noise.csv"))
    },
}


def acts_of(acts: Sequence[str]) -> dict[str, str | Text]:
    """Fixed phrases that sellers hear as acts, said whatever the seller says."""

    def once(*each: str) -> Text:
        """One act with each of the first bids, "" for none."""
        return lambda obs: line_of(dict(enumerate(each)).get(obs.round, ""), obs)

    return {
        **{f"says {act} with every bid": partial(line_of, act) for act in acts},
        **{f"says {act} with the first bid": once(act) for act in env.speech.PITCHES},
        "says cash with the third bid": once("", "", "cash"),
        "says tea, then cash with the third bid": once("tea", "", "cash"),
        "makes each pitch once": once(*env.speech.PITCHES),
        "asks each question once": once(*(act for act in acts if act.startswith("ask"))),
        "says one act after the other": lambda obs: line_of(acts[obs.round % len(acts)], obs),
        "says all acts in one line": lambda obs: " ".join(line_of(act, obs) for act in acts),
    }


class Odd(NamedTuple):
    """An odd way to play."""

    policy: env.Policy
    speaks: bool = False
    means: bool = False  # its words are acts, and no noise


SILENT = ""  # the name of the best silent script, with whose bids words are said
ODD_TASKS = (THIRD, PEOPLE, "bazaar/package")


@cache
def odd_policies(task: str) -> Mapping[str, Odd]:
    """Ways to play a task that no honest buyer would think of, by name, and its silent script."""
    bare = load_best(task) if task == PEOPLE else Ruled(**load(RULE, ROOT).data.silent)
    has_extras = bool(env.get_task(task).env.extras)
    silent = Packs(bare, EACH[:1]) if has_extras else bare
    acts = acts_of(env.ear.ACTS if has_extras else env.speech.ACTS)
    moves = {**MOVES, "takes every second bid back": Retreats(silent)}
    if has_extras:
        moves |= {name: Packs(bare, *how) for name, how in PACKAGES.items()}
    return {
        SILENT: Odd(silent),
        **{name: Odd(policy) for name, policy in moves.items()},
        **{name: Odd(Says(silent, text), True, True) for name, text in acts.items()},
        **{name: Odd(Says(silent, text), True) for name, text in NOISE.items()},
    }


def play_odd(cell: tuple[str, str], seeds: Sequence[int]) -> list[float]:
    """The grades of an odd way to play a task, one per seed."""
    task, what = cell
    return grades(task, odd_policies(task)[what].policy, seeds).tolist()


@experiment("exploits.json")
def exploits(
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
    root: Path = ROOT,
) -> dict[str, Any]:
    """The data of the artifact: one row per task and way to play."""
    seeds = first_seeds(episodes)
    cells = [(task, what) for task in ODD_TASKS for what in odd_policies(task)]
    played = play_cells(play_odd, dict.fromkeys(cells, seeds), workers)
    won = {cell: np.array(values) for cell, values in played.items()}
    planner = {
        f"bazaar/{row.market}": np.array(row.grades[:episodes])
        for row in load("worth.json", root).data.played
        if row.player == PLANNER
    }
    rows = [
        {
            "task": task,
            "what": what,
            "means": odd.means,
            "grade": mean_of(won[task, what]),
            "gain": difference_of(won[task, what], planner[task]),
            "words": difference_of(won[task, what], won[task, SILENT]) if odd.speaks else None,
        }
        for task in ODD_TASKS
        for what, odd in odd_policies(task).items()
        if what != SILENT
    ]
    return {"n": episodes, "rows": rows}
