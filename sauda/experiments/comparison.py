"""Language models bare and wrapped, after each stage of training, beside scripts and planners.

A model's games are played in batches, and a batch's size is part of the configuration. Each batch
is kept on disk: a stopped run resumes where it was.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from tqdm import tqdm

from env import ARENA_TASKS, Task, episode, get_task
from sauda.experiments import batches, evaluate
from sauda.experiments.evaluate import ORACLE, Cell
from sauda.games import ARENA, game_of
from sauda.games import BAZAAR as BAZAAR_GAME
from sauda.games.adapter import Columns, Game
from sauda.games.bazaar_columns import LEAVE, OPEN_MARKET, TUNED
from sauda.llm import registry
from sauda.llm.model import CACHE, SAUDA, adapter_folder
from sauda.llm.registry import PlayerSpec, is_model, player_spec
from sauda.llm.turn import ModelGame
from sauda.llm.wrappers import WRAPPERS
from sauda.records.kinds import Check, Kind, register_kind
from sauda.records.schemas.base import Interval, ModelSource, Record, Row, Rows, Table
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact
from sauda.statistics import paired_difference, share_of_gap

BATCHES = CACHE / "ladder"  # the batches on disk
Cells = Mapping[Cell, Columns]
R, C = TypeVar("R", bound=Row), TypeVar("C")  # the rows and the columns of a comparison

# What is compared -------------------------------------------------------------------------------

BAYESIAN = "bayesian"  # the planner that sees numbers only
LISTENER = "listener"  # the planner that reads and speaks, whose moves SFT learns
BAZAAR = OPEN_MARKET
CLASSIC = ("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic")
BASE = "mini"
# Each stage of training, with the one whose adapter it trains further.
PARENTS = {
    "mini+sft": BASE,
    "mini+sft-seed1": BASE,
    "mini+distill": "mini+sft",
    "mini+grpo": "mini+sft",
    "mini+dpo": "mini+sft",
    "mini+people": "mini+sft",
    "mini+talks": "mini+people",
    "mini+form": BASE,
    "mini+reward": "mini+form",
}
# Stages that know the games alone in which any words count, and what is measured of each.
FREE: Mapping[str, tuple[str, ...]] = {
    "mini+people": ("bazaar/people",),
    "mini+talks": ("bazaar/people", "bazaar/package", "bazaar/open-3"),
    "mini+form": ("bazaar/open-3",),
    "mini+reward": ("bazaar/open-3",),
}
STAGES = (BASE, *PARENTS)  # one base, untrained and after each stage
OURS = f"mini+{SAUDA}"  # the stage that is served
SCRIPTS = ("linear", "conceder", "boulware", "tit_for_tat", "wait", "naive")
NO_MODEL = ("null", "null+steering", "null+honest")  # wrappers with nothing to wrap
# Beside the model in the open market: no model, scripts, planners, and the most that can be won.
BESIDE = (*NO_MODEL, *SCRIPTS, LEAVE, TUNED, BAYESIAN, LISTENER, ORACLE)
FREE_BESIDE = {  # beside them; nobody has searched for a script of packages
    "bazaar/people": (*SCRIPTS, LEAVE, TUNED, BAYESIAN, LISTENER),
    "bazaar/open-3": (*SCRIPTS, LEAVE, TUNED, BAYESIAN, LISTENER, ORACLE),
    "bazaar/package": (*SCRIPTS, LEAVE, BAYESIAN, LISTENER, ORACLE),
}
RIVALS = ("conceder", TUNED, BAYESIAN, LISTENER, OURS)
LAB = "mini+sft-arena"  # the trained lab of the arena that the page plays with
LAB_PARENTS = {"mini+sft-arena": BASE, "mini+distill-arena": "mini+sft-arena"}
LAB_STAGES = (BASE, *LAB_PARENTS)
AUTARKY, BROKER = "autarky", "broker"
PUBLISHED = (  # labs of the published arena
    "rule_based_expert", "greedy_hoarder", "always_accept", "naive_plea", "random", "wait",
)  # fmt: skip
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

    def cells(self) -> dict[Cell, range]:
        """The hold-out seeds of every task and policy.

        Raises ValueError where there are too few, names do not fit, or a task has no baseline.
        """
        cells = {}
        for grid in self.grids:
            seeds = first_seeds(grid.episodes)
            for cell in (Cell(*names) for names in product(grid.tasks, grid.policies)):
                if is_model(cell.policy):
                    player_spec(cell.policy).seat(self.game)
                cells[cell] = seeds
        for task in {cell.task for cell in cells}:
            most = max(len(seeds) for cell, seeds in cells.items() if cell.task == task)
            if len(cells.get((task, self.baseline), ())) < most:
                raise ValueError(f"{self.baseline!r} must be played on all {most} seeds of {task}")
        return cells


def flat(recorded: Mapping[str, Mapping[str, Columns]]) -> Cells:
    """The columns of an artifact's "episodes" by task and policy."""
    return {
        Cell(task_name, name): columns
        for task_name, by_policy in recorded.items()
        for name, columns in by_policy.items()
    }


def bazaar_grids(games: int = 400, models: Sequence[str] = ()) -> tuple[Grid, ...]:
    """What `models` play in the bazaar, by default all trained stages, and what is beside them.

    `games` are those of the open market; a third of them without words, in the mute one, and as
    many of the served model in its wrappers and of the base under the grammar of moves. Where any
    words count, all of them are those with people; half, those of the other tasks.
    """
    models = tuple(models) or (BASE, *find_trained(PARENTS))
    for name in models:
        player_spec(name)  # refuses what is no model
    free: dict[str, list[str]] = {}  # players by task
    for name in models:
        for task in FREE.get(name, ()):
            free.setdefault(task, [BASE] if BASE in models else []).append(name)
    models = tuple(name for name in models if name not in FREE)
    wrapped = tuple(f"{OURS}+{wrapper}" for wrapper in WRAPPERS if OURS in models)
    wrapped += (f"{BASE}+constrained",) if BASE in models else ()
    fewer = max(1, games // 3)
    grids = (
        Grid(("bazaar/open",), (*models, *BESIDE), games),
        Grid(("bazaar/open",), wrapped, fewer),
        Grid(("bazaar/mute",), (*models, *BESIDE), fewer),
    )
    for task, names in free.items():
        episodes = games if task == "bazaar/people" else max(1, games // 2)
        grids += (Grid((task,), (*names, *FREE_BESIDE[task]), episodes),)
    return tuple(grid for grid in grids if grid.policies)


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
    return Comparison(BAZAAR_GAME, file, parts, batch, baseline, STAGES, PARENTS, RIVALS, LISTENER)


def in_arena(parts: tuple[Grid, ...] = (), batch: int = 50, baseline: str = AUTARKY) -> Comparison:
    """The comparison in the arena; the defaults are the numbers we report."""
    file, parts = "evaluation/arena-model-comparison.json", parts or arena_grids()
    return Comparison(ARENA, file, parts, batch, baseline, LAB_STAGES, LAB_PARENTS, LAB_RIVALS)


COMPARISONS = {"bazaar": in_bazaar, "arena": in_arena}


def read_comparison(artifact: Artifact) -> Comparison:
    """What the model comparison of an artifact played, of either game."""
    config = artifact.settings()
    parts = tuple(Grid(**grid) for grid in config["parts"])
    compared = COMPARISONS[game_of(parts[0].tasks[0]).name]
    return compared(parts, config["batch"], config["baseline"])


class PairedDifference(Row):
    """A difference of mean grades on the same seeds with its interval."""

    @property
    def interval(self) -> Interval:
        """The difference with its interval."""
        return Interval(mean=self.difference, low=self.low, high=self.high)


class _Compared(Record, Generic[R, C]):
    ends: dict[str, str]  # meaning of each letter of the columns' `end`
    rows: Table[R]  # one row per task and policy
    # What each stage adds to the grade of the one before, on all seeds and on unseen ones.
    stage_gains: Table[PairedDifference]
    rivalries: Table[PairedDifference]  # each training stage beside other policies
    # bazaar: share of the gap to the planner that reads and speaks, per task and stage
    gap_closed: Rows = None
    worlds: dict[str, dict[str, list[float]]] = None  # arena: as in its evaluations
    episodes: dict[str, dict[str, C]]  # columns by task and policy
    models: dict[str, ModelSource]  # weights and sampling, by model name


class ModelComparison(_Compared[evaluate.BazaarRow, evaluate.BazaarColumns]):
    """A language model bare and wrapped, beside no model, scripts, planners and an oracle."""


class ArenaModelComparison(_Compared[evaluate.ArenaRow, evaluate.ArenaColumns]):
    """A language model as a lab, untrained and trained, bare and constrained, beside scripts."""


# The games --------------------------------------------------------------------------------------


def compare_models(
    comparison: Comparison, folder: Path = BATCHES, recorded: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The artifact's data: a row per task and policy, gains of the stages, episodes, models.

    Games in `recorded`, the data of an earlier comparison, are kept where the fingerprints of their
    row, and weights, sampling, prompt and parser of their language model, are still the same; all
    others are played. A model whose games were played on several kinds of CPU names them all.
    """
    cells = comparison.cells()
    models = registry.models_behind({name for _, name in cells}, comparison.game)
    kept = {} if recorded is None else load_kept(comparison, models, recorded)
    episodes = {
        cell: _play_cell(cell, seeds, comparison.batch, folder, kept.get(cell))
        for cell, seeds in tqdm(cells.items(), unit="cell", desc="playing", leave=False)
    }
    if recorded is not None:
        models = registry.with_cpus(models, recorded["models"], match_kept(episodes, kept))
    return tabulate(comparison, episodes) | {"models": models}


def match_kept(episodes: Cells, kept: Cells) -> Iterator[registry.Played]:
    """Per (task, policy) pair of a model: whether its games are kept, new, or both."""
    for cell, columns in episodes.items():
        if weights := _weights(cell[1]):
            had = len(kept[cell]["grade"]) if cell in kept else 0
            yield registry.Played(weights, had > 0, had < len(columns["grade"]))


def load_kept(
    comparison: Comparison, models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> dict[Cell, dict[str, Any]]:
    """The columns in `recorded` that are still the same: whole batches from the first seed on."""
    episodes = flat(recorded["episodes"])
    then = {(row["task"], row["policy"]): row["hashes"] for row in recorded["rows"]}
    kept = {}
    for cell, seeds in comparison.cells().items():
        if cell not in episodes or then[cell] != evaluate.hashes(cell):
            continue
        weights, sources = _weights(cell.policy), recorded["models"]
        same = not weights or registry.is_same_player(sources.get(weights), models[weights])
        had = len(episodes[cell]["grade"])
        count = len(seeds) if had >= len(seeds) else had - had % comparison.batch
        if same and count:
            kept[cell] = batches.take_first(episodes[cell], count)
    return kept


def _weights(name: str) -> str:
    """The name of the weights that a policy needs; "" for a script."""
    return player_spec(name).weights if is_model(name) else ""


def _play_cell(
    cell: Cell, seeds: Sequence[int], batch: int, folder: Path, kept: Columns | None
) -> Columns:
    """The columns of one pair by batches; finished batches are read from `folder`.

    `kept` holds the columns of the first seeds, if any.
    """
    seeds = seeds[len(kept["grade"]) :] if kept else seeds
    if not seeds:
        return kept
    if is_model(cell.policy):
        play = partial(play_columns, cell)
        played = batches.play_model_batches(cell.policy, seeds, batch, folder, play, cell.task)
    else:
        played = play_columns(cell, seeds)
    return batches.join([kept, played]) if kept else played


def play_model(task: Task, player: PlayerSpec, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in one batch, as an evaluation's columns and the model's counts."""
    return model_columns(task, batches.play_together(task, player, seeds))


def model_columns(task: Task, games: Sequence[ModelGame]) -> dict[str, Any]:
    """Games that are over as an evaluation's columns and the model's counts."""
    kind = game_of(task).columns
    columns = kind.episode_columns(task, [episode(task, game.play) for game in games])
    counts = [kind.count_model(task, game.turns) for game in games]
    return columns | {name: [count[name] for count in counts] for name in kind.MODEL_COUNTS}


def play_columns(cell: Cell, seeds: Sequence[int]) -> dict[str, Any]:
    """The columns of a (task, policy) pair, in one batch; the model counts of a script are 0."""
    if is_model(cell.policy):
        return play_model(get_task(cell.task), player_spec(cell.policy), seeds)
    counts = game_of(cell.task).columns.MODEL_COUNTS
    return evaluate.play_cell(cell, seeds) | {count: [0] * len(seeds) for count in counts}


# The tables -------------------------------------------------------------------------------------


def tabulate(comparison: Comparison, episodes: Cells) -> dict[str, Any]:
    """The tables of the artifact, all computed from the episodes."""
    cells, game = comparison.cells(), comparison.game.columns
    worlds = {
        task: game.worlds_of(task, cells[task, comparison.baseline]) for task in _tasks(episodes)
    }
    rows = []
    for cell, columns in episodes.items():
        n, base = len(columns["grade"]), cell._replace(policy=comparison.baseline)
        pair = {base: batches.take_first(episodes[base], n), cell: columns}
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


def stage_gains(comparison: Comparison, episodes: Cells) -> Iterator[dict[str, Any]]:
    """What each stage of training adds to the one that it trains further, bare, paired by seed.

    Once on all seeds, once on those that no training game is like.
    """
    for task_name, (after, before) in product(_tasks(episodes), comparison.parents.items()):
        if not (grades := _grades(episodes, task_name, after, before)):
            continue
        task, seeds = get_task(task_name), comparison.cells()[task_name, before]
        is_unseen = [comparison.game.is_unseen(task, s) for s in seeds[: len(grades[0])]]
        unseen = np.array(is_unseen, bool)
        for on, mask in (("all", np.ones_like(unseen)), ("unseen", unseen)):
            if mask.sum() >= 2:
                named = {"task": task_name, "before": before, "after": after, "on": on}
                yield named | _difference(*(some[mask] for some in grades))


def rivalries(comparison: Comparison, episodes: Cells) -> Iterator[dict[str, Any]]:
    """What each trained stage wins more than each rival, bare, paired by seed."""
    trained = comparison.stages[1:]
    for task_name, policy, rival in product(_tasks(episodes), trained, comparison.rivals):
        if policy != rival and (grades := _grades(episodes, task_name, policy, rival)):
            yield {"task": task_name, "policy": policy, "rival": rival} | _difference(*grades)


def measure_gap_closed(comparison: Comparison, episodes: Cells) -> Iterator[dict[str, Any]]:
    """The share of the gap between base and goal that each stage closes, per task with a goal."""
    for task_name, stage in product(_tasks(episodes), comparison.stages):
        grades = _grades(episodes, task_name, stage, comparison.baseline, comparison.goal)
        if stage == comparison.baseline or not grades:
            continue
        if (share := share_of_gap(*grades)) is not None:
            yield {"task": task_name, "policy": stage} | _label(len(grades[0]), "share", share)


def _tasks(episodes: Cells) -> list[str]:
    return list(dict.fromkeys(cell.task for cell in episodes))


def _grades(episodes: Cells, task_name: str, *names: str) -> list[np.ndarray]:
    """The grades of each policy on the seeds that all played; none where one played none."""
    if any((task_name, name) not in episodes for name in names):
        return []
    grades = [np.array(episodes[task_name, name]["grade"]) for name in names]
    n = min(map(len, grades))
    return [some[:n] for some in grades]


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
    cells, kept = comparison.cells(), flat(recorded["episodes"])
    episodes = {cell: kept.get(cell) for cell in cells}
    scripted = {cell: seeds for cell, seeds in cells.items() if not _weights(cell.policy)}
    episodes |= batches.play_cells(play_columns, scripted, workers)
    return tabulate(comparison, episodes) | {"models": recorded["models"]}


CHECK = Check(
    "replayed in part",
    "scripts replayed; model rows recomputed from recorded columns; the first games of each stage "
    "by --models",
    replay,
)
register_kind(Kind("model_comparison/4", ModelComparison, CHECK, registry.bazaar_prompt))
register_kind(Kind("arena_model_comparison/4", ArenaModelComparison, CHECK, registry.arena_prompt))
