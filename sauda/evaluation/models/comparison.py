"""Language models bare, constrained and wrapped, after each stage of training, beside scripts.

A model's games are played in batches, and a batch's size is part of the configuration. Each batch
is kept on disk: a stopped run resumes where it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import Task, episode, get_task, rollout
from sauda.evaluation.batches import first, in_batches, joined
from sauda.evaluation.evaluate import Cell, hashes, play_cell, row
from sauda.evaluation.models.config import ORACLE, Cells, Comparison
from sauda.evaluation.models.sources import Played, is_same_player, models_behind, with_cpus
from sauda.games import game_of
from sauda.games.adapter import Columns, Game
from sauda.llm.model import CACHE, Model, load_once
from sauda.llm.registry import is_model, player_spec
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.policies.best_response import informed_policy
from sauda.records.progress import progress
from sauda.records.provenance import source_digest
from sauda.statistics import paired_difference, share_of_gap

PARTS = CACHE / "ladder"  # the batches on disk


@dataclass(frozen=True)
class Replayed:
    """A batch of a model's games as recorded and as played again, and on which kinds of CPU."""

    task: str
    policy: str
    recorded: Columns
    again: Columns
    cpu_then: str
    cpu_now: str


def compare_models(
    config: Comparison, parts: Path = PARTS, recorded: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The artifact's data: a row a task and policy, gains of the stages, episodes, models.

    Games in `recorded`, the data of an earlier comparison, are kept where weights, sampling, prompt
    and parser of their language model, or the fingerprints of their row, are still the same; all
    others are played. A model whose games were played on several kinds of CPU names them all.
    """
    cells = config.cells()
    models = models_behind({name for _, name in cells}, config.game)
    kept = {} if recorded is None else kept_episodes(config, models, recorded)
    episodes = {
        cell: _cell(*cell, seeds, config.batch, parts, kept.get(cell))
        for cell, seeds in tqdm(cells.items(), unit="cell", desc="playing", leave=False)
    }
    if recorded is not None:
        models = with_cpus(models, recorded["models"], played_on(episodes, kept))
    return summarised(config, episodes) | {"models": models}


def played_on(episodes: Cells, kept: Cells) -> Iterator[Played]:
    """For each cell of a model whether its games are kept ones, new ones, or both."""
    for cell, columns in episodes.items():
        if is_model(cell[1]) and (weights := player_spec(cell[1]).weights):
            had = len(kept[cell]["grade"]) if cell in kept else 0
            yield Played(weights, had > 0, had < len(columns["grade"]))


def kept_episodes(
    config: Comparison, models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> dict[tuple[str, str], dict[str, Any]]:
    """The columns in `recorded` that are still the same: whole batches from the first seed on."""
    episodes = config.flat(recorded["episodes"])
    then = {(row["task"], row["policy"]): row["hashes"] for row in recorded["rows"]}
    kept = {}
    for cell, seeds in config.cells().items():
        if cell not in episodes:
            continue
        weights = player_spec(cell[1]).weights if is_model(cell[1]) else ""
        if weights:
            same = is_same_player(recorded["models"].get(weights), models[weights])
        else:
            others = config.game.others["holdout"][0]
            same = then.get(cell) == hashes(Cell(others, *cell))
        had = len(episodes[cell]["grade"])
        count = len(seeds) if had >= len(seeds) else had - had % config.batch
        if same and count:
            kept[cell] = first(episodes[cell], count)
    return kept


def summarised(config: Comparison, episodes: Cells) -> dict[str, Any]:
    """The tables of the artifact, all computed from the episodes."""
    game, cells = config.game, config.cells()
    table, others = game.table, game.others["holdout"][0]
    worlds = {task_name: table.worlds(task_name, seeds) for (task_name, _), seeds in cells.items()}
    rows = []
    for (task_name, name), columns in episodes.items():
        base = first(episodes[task_name, config.baseline], len(columns["grade"]))
        cell = Cell(others, task_name, name)
        pair = {cell._replace(policy=config.baseline): base, cell: columns}
        figures = row(cell, pair, worlds[task_name], config.baseline)
        rows.append(figures | {count: sum(columns[count]) for count in table.model_counts})
    data = {
        "ends": dict(table.ends),
        "rows": rows,
        "stage_gains": stage_gains(config, episodes),
        "rivalries": rivalries(config, episodes),
    }
    if config.goal:
        data["gap_closed"] = gap_closed(config, episodes)
    if facts := next(iter(worlds.values())):
        data["worlds"] = facts
    return data | {"episodes": config.nested(episodes)}


def stage_gains(config: Comparison, episodes: Cells) -> list[dict[str, Any]]:
    """What each stage of training adds to the one that it trains further, bare, paired by seed.

    Once on all seeds, once on those whose opponent is of a type that no training game had.
    """
    gains = []
    for task_name in dict.fromkeys(name for name, _ in episodes):
        for after, before in config.parents.items():
            if any((task_name, name) not in episodes for name in (before, after)):
                continue
            then, now = (np.array(episodes[task_name, x]["grade"]) for x in (before, after))
            n = min(len(then), len(now))
            seeds = config.cells()[task_name, before][:n]
            unseen = _unseen(config.game, task_name, seeds)
            for on, mask in (("all", np.ones(n, bool)), ("unseen", unseen)):
                if mask.sum() < 2:
                    continue
                gains.append(
                    {"task": task_name, "before": before, "after": after, "on": on}
                    | _difference(now[:n][mask], then[:n][mask])
                )
    return gains


def rivalries(config: Comparison, episodes: Cells) -> list[dict[str, Any]]:
    """What each trained stage wins more than each rival, bare, paired by seed."""
    rows = []
    for task_name in dict.fromkeys(name for name, _ in episodes):
        for policy, rival in product(config.stages[1:], config.rivals):
            if policy == rival or any((task_name, x) not in episodes for x in (policy, rival)):
                continue
            ours, theirs = (np.array(episodes[task_name, x]["grade"]) for x in (policy, rival))
            n = min(len(ours), len(theirs))
            rows.append(
                {"task": task_name, "policy": policy, "rival": rival}
                | _difference(ours[:n], theirs[:n])
            )
    return rows


def _difference(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """The mean difference of paired grades, both of shape (n,), with its interval."""
    figures = zip(("difference", "low", "high"), paired_difference(ours, theirs), strict=True)
    return {"n": len(ours), **{name: round(float(figure), 6) for name, figure in figures}}


def _unseen(game: Game, task_name: str, seeds: Sequence[int]) -> np.ndarray:
    """Which of the seeds have an opponent of an unseen type, shape (n,)."""
    task = get_task(task_name)
    return np.array([game.has_unseen_opponent(task, seed) for seed in seeds], bool)


def gap_closed(config: Comparison, episodes: Cells) -> list[dict[str, Any]]:
    """The share of the gap between base and goal that each stage closes, a task the goal played."""
    shares = []
    for task_name in dict.fromkeys(name for name, goal in episodes if goal == config.goal):
        for stage in config.stages:
            names = (stage, config.baseline, config.goal)
            if stage == config.baseline or any((task_name, x) not in episodes for x in names):
                continue
            n = min(len(episodes[task_name, name]["grade"]) for name in names)
            grades = (np.array(episodes[task_name, name]["grade"][:n]) for name in names)
            share = share_of_gap(*grades)
            if share is not None:
                named = zip(("share", "low", "high"), share, strict=True)
                figures = {name: round(figure, 6) for name, figure in named}
                shares.append({"task": task_name, "policy": stage, "n": n} | figures)
    return shares


def _cell(
    task_name: str,
    name: str,
    seeds: Sequence[int],
    batch: int,
    parts: Path,
    kept: Mapping[str, Any] | None = None,
) -> Mapping[str, Any]:
    """One cell's columns, batch after batch; finished batches are read from `parts`.

    The columns of the first seeds are `kept`, where they are given.
    """
    begun = [] if kept is None else [kept]
    seeds = seeds[len(kept["grade"]) :] if kept else seeds
    if not seeds:
        return kept
    if not is_model(name):
        return joined([*begun, _played(task_name, name, seeds)])

    weights = player_spec(name).weights
    marks = played_with(load_once(weights) if weights else None)

    def key(some: Sequence[int]) -> str:
        return repr((task_name, name, list(some), *marks))

    def play(some: Sequence[int]) -> dict[str, Any]:
        return play_model(get_task(task_name), player_spec(name), some)

    return joined([*begun, *in_batches(seeds, batch, parts, key, play)])


def played_with(model: Model | None) -> tuple[Any, ...]:
    """Everything that unfinished games of a model depend on beside their names and seeds."""
    weights = model and (model.sha256, model.source, asdict(model.decoder.sampling))
    return weights, source_digest()


def play_model(task: Task, player: PlayerSpec, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in one batch, as an evaluation's columns and the model's counts."""
    games = [new_game(task, seed) for seed in seeds]
    play_games(games, player)
    return model_columns(task, games)


def model_columns(task: Task, games: Sequence[ModelGame]) -> dict[str, Any]:
    """Games that are over as an evaluation's columns and the model's counts."""
    table = game_of(task).table
    columns = table.episode_columns(task, [episode(task, game.play) for game in games])
    counts = [table.count_model(task, game.turns) for game in games]
    return columns | {name: [count[name] for count in counts] for name in table.model_counts}


def again(config: Comparison, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data recomputed for `verify`: all tables, and the games of cells that need no weights."""
    cells, kept = config.cells(), config.flat(recorded["episodes"])
    episodes = {cell: kept.get(cell) for cell in cells}
    scripted = [cell for cell in cells if not (is_model(cell[1]) and player_spec(cell[1]).weights)]
    for cell in progress(scripted, len(scripted), "playing scripts", "cell"):
        episodes[cell] = _played(*cell, cells[cell])
    return summarised(config, episodes) | {"models": recorded["models"]}


def stages_again(
    config: Comparison, recorded: Mapping[str, Any], tasks: Sequence[str]
) -> Iterator[Replayed]:
    """Replays the first batch of each training stage, bare, on some tasks, with its adapter.

    Raises ValueError for a task that it was not played on.
    """
    episodes = config.flat(recorded["episodes"])
    for task_name in tasks:
        stages = [name for name in config.stages if (task_name, name) in episodes]
        if not stages:
            names = ", ".join(dict.fromkeys(name for name, _ in episodes))
            raise ValueError(f"no model was played on {task_name!r}; tasks are {names}")
        for name in stages:
            seeds = config.cells()[task_name, name][: config.batch]
            player = player_spec(name)
            yield Replayed(
                task_name,
                name,
                first(episodes[task_name, name], len(seeds)),
                play_model(get_task(task_name), player, seeds),
                recorded["models"][player.weights]["cpu"] if player.weights else "",
                load_once(player.weights).cpu if player.weights else "",
            )


def _played(task_name: str, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The columns of a cell; the model counts of a script are 0."""
    task, game = get_task(task_name), game_of(task_name)
    if is_model(name):
        return play_model(task, player_spec(name), seeds)
    if name == ORACLE:
        played = [rollout(task, informed_policy(task, seed), seed) for seed in seeds]
        columns = game.table.episode_columns(task, played)
    else:
        columns = dict(play_cell(game.others["holdout"][0], task_name, name, seeds))
    return columns | {count: [0] * len(seeds) for count in game.table.model_counts}
