"""Evaluates policies on tasks and seeds of either game; the artifact holds every episode.

The game's adapter says what is recorded of an episode and which figures a row has; see
`sauda/games/*_columns.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from env import Task, get_task, rollout
from sauda.evaluation.models.config import ORACLE
from sauda.games import game_of
from sauda.games.adapter import Columns, Evaluated, Game, Reply, Worlds
from sauda.llm.registry import get_policy, is_model, player_spec
from sauda.llm.turn import ModelSeat
from sauda.policies.best_response import informed_policy
from sauda.records import fingerprint
from sauda.records.progress import progress
from sauda.records.schemas.arena import ArenaRow
from sauda.records.schemas.evaluation import Row
from sauda.records.seeds import SPLITS
from sauda.statistics import paired_difference, summary


class Cell(NamedTuple):
    """One entry of an evaluation: the policies in the other seats, the task, and the policy."""

    others: str  # as the game's `against` takes it
    task: str
    policy: str


PlayCell = Callable[[str, str, str, Sequence[int]], dict[str, Any]]  # a cell over seeds


@dataclass(frozen=True)
class Config:
    """What to evaluate: tasks of one game; the defaults are the bazaar's."""

    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    split: str = "train"
    episodes: int = 1000  # a policy and task; gives intervals near 2 % of the mean
    baseline: str = "rule_based"  # of the paired differences

    def seeds(self) -> range:
        """The first `episodes` seeds of the split; ValueError where it has fewer."""
        if self.split not in SPLITS:
            raise ValueError(f"no split {self.split!r}; splits are {', '.join(SPLITS)}")
        pool = SPLITS[self.split]
        if not 1 <= self.episodes <= len(pool):
            raise ValueError(f"episodes must be from 1 to {len(pool):,}, not {self.episodes:,}")
        return pool[: self.episodes]

    def game(self) -> Game:
        """The game of all tasks; ValueError where they are of several."""
        games = {game_of(name).name: game_of(name) for name in self.tasks}
        if len(games) > 1:
            raise ValueError(
                f"the {' is evaluated apart from the '.join(sorted(games))}; "
                "name tasks of one of them"
            )
        return next(iter(games.values()))

    def cells(self, others: Sequence[str]) -> list[Cell]:
        """Every cell, in the order of the rows; `others` names who sits in the other seats."""
        return [Cell(*cell) for cell in product(others, self.tasks, self.policies)]

    def check(self) -> None:
        """Raise ValueError for a name that does not exist or a baseline that is not evaluated."""
        self.game()
        for task_name, policy_name in product(self.tasks, self.policies):
            get_policy(get_task(task_name), policy_name)
        if self.baseline not in self.policies:
            raise ValueError(
                f"the baseline {self.baseline!r} must be one of the policies that are evaluated: "
                f"{', '.join(self.policies)}"
            )


def play_cell(
    others: str, task_name: str, policy_name: str, seeds: Sequence[int]
) -> dict[str, Any]:
    """One cell over `seeds` as columns, through the fastest engine that plays it."""
    if not others:
        columns = game_of(task_name).table.batch_columns(task_name, policy_name, seeds)
        if columns is not None:
            return columns
    return replay_cell(others, task_name, policy_name, seeds)


def replay_cell(
    others: str, task_name: str, policy_name: str, seeds: Sequence[int]
) -> dict[str, Any]:
    """The same columns, an episode at a time."""
    game = game_of(task_name)
    task = game.against(get_task(task_name), others)
    learner = get_policy(task, policy_name)
    return game.table.episode_columns(task, [rollout(task, learner, seed) for seed in seeds])


def evaluate(
    config: Config,
    others: Sequence[str] | None = None,
    workers: int = 2,
    play: PlayCell = play_cell,
) -> dict[str, Any]:
    """The data of an evaluation artifact: rows and further tables, and the episodes under them.

    `others` names who sits in the other seats; by default those that the game has for the split.
    """
    others = seated_others(config, others)
    game, seeds, cells = config.game(), config.seeds(), config.cells(others)
    with ProcessPoolExecutor(workers) as pool:
        worlds = _in_pool(pool, game.table.worlds, config.tasks, seeds, "measuring worlds", "task")
        worlds = dict(zip(config.tasks, worlds, strict=True))
        played = pool.map(play, *zip(*cells, strict=True), [seeds] * len(cells))
        columns = progress(played, len(cells), "playing", "cell")
        columns = dict(zip(cells, columns, strict=True))
    return tabulated(config, others, worlds, columns)


def seated_others(config: Config, others: Sequence[str] | None = None) -> Sequence[str]:
    """Who sits in the other seats: `others`, by default those that the game has for the split.

    Raises ValueError for settings that cannot be evaluated, and for others that cannot be seated.
    """
    config.check()
    game = config.game()
    others = game.others[config.split] if others is None else others
    for name in others:
        game.against(get_task(config.tasks[0]), name)
    return others


def tabulated(
    config: Config,
    others: Sequence[str],
    worlds: Mapping[str, Worlds],
    columns: Mapping[Cell, Columns],
) -> dict[str, Any]:
    """The data of an evaluation artifact, computed from its worlds by task and its columns."""
    game, cells = config.game(), config.cells(others)
    rows = [row(cell, columns, worlds[cell.task], config.baseline) for cell in cells]
    evaluated = Evaluated(
        others, config.tasks, config.policies, config.seeds(), columns, worlds, get_policy
    )
    by_others = {
        o: {t: {p: columns[o, t, p] for p in config.policies} for t in config.tasks} for o in others
    }
    episodes = by_others if game.names_others else by_others[others[0]]
    tables = game.table.tables(evaluated)
    return {"ends": dict(game.table.ends), "rows": rows, **tables, "episodes": episodes}


def _in_pool(
    pool: ProcessPoolExecutor,
    function: Callable[[str, Sequence[int]], Any],
    names: Sequence[str],
    seeds: Sequence[int],
    doing: str,
    unit: str,
) -> Iterable[Any]:
    """`function` of each name and the seeds, in order, with a progress bar."""
    return progress(pool.map(function, names, [seeds] * len(names)), len(names), doing, unit)


def row(
    cell: Cell,
    columns: Mapping[Cell, Columns],
    worlds: Worlds,
    baseline: str,
) -> dict[str, Any]:
    """The figures of one cell, all computed from the recorded columns."""
    game, task = game_of(cell.task), get_task(cell.task)
    own, base = columns[cell], columns.get(cell._replace(policy=baseline))
    count = Counter(own["end"])
    return {
        **({"others": cell.others} if game.names_others else {}),
        "task": cell.task,
        "policy": cell.policy,
        "n": len(own["grade"]),
        **{metric: measured(own, base, metric) for metric in game.table.metrics},
        **game.table.figures(task, own, worlds),
        "ends": {meaning: count[letter] for letter, meaning in game.table.ends.items()},
        "hashes": hashes(cell),
    }


def hashes(cell: Cell) -> dict[str, str]:
    """The fingerprints of what a cell is played with."""
    return {
        "task": task_hash(cell.task),
        "opponents": opponents_hash(cell.task, cell.others),
        "policy": policy_hash(cell.task, cell.policy),
    }


@cache  # it plays games, and many rows share it
def task_hash(task_name: str) -> str:
    """The fingerprint of a task's rules and grade."""
    return fingerprint.of_rules(get_task(task_name))


@cache
def opponents_hash(task_name: str, others: str = "") -> str:
    """The fingerprint of the policies in a task's other seats, chosen by `others`."""
    return fingerprint.of_opponents(game_of(task_name).against(get_task(task_name), others))


@cache
def policy_hash(task_name: str, policy_name: str) -> str:
    """The fingerprint of a policy by name; of a language model that of its seat alone.

    Weights are left out: their digest, precision and sampling are recorded beside it.
    """
    task = get_task(task_name)
    if is_model(policy_name):
        player, game = player_spec(policy_name), game_of(task)
        asked = seat_hash(task, player.seat(game))
        played = "" if player.weights else fingerprint.of_policy(task, player.policy(game))
        return fingerprint.fingerprint([asked, played])
    if policy_name == ORACLE:
        played = [rollout(task, informed_policy(task, s), s) for s in fingerprint.FEW]
        return fingerprint.of_turns(task, played)
    return fingerprint.of_policy(task, get_policy(task, policy_name))


def seat_hash(task: Task, seat: ModelSeat) -> str:
    """The fingerprint of a model's seat: what it is asked, and what its replies amount to."""
    seen = fingerprint.positions(task)
    requests = [seat.request(obs, 0, ()) for obs in seen]

    def act(text: str, obs: Any) -> Any:
        action = seat.parse(obs, Reply(text, ""), ()).action
        return type(action).__name__, action

    asked = [(request.messages, request.schema) for request in requests]
    return fingerprint.fingerprint([asked, fingerprint.of_parser(act, seen)])


def measured(columns: Columns, base: Columns | None, metric: str) -> dict[str, Any]:
    """Summary of one metric over episodes, and its paired difference to the baseline."""
    values = per_episode(columns, metric)
    figures = asdict(summary(values))
    if base is not None:
        names = ("difference", "difference_low", "difference_high")
        figures |= zip(names, paired_difference(values, per_episode(base, metric)), strict=True)
    return {name: round(value, 6) for name, value in figures.items()}


def per_episode(columns: Columns, metric: str) -> np.ndarray:
    """One value an episode, shape (n,): the metric itself, or its mean over the episode's deals."""
    values = np.asarray(columns[metric], dtype=float)
    return values.reshape(len(columns["grade"]), -1).mean(axis=1)


def compare(row: Row | ArenaRow, other: Row | ArenaRow, metric: str) -> float:
    """Difference of two rows' means; raises ValueError where task or opponents differ.

    Raises ValueError naming both fingerprints where the task or its opponents differ.
    """
    for part in ("task", "opponents"):
        a, b = getattr(row.hashes, part), getattr(other.hashes, part)
        if a != b:
            raise ValueError(
                f"{row.policy} and {other.policy} did not play the same game: "
                f"the {part} fingerprint of {row.task} is {a} in one row and {b} in the other"
            )
    return getattr(row, metric).mean - getattr(other, metric).mean
