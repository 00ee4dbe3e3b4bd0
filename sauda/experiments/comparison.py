"""Language models bare and wrapped, after each stage of training, beside scripts and planners.

A model's games are played in batches, and a batch's size is part of the configuration. Each batch
is kept on disk: a stopped run goes on where it was.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from env import ARENA_TASKS, get_task
from sauda import played
from sauda.experiments import evaluate
from sauda.games import ARENA, BAZAAR, game_of
from sauda.games.adapter import Game
from sauda.llm.model import adapter_folder
from sauda.llm.wrappers import WRAPPERS
from sauda.players import (
    AUTARKY,
    BASE,
    BAYESIAN,
    BROKER,
    CONSTRAINED,
    LAB,
    LAB_STAGES,
    LEAVE,
    LISTENER,
    MEASURED,
    ORACLE,
    PEOPLE,
    PUBLISHED,
    SCRIPTS,
    SERVED,
    STAGES,
    TUNED,
    is_model,
    player_spec,
)
from sauda.pool import here
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact
from sauda.statistics import paired_difference, share_of_gap

# What is compared -------------------------------------------------------------------------------

CLASSIC = ("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic")
PARENTS, LAB_PARENTS = (
    {name: stage.parent for name, stage in stages.items() if stage.parent}
    for stages in (STAGES, LAB_STAGES)
)
NO_MODEL = ("null", "null+steering", "null+honest")  # wrappers with nothing to wrap
# Beside the models: no model, scripts, planners, and the most that can be won; nobody has searched
# for a script of packages.
BESIDE = {
    "bazaar/people": (*NO_MODEL, *SCRIPTS, LEAVE, TUNED, BAYESIAN, LISTENER),
    "bazaar/open-3": (*SCRIPTS, LEAVE, TUNED, BAYESIAN, LISTENER, ORACLE),
    "bazaar/package": (*SCRIPTS, LEAVE, BAYESIAN, LISTENER, ORACLE),
    "bazaar/mute-3": (*SCRIPTS, LEAVE, TUNED, BAYESIAN, ORACLE),
}
HALVED = ("bazaar/package", "bazaar/mute-3")  # of which half as many games are played
RIVALS = ("conceder", TUNED, BAYESIAN, LISTENER, SERVED)
LAB_SCRIPTS = (AUTARKY, *PUBLISHED, BROKER)
LAB_RIVALS = (AUTARKY, PUBLISHED[0], BROKER)


@dataclass(frozen=True)
class Grid:
    """Each of `policies` on each of `tasks`."""

    tasks: Sequence[str]
    policies: Sequence[str]
    episodes: int  # per task and policy, from the first hold-out seed


@dataclass(frozen=True)
class Comparison:
    """What is compared in one game, and which differences are reported."""

    game: Game  # of all tasks
    file: str
    grids: tuple[Grid, ...]
    batch: int  # games played together; also the most that a stopped run loses
    baseline: str  # of the paired differences
    stages: tuple[str, ...]  # of training in order, the untrained base first
    parents: Mapping[str, str]  # each trained stage, with the one that it trains further
    rivals: tuple[str, ...]  # with which each trained stage is compared by seed
    goal: str = ""  # training closes a share of the gap from the base to it; "" for none

    @property
    def config(self) -> dict[str, Any]:
        """What the artifact records of it."""
        grids = [asdict(grid) for grid in self.grids]
        return {"parts": grids, "batch": self.batch, "baseline": self.baseline}

    def cells(self) -> dict[played.Cell, range]:
        """The hold-out seeds of every task and policy.

        Raises ValueError where there are too few, names do not fit, or a task has no baseline.
        """
        cells = {}
        for grid in self.grids:
            seeds = first_seeds(grid.episodes)
            for cell in (played.Cell(*names) for names in product(grid.tasks, grid.policies)):
                if is_model(cell.policy):
                    player_spec(cell.policy).seat(self.game)
                cells[cell] = seeds
        for task in {cell.task for cell in cells}:
            most = max(len(seeds) for cell, seeds in cells.items() if cell.task == task)
            if len(cells.get((task, self.baseline), ())) < most:
                raise ValueError(f"{self.baseline!r} must be played on all {most} seeds of {task}")
        return cells


def bazaar_grids(games: int = 400, models: Sequence[str] = ()) -> tuple[Grid, ...]:
    """What `models` play in the bazaar, by default all trained stages, and what is beside them.

    `games` of each task, half of packages and of the market without words; with people a third by
    the served model in its wrappers, and by it and the base under the grammar of moves.
    """
    models = tuple(models) or (BASE, *(name for name in find_trained(PARENTS) if name in MEASURED))
    for name in models:
        player_spec(name)  # refuses what is no model
    by_task: dict[str, list[str]] = {}
    for name in models:
        for task in MEASURED.get(name, (PEOPLE,)):
            by_task.setdefault(task, []).append(name)
    grids = tuple(
        Grid((task,), (*names, *BESIDE[task]), max(1, games // 2) if task in HALVED else games)
        for task, names in by_task.items()
    )
    wrapped = tuple(f"{SERVED}+{part}" for part in (*WRAPPERS, CONSTRAINED) if SERVED in models)
    wrapped += (f"{BASE}+{CONSTRAINED}",) if BASE in models else ()
    return (*grids, Grid((PEOPLE,), wrapped, max(1, games // 3))) if wrapped else grids


def find_trained(stages: Iterable[str]) -> list[str]:
    """Those of `stages` that have an adapter here."""
    return [name for name in stages if adapter_folder(name.removeprefix(f"{BASE}+"))]


def arena_grids(worlds: int = 200) -> tuple[Grid, ...]:
    """What plays on the tasks of the arena: scripts and the trained lab, bare, in `worlds` of each.

    The untrained model and replies under a grammar, which are slow, play a quarter of them.
    """
    tasks, trained = tuple(ARENA_TASKS), find_trained(LAB_PARENTS)
    slow = (BASE, f"{BASE}+constrained", f"{LAB}+constrained")
    return (Grid(tasks, (*LAB_SCRIPTS, *trained), worlds), Grid(tasks, slow, max(1, worlds // 4)))


def in_bazaar(parts: tuple[Grid, ...] = (), batch: int = 50, baseline: str = BASE) -> Comparison:
    """The comparison in the bazaar; the defaults are the numbers we report."""
    file, parts = "evaluation/model-comparison.json", parts or bazaar_grids()
    return Comparison(
        BAZAAR, file, parts, batch, baseline, tuple(STAGES), PARENTS, RIVALS, LISTENER
    )


def in_arena(parts: tuple[Grid, ...] = (), batch: int = 50, baseline: str = AUTARKY) -> Comparison:
    """The comparison in the arena; the defaults are the numbers we report."""
    file, parts = "evaluation/arena-model-comparison.json", parts or arena_grids()
    stages = (BASE, *LAB_STAGES)
    return Comparison(ARENA, file, parts, batch, baseline, stages, LAB_PARENTS, LAB_RIVALS)


COMPARISONS = {"bazaar": in_bazaar, "arena": in_arena}


def read_comparison(artifact: Artifact) -> Comparison:
    """What the model comparison of an artifact played, of either game."""
    config = artifact.settings()
    parts = tuple(Grid(**grid) for grid in config["parts"])
    compared = COMPARISONS[game_of(parts[0].tasks[0]).name]
    return compared(parts, config["batch"], config["baseline"])


# The games --------------------------------------------------------------------------------------


def compare_models(
    comparison: Comparison,
    store: played.Store | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The artifact's data: a row per task and policy, gains of the stages, episodes, models.

    Games in `recorded`, the data of an earlier comparison, are kept where the fingerprints of their
    row, and weights, sampling, prompt and parser of their language model, are still the same; all
    others are played, in this process, which loads the models. A model whose games were played on
    several kinds of CPU names them all.
    """
    cells = comparison.cells()
    models = played.models_behind({name for _, name in cells}, comparison.game.name)
    reused = {} if recorded is None else load_kept(comparison, models, recorded)
    had = {cell: len(columns["grade"]) for cell, columns in reused.items()}
    left = {cell: seeds[had.get(cell, 0) :] for cell, seeds in cells.items()}
    left = {cell: seeds for cell, seeds in left.items() if seeds}
    new = played.play_cells(
        played.play_columns, left, here, comparison.batch, store or played.Store()
    )
    episodes = {
        cell: played.join([part[cell] for part in (reused, new) if cell in part]) for cell in cells
    }
    if recorded is not None:
        used = ({played.weights_of(cell.policy) for cell in part} for part in (reused, new))
        models = played.with_cpus(models, recorded["models"], *used)
    return tabulate(comparison, episodes) | {"models": models}


def load_kept(
    comparison: Comparison, models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> dict[played.Cell, dict[str, Any]]:
    """The columns in `recorded` that are still the same: whole batches from the first seed on."""
    episodes = played.flat(recorded["episodes"])
    then = {(row["task"], row["policy"]): row["hashes"] for row in recorded["rows"]}
    reused = {}
    for cell, seeds in comparison.cells().items():
        if cell not in episodes or then[cell] != played.hashes(cell):
            continue
        weights, sources = played.weights_of(cell.policy), recorded["models"]
        same = not weights or played.is_same_player(sources.get(weights), models[weights])
        had = len(episodes[cell]["grade"])
        count = len(seeds) if had >= len(seeds) else had - had % comparison.batch
        if same and count:
            reused[cell] = played.take_first(episodes[cell], count)
    return reused


# The tables -------------------------------------------------------------------------------------


def tabulate(comparison: Comparison, episodes: played.Cells) -> dict[str, Any]:
    """The tables of the artifact, all computed from the episodes."""
    cells, game = comparison.cells(), comparison.game.columns
    worlds = {
        task: game.worlds_of(task, cells[task, comparison.baseline]) for task in _tasks(episodes)
    }
    rows = []
    for cell, columns in episodes.items():
        n, base = len(columns["grade"]), cell._replace(policy=comparison.baseline)
        pair = {base: played.take_first(episodes[base], n), cell: columns}
        met = {name: facts[:n] for name, facts in worlds[cell.task].items()}
        figures = evaluate.row(cell, pair, met, comparison.baseline)
        rows.append(figures | {count: sum(columns[count]) for count in game.MODEL_COUNTS})
    data = {
        "ends": dict(game.ENDS),
        "rows": rows,
        "stage_gains": list(stage_gains(comparison, episodes)),
        "rivalries": list(rivalries(comparison, episodes)),
    }
    if comparison.goal:
        data["gap_closed"] = list(measure_gap_closed(comparison, episodes))
    if any(worlds.values()):
        data["worlds"] = worlds
    nested = {
        task: {cell.policy: columns for cell, columns in episodes.items() if cell.task == task}
        for task in worlds
    }
    return data | {"episodes": nested}


def stage_gains(comparison: Comparison, episodes: played.Cells) -> Iterator[dict[str, Any]]:
    """What each stage of training adds to the last before it that played there, bare, by seed.

    Once on all seeds, once on those that no training game is like.
    """
    for task_name, after in product(_tasks(episodes), comparison.parents):
        before = comparison.parents[after]
        while (task_name, before) not in episodes and before in comparison.parents:
            before = comparison.parents[before]
        if not (grades := _grades(episodes, task_name, after, before)):
            continue
        task, seeds = get_task(task_name), comparison.cells()[task_name, before]
        is_unseen = [comparison.game.is_unseen(task, s) for s in seeds[: len(grades[0])]]
        unseen = np.array(is_unseen, bool)
        for on, mask in (("all", np.ones_like(unseen)), ("unseen", unseen)):
            if mask.sum() >= 2:
                named = {"task": task_name, "before": before, "after": after, "on": on}
                yield named | _difference(*(column[mask] for column in grades))


def rivalries(comparison: Comparison, episodes: played.Cells) -> Iterator[dict[str, Any]]:
    """What each trained stage wins more than each rival, bare, paired by seed."""
    trained = comparison.stages[1:]
    for task_name, policy, rival in product(_tasks(episodes), trained, comparison.rivals):
        if policy != rival and (grades := _grades(episodes, task_name, policy, rival)):
            yield {"task": task_name, "policy": policy, "rival": rival} | _difference(*grades)


def measure_gap_closed(comparison: Comparison, episodes: played.Cells) -> Iterator[dict[str, Any]]:
    """The share of the gap between base and goal that each stage closes, per task with a goal."""
    for task_name, stage in product(_tasks(episodes), comparison.stages):
        grades = _grades(episodes, task_name, stage, comparison.baseline, comparison.goal)
        if stage == comparison.baseline or not grades:
            continue
        if (share := share_of_gap(*grades)) is not None:
            yield {"task": task_name, "policy": stage} | _label(len(grades[0]), "share", share)


def _tasks(episodes: played.Cells) -> list[str]:
    return list(dict.fromkeys(cell.task for cell in episodes))


def _grades(episodes: played.Cells, task_name: str, *names: str) -> list[np.ndarray]:
    """The grades of each policy on the seeds that all played; none where one played none."""
    if any((task_name, name) not in episodes for name in names):
        return []
    grades = [np.array(episodes[task_name, name]["grade"]) for name in names]
    n = min(map(len, grades))
    return [column[:n] for column in grades]


def _label(n: int, figure: str, interval: Sequence[float]) -> dict[str, Any]:
    """A figure with its interval, under its name, from `n` seeds."""
    names = zip((figure, "low", "high"), interval, strict=True)
    return {"n": n} | {name: round(float(x), 6) for name, x in names}


def _difference(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    return _label(len(ours), "difference", paired_difference(ours, theirs))


# Verification -----------------------------------------------------------------------------------


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data for `verify`: all tables, and the games of pairs that need no weights."""
    comparison, recorded = read_comparison(artifact), artifact.data.as_json()
    cells, recorded_columns = comparison.cells(), played.flat(recorded["episodes"])
    episodes = {cell: recorded_columns.get(cell) for cell in cells}
    scripted = {cell: seeds for cell, seeds in cells.items() if not played.weights_of(cell.policy)}
    episodes |= played.play_cells(played.play_columns, scripted, workers)
    return tabulate(comparison, episodes)
