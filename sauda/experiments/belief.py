"""What the belief buyer's evidence is worth: is the belief calibrated, and do tells and words help?

Calibration: games that a script plays, the belief of each table against the seller that was drawn.
Ablation: the switch of `BeliefBuyer` first has to change what it believes in the same states; only
then are the grades of both compared, in pairs on hold-out seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from pydantic import Field, FiniteFloat

from env import SELLER_TYPES, get_task, rollout
from sauda.experiments.base import experiment
from sauda.experiments.oracle import grades
from sauda.policies import BUYERS
from sauda.policies.belief import belief_buyer, belief_prices, believe
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Record
from sauda.records.seeds import SPLITS
from sauda.statistics import mean_interval, paired_difference, wilson_interval

EVIDENCE: Mapping[str, Mapping[str, bool]] = {
    "prices": {"tells": False, "words": False},
    "prices and tells": {"tells": True, "words": False},
    "prices, tells and words": {"tells": True, "words": True},
}
LEVELS = (0.5, 0.8, 0.9)  # of the central intervals of the floor
BINS = 10  # of the calibration error of the types, of equal width
ENDS = ("mean", "low", "high")


class TypeScores(Record):
    """Scores of a predicted distribution over seller types; 0 is best but for the accuracy."""

    brier: FiniteFloat = Field(description="Brier score")
    log_loss: FiniteFloat = Field(description="mean negative log probability of the true type")
    calibration_error: FiniteFloat = Field(description="expected calibration error, ten bins")
    accuracy: FiniteFloat = Field(
        description="share of beliefs whose likeliest type is the true one"
    )


class _Level(Record):
    level: FiniteFloat = Field(description="nominal level of the interval")


class Coverage(Interval, _Level):
    """How often the true reservation price lies in a central interval of the belief."""


class CalibrationRow(Record):
    """The belief after some rounds, from some evidence."""

    task: str = Field(description="name of the task")
    round: int = Field(description="rounds played when the belief is read")
    evidence: str = Field(description="what the belief may use")
    n: int = Field(description="beliefs read")
    coverage: list[Coverage] = Field(description="one entry per nominal level")
    width: Interval = Field(description="width of the 80 % interval, share of the list price")
    error: Interval = Field(description="absolute error of the median, share of the list price")
    types: TypeScores = Field(description="scores of the believed seller types")


class InputsRow(Record):
    """In how many states tells and words change what the belief buyer believes and does."""

    task: str = Field(description="name of the task")
    games: int = Field(description="games played")
    n: int = Field(description="states compared")
    beliefs: Interval = Field(description="share of states whose belief differs")
    distance: Interval = Field(description="total variation distance of the two beliefs")
    moves: Interval = Field(description="share of states whose move differs")


class OutcomeRow(Record):
    """Grades of the belief buyer with and without tells and words."""

    task: str = Field(description="name of the task")
    n: int = Field(description="holdout seeds")
    belief: Interval = Field(description="mean grade with prices, tells and words")
    belief_prices: Interval = Field(description="mean grade with prices alone")
    difference: Interval = Field(description="the first less the second, paired by seed")


class Belief(Record):
    """Whether the belief buyer's belief is calibrated, and what tells and words add to it."""

    uninformed: TypeScores = Field(description="scores of the uniform distribution")
    calibration: list[CalibrationRow] = Field(description="one row per task, round and evidence")
    inputs: list[InputsRow] = Field(description="one row per task")
    outcomes: list[OutcomeRow] = Field(description="one row per task")


def count_games(config: Mapping[str, Any], data: Belief) -> int:
    """Games of the calibration, and of the buyer with and without tells and words."""
    played = sum(row.games for row in data.inputs) + 2 * sum(row.n for row in data.outcomes)
    return config["episodes"] * len(config["tasks"]) + played


def all_rows(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows of the calibration, of the inputs that the switch changes, and of the grades."""
    return chain(data["calibration"], data["inputs"], data["outcomes"])


@experiment(
    "belief.json",
    Belief,
    version=2,
    tab="Results",
    checks="every belief and every game",
    amount=count_games,
    unit="games",
    table=all_rows,
)
def report(
    episodes: int = 400,  # per task, hold-out seeds: for the calibration and for the grades
    compared: int = 50,  # games per task, whose states are believed and answered both ways
    rounds: tuple[int, ...] = (0, 2, 4, 6),  # moves after which the belief is read
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed"),
    buyer: str = "linear",  # plays the games of the calibration
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the belief artifact; ValueError where the switch changes no belief."""
    seeds = SPLITS["holdout"][:episodes]
    with ProcessPoolExecutor(workers) as pool:
        score = partial(calibration, seeds=seeds, rounds=rounds, buyer=buyer)
        read = pool.map(score, tasks)
        read = progress(read, len(tasks), "scoring beliefs", "task")
        rows = [row for rows in read for row in rows]
        inputs = pool.map(partial(count_changes, seeds=seeds[:compared]), tasks)
        inputs = list(progress(inputs, len(tasks), "comparing beliefs", "task"))
        for row in inputs:
            if not row["beliefs"]["mean"]:
                raise ValueError(f"tells and words change no belief in {row['task']}: no ablation")
        pairs = list(product(tasks, (belief_buyer, belief_prices)))
        won = pool.map(grades, *zip(*pairs, strict=True), [seeds] * len(pairs))
        won = progress(won, len(pairs), "playing both buyers", "cell")
        won = dict(zip(pairs, won, strict=True))
    return {
        "uninformed": _types_scored(
            np.full((1, len(SELLER_TYPES)), 1 / len(SELLER_TYPES)), np.array([0])
        ),
        "calibration": rows,
        "inputs": inputs,
        "outcomes": [
            outcome(name, won[name, belief_buyer], won[name, belief_prices]) for name in tasks
        ],
    }


# Calibration -------------------------------------------------------------------------------------


def calibration(
    task_name: str, seeds: Sequence[int], rounds: Sequence[int], buyer: str
) -> list[dict[str, Any]]:
    """One row a number of rounds and evidence: coverage of the floor, scores of the types."""
    task, names = get_task(task_name), list(SELLER_TYPES)
    cells: dict[tuple[int, str], list] = {}
    tails = [(1 + sign * level) / 2 for level in LEVELS for sign in (-1, 1)]
    for seed in seeds:
        played = rollout(task, BUYERS[buyer], seed)
        stance = played.final.private["seller"]["stance"]
        for turn in played.trajectory("buyer"):
            table = turn.observation.table
            if table.round not in rounds:
                continue
            for name, switches in EVIDENCE.items():
                belief = believe(table, **switches)
                shares = belief.quantile([*tails, 0.5]) / table.item.list_price
                truth = stance.reservation / table.item.list_price
                types = list(belief.types().values())
                read = (shares, truth, types, names.index(stance.type.name))
                cells.setdefault((table.round, name), []).append(read)
    return [
        {"task": task_name, "round": at, "evidence": name, **_score(*_columns(cell))}
        for (at, name), cell in cells.items()
    ]


def _columns(rows: Sequence[tuple]) -> list[np.ndarray]:
    return [np.array(column) for column in zip(*rows, strict=True)]


def _score(
    shares: np.ndarray, truth: np.ndarray, types: np.ndarray, met: np.ndarray
) -> dict[str, Any]:
    """The figures of n beliefs; prices as shares of the list price."""
    low, high = shares[:, 0:-1:2], shares[:, 1:-1:2]
    inside = ((low <= truth[:, None]) & (truth[:, None] <= high)).sum(0)
    n = len(truth)
    return {
        "n": n,
        "coverage": [
            {"level": level, **_interval(wilson_interval(int(hits), n))}
            for level, hits in zip(LEVELS, inside, strict=True)
        ],
        "width": _interval(mean_interval((high - low)[:, LEVELS.index(0.8)])),
        "error": _interval(mean_interval(abs(shares[:, -1] - truth))),
        "types": _types_scored(types, met),
    }


def _types_scored(types: np.ndarray, met: np.ndarray) -> dict[str, float]:
    """Scores of probabilities of shape (n, types): 0 is best, `right` the share named first."""
    hits = np.eye(types.shape[1])[met]
    at = np.minimum((types * BINS).astype(int), BINS - 1)
    gaps = [abs((types - hits)[at == i].sum()) for i in range(BINS)]
    scores = {
        "brier": ((types - hits) ** 2).sum(1).mean(),
        "log_loss": -np.log(np.maximum((types * hits).sum(1), 1e-12)).mean(),
        "calibration_error": sum(gaps) / types.size,
        "accuracy": (types.argmax(1) == met).mean(),
    }
    return {name: round(float(score), 6) for name, score in scores.items()}


# Ablation ----------------------------------------------------------------------------------------


def count_changes(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """In how many states of the belief buyer's own games the switch changes belief and move.

    `distance` is the total variation between both beliefs, over the same sample of sellers.
    """
    task, rng = get_task(task_name), np.random.default_rng(0)  # neither draws
    turns = [t for seed in seeds for t in rollout(task, belief_buyer, seed).trajectory("buyer")]
    distances, moves = [], 0
    for turn in turns:
        both = (belief_buyer, belief_prices)
        full, prices = (buyer.belief(turn.observation).weights for buyer in both)
        distances.append(abs(full - prices).sum() / 2)
        moves += belief_prices(turn.observation, rng) != turn.action
    n = len(turns)
    differ = int((np.array(distances) > 1e-9).sum())
    return {
        "task": task_name,
        "games": len(seeds),
        "n": n,
        "beliefs": _interval(wilson_interval(differ, n)),
        "distance": _interval(mean_interval(np.array(distances))),
        "moves": _interval(wilson_interval(int(moves), n)),
    }


def outcome(task_name: str, full: np.ndarray, prices: np.ndarray) -> dict[str, Any]:
    """Mean grades with and without tells and words, and their paired difference."""
    return {
        "task": task_name,
        "n": len(full),
        "belief": _interval(mean_interval(full)),
        "belief_prices": _interval(mean_interval(prices)),
        "difference": _interval(paired_difference(full, prices)),
    }


def _interval(figures: tuple[float, float, float]) -> dict[str, float]:
    return {name: round(float(x), 6) for name, x in zip(ENDS, figures, strict=True)}
