"""What a language model wins bare, constrained and wrapped, beside no model and scripts.

The games of a batch go in step (`instep`), and a batch's size is part of the configuration. What is
played is kept on disk after each batch: a stopped run goes on where it was.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import IllegalAction, Task, episode, get_task, rollout
from sauda.evaluation.behaviour import CONDUCT, conduct
from sauda.evaluation.columns import episode_columns, play_cell
from sauda.evaluation.evaluate import ENDS, SPLITS, row
from sauda.evaluation.statistics import paired_difference, part_of_way
from sauda.llm.backends.decoding import Decoder
from sauda.llm.backends.model import SAUDA
from sauda.llm.backends.weights import CACHE
from sauda.llm.batched_rollout import new_game, play_in_step
from sauda.llm.games import bazaar as llm
from sauda.llm.games.bazaar import LLMPolicy
from sauda.llm.registry import Contestant, contestant, is_model, loaded
from sauda.policies.best_response.informed import informed_policy
from sauda.records.code_hash import code_hash
from sauda.records.progress import progress
from sauda.records.store import write
from sauda.train.data.teacher import DataConfig, seller_of

PARTS = CACHE / "ladder"
UNTAUGHT = DataConfig().untaught
GOAL = "belief"  # whose moves SFT learns: what a buyer can win that knows no seller
ORACLE = "oracle"  # the best reply to the very seller it meets, whom it knows
COUNTS = ("moves", "unparsed", "changed", "tokens", *CONDUCT)  # of the learner, an episode
BAZAAR = ("bazaar/open", "bazaar/rushed", "bazaar/bluff")
CLASSIC = ("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic")
STAGES = ("mini", "mini+sft", "mini+grpo", "mini+dpo")  # one base, untrained and after each stage
SCRIPTS = ("linear", "conceder", "boulware", "tit_for_tat", "wait")
WRAPPED = ("constrained", "steering", "honest")


@dataclass(frozen=True)
class Part:
    """Some cells of the ladder: each of `policies` on each of `tasks`."""

    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    episodes: int  # a cell, from the first hold-out seed


@dataclass(frozen=True)
class Config:
    """What is compared; the defaults are the numbers we report."""

    parts: tuple[Part, ...] = (
        Part(BAZAAR, STAGES, 200),
        Part(BAZAAR, tuple(f"{STAGES[0]}+{how}" for how in WRAPPED), 200),
        Part(BAZAAR, tuple(f"{STAGES[-1]}+{how}" for how in WRAPPED), 100),
        Part(BAZAAR, (f"mini+{SAUDA}+honest",), 200),
        Part(BAZAAR, (f"mini+{SAUDA}+steering",), 100),
        Part(BAZAAR, ("null", "null+steering", "null+honest", *SCRIPTS, "belief", ORACLE), 200),
        Part(CLASSIC, (*STAGES, "null+steering", "expert", *SCRIPTS), 100),
    )
    batch: int = 50  # games in step; also what a stopped run loses at most
    baseline: str = "mini"  # of the paired differences: the bare base

    def cells(self) -> dict[tuple[str, str], range]:
        """The hold-out seeds of every task and policy.

        Raises ValueError where there are too few, names do not fit, or a task has no baseline.
        """
        found = {}
        for part in self.parts:
            if not 1 <= part.episodes <= len(SPLITS["holdout"]) or self.batch < 1:
                raise ValueError(
                    f"a cell has at least 1 episode and a batch 1 game, not {part.episodes} and "
                    f"{self.batch}"
                )
            for cell in product(part.tasks, part.policies):
                if is_model(cell[1]):
                    contestant(cell[1])
                found[cell] = SPLITS["holdout"][: part.episodes]
        for name in {name for name, _ in found}:
            most = max(len(seeds) for (here, _), seeds in found.items() if here == name)
            if len(found.get((name, self.baseline), ())) < most:
                raise ValueError(f"{self.baseline!r} must be played on all {most} seeds of {name}")
        return found


@dataclass(frozen=True)
class Replayed:
    """A batch of a model's games as recorded and as played again, and on which kinds of CPU."""

    task: str
    policy: str
    recorded: Mapping[str, Any]  # columns
    again: Mapping[str, Any]
    cpu_then: str
    cpu_now: str


def ladder(
    config: Config, parts: Path = PARTS, recorded: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The data of the ladder artifact: a row a task and policy, their episodes, the models.

    Games of language models that are in `recorded`, the data of an earlier ladder, are kept where
    weights and sampling are still the same; whatever else there is to play is played.
    """
    cells = config.cells()
    models = models_behind({name for _, name in cells})
    kept = {} if recorded is None else kept_episodes(cells, models, recorded)
    episodes = {
        cell: kept.get(cell) or _cell(*cell, seeds, config.batch, parts)
        for cell, seeds in tqdm(cells.items(), unit="cell", desc="playing", leave=False)
    }
    return summarised(config, episodes) | {"models": models}


def kept_episodes(
    cells: Mapping[tuple[str, str], Sequence[int]],
    models: Mapping[str, Any],
    recorded: Mapping[str, Any],
) -> dict[tuple[str, str], dict[str, Any]]:
    """The columns in `recorded` of those `cells` whose model still has its weights and sampling."""
    kept = {}
    for (task_name, name), seeds in cells.items():
        columns = recorded["episodes"].get(task_name, {}).get(name)
        if columns and len(columns["grade"]) >= len(seeds) and same_model(name, recorded, models):
            kept[task_name, name] = first(columns, len(seeds))
    return kept


def same_model(name: str, recorded: Mapping[str, Any], models: Mapping[str, Any]) -> bool:
    """Whether the language model behind a policy is still the one of an earlier recording."""
    weights = contestant(name).weights if is_model(name) else ""
    if not weights:
        return False
    then, now = recorded["models"][weights], models[weights]
    return all(then[part] == now[part] for part in ("sha256", "sampling", "cpu"))


def summarised(
    config: Config, episodes: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any]:
    """The rows, climbs and ways, all computed from the episodes."""
    rows = []
    for (task_name, name), columns in episodes.items():
        counts = {count: sum(columns[count]) for count in COUNTS}
        n = len(columns["grade"])
        base = first(episodes[task_name, config.baseline], n)
        pair = {(task_name, config.baseline): base, (task_name, name): columns}
        rows.append(row(task_name, name, pair, config.baseline, model_hash(name)) | counts)
    grouped: dict[str, dict[str, Any]] = {}
    for (task_name, name), columns in episodes.items():
        grouped.setdefault(task_name, {})[name] = columns
    return {
        "ends": ENDS,
        "rows": rows,
        "climbs": climbs(episodes),
        "ways": ways(episodes, config.baseline),
        "episodes": grouped,
    }


def first(columns: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The first `n` episodes of `columns`, each value a deal or one an episode."""
    had = len(columns["grade"])
    return {
        name: {part: some[:n] for part, some in values.items()}
        if isinstance(values, Mapping)
        else values[: n * (len(values) // had)]
        for name, values in columns.items()
    }


def climbs(episodes: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each stage of training adds to the one before, bare, paired by seed.

    Once on all seeds, once on those whose seller is of the type that no training game had.
    """
    found = []
    for task_name in dict.fromkeys(name for name, _ in episodes):
        played = [name for name in STAGES if (task_name, name) in episodes]
        for before, after in pairwise(played):
            grades = [np.array(episodes[task_name, name]["grade"]) for name in (before, after)]
            n = min(map(len, grades))
            seeds = SPLITS["holdout"][:n]
            new = np.array([seller_of(get_task(task_name), seed) == UNTAUGHT for seed in seeds])
            for on, mask in (("all", np.ones(n, bool)), ("unseen", new)):
                if mask.sum() > 1:
                    names = ("difference", "low", "high")
                    told = paired_difference(grades[1][:n][mask], grades[0][:n][mask])
                    found.append(
                        {"task": task_name, "before": before, "after": after, "on": on}
                        | {"n": int(mask.sum())}
                        | {k: round(float(v), 6) for k, v in zip(names, told, strict=True)}
                    )
    return found


def ways(
    episodes: Mapping[tuple[str, str], Mapping[str, Any]], baseline: str
) -> list[dict[str, Any]]:
    """How far each trained stage is from `baseline` to GOAL, on every task where that played."""
    found = []
    for task_name in dict.fromkeys(name for name, goal in episodes if goal == GOAL):
        for stage in STAGES:
            names = (stage, baseline, GOAL)
            if stage == baseline or any((task_name, name) not in episodes for name in names):
                continue
            n = min(len(episodes[task_name, name]["grade"]) for name in names)
            told = part_of_way(*(np.array(episodes[task_name, x]["grade"][:n]) for x in names))
            if told is not None:
                spanned = {
                    k: round(v, 6) for k, v in zip(("part", "low", "high"), told, strict=True)
                }
                found.append({"task": task_name, "policy": stage, "n": n} | spanned)
    return found


def models_behind(policies: Iterable[str], speech: Any = llm) -> dict[str, Any]:
    """Which weights stood behind each policy, and the hash of the prompt and parser (R2)."""
    names = {contestant(p).weights for p in policies if is_model(p)} - {""}
    models = {name: loaded(name) for name in sorted(names)}
    return {
        name: {
            "source": model.source,
            "origin": model.origin,
            "sha256": model.sha256,
            "cpu": model.cpu,
            **speech_hashes(speech),
            "sampling": asdict(model.decoder.sampling),
        }
        for name, model in models.items()
    }


def speech_hashes(speech: Any) -> dict[str, str]:
    """The hashes of what words a game for a model, and of what reads its replies."""
    return {"prompt": code_hash(speech.render), "parser": code_hash(speech.parse)}


def _cell(
    task_name: str, name: str, seeds: Sequence[int], batch: int, parts: Path
) -> dict[str, Any]:
    """One cell's columns, batch after batch, each read from `parts` where it is there already."""
    if not is_model(name):
        return _played(task_name, name, seeds)
    return in_batches(
        seeds,
        batch,
        lambda some: parts / f"{_key(task_name, name, some)}.json",
        lambda some: play_model(get_task(task_name), contestant(name), some),
    )


def in_batches(
    seeds: Sequence[int],
    batch: int,
    file_of: Callable[[Sequence[int]], Path],
    play: Callable[[Sequence[int]], Mapping[str, Any]],
) -> dict[str, Any]:
    """The columns of all `seeds`, each batch played once and kept in its file."""
    pieces = []
    for start in range(0, len(seeds), batch):
        some = seeds[start : start + batch]
        file = file_of(some)
        if not file.exists():
            write(file, json.dumps(play(some)))
        pieces.append(json.loads(file.read_text(encoding="utf-8")))
    return _joined(pieces)


def _key(task_name: str, name: str, seeds: Sequence[int]) -> str:
    """All that a batch's outcome depends on, as a file name."""
    task, player = get_task(task_name), contestant(name)
    model = loaded(player.weights) if player.weights else None
    marks = model and (model.sha256, model.source)
    code = (code_hash(task.env, task.opponents, task.grade, conduct), model_hash(name))
    return sha256(repr((task_name, name, list(seeds), marks, code)).encode()).hexdigest()[:24]


def model_hash(name: str) -> str:
    """Hashes prompt, decoder, parser and wrapper of a model; "" for a script.

    How weights are loaded is left out: their digest, precision and device are recorded beside it.
    A script's hash is that of its policy.
    """
    if name == ORACLE:
        return code_hash(informed_policy)
    if not is_model(name):
        return ""
    player = contestant(name)
    speaks = Decoder if player.weights else type(player.generate)
    return code_hash(LLMPolicy, speaks, player.constrained, player.wrapper)


def _joined(pieces: Sequence[Any]) -> Any:
    """Columns one after the other, in tables of them too."""
    if isinstance(pieces[0], Mapping):
        return {name: _joined([piece[name] for piece in pieces]) for name in pieces[0]}
    return "".join(pieces) if isinstance(pieces[0], str) else [x for piece in pieces for x in piece]


def play_model(task: Task, player: Contestant, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in step, as columns like those of an evaluation and the COUNTS."""
    games = [new_game(task, seed) for seed in seeds]
    play_in_step(games, player)
    counts = [
        {
            "moves": len(game.asked),
            "unparsed": sum(isinstance(asked.proposal, IllegalAction) for asked in game.asked),
            "changed": sum(asked.changed for asked in game.asked),
            "tokens": sum(asked.reply.tokens for asked in game.asked),
            **conduct(game.asked, task.name in BAZAAR),
        }
        for game in games
    ]
    played = [episode(task, game.play) for game in games]
    return episode_columns(task, played) | {
        name: [count[name] for count in counts] for name in COUNTS
    }


def again(config: Config, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data as it should be: rows computed again, and the cells that need no weights played."""
    cells, kept = config.cells(), recorded["episodes"]
    episodes = {(task_name, name): kept[task_name].get(name) for task_name, name in cells}
    scripted = [cell for cell in cells if not (is_model(cell[1]) and contestant(cell[1]).weights)]
    for cell in progress(scripted, len(scripted), "playing scripts", "cell"):
        episodes[cell] = _played(*cell, cells[cell])
    return summarised(config, episodes) | {"models": recorded["models"]}


def stages_again(
    config: Config, recorded: Mapping[str, Any], tasks: Sequence[str]
) -> Iterator[Replayed]:
    """Each stage of training on some tasks, bare, its first batch played again by its adapter.

    Raises ValueError for a task that it was not played on.
    """
    for task_name in tasks:
        there = recorded["episodes"].get(task_name, {})
        stages = [name for name in STAGES if name in there]
        if not stages:
            names = ", ".join(recorded["episodes"])
            raise ValueError(f"no model was played on {task_name!r}; tasks are {names}")
        for name in stages:
            seeds = config.cells()[task_name, name][: config.batch]
            player = contestant(name)
            yield Replayed(
                task_name,
                name,
                first(there[name], len(seeds)),
                play_model(get_task(task_name), player, seeds),
                recorded["models"][player.weights]["cpu"] if player.weights else "",
                loaded(player.weights).cpu if player.weights else "",
            )


def _played(task_name: str, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    task = get_task(task_name)
    if is_model(name):
        return play_model(task, contestant(name), seeds)
    if name == ORACLE:
        played = [rollout(task, informed_policy(task, seed), seed) for seed in seeds]
        return episode_columns(task, played) | {c: [0] * len(seeds) for c in COUNTS}
    return dict(play_cell(task_name, name, seeds)) | {c: [0] * len(seeds) for c in COUNTS}
