"""What the Hub reads of the project: a data set that is an environment and a benchmark, models, and
a Space in which recorded games are read with Inspect's viewer.

Each is a folder that is written from the artifacts, its card by `cards.jinja`. What the Hub looks
for is documented there under "Environment datasets" and "Evaluation results".
"""

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from env import TASKS, new_chat
from env.fingerprint import of_opponents, of_prompt, of_rules
from sauda.cloud.space import NoEnvironment, in_fresh
from sauda.games import RANKED
from sauda.llm.model import ADAPTERS, HUB, TRAINED
from sauda.records.kinds import ENTRIES
from sauda.records.seeds import SPLITS, first_seeds
from sauda.records.store import Artifact, load, read_json
from sauda.serve.mcp import SHOWCASE, read_games

COMPARED = ("evaluation/model-comparison.json", "evaluation/arena-model-comparison.json")
FAMILIES = ("classic", "market", "arena")
SCRIPTED = tuple(f"evaluation/{family}-{split}.json" for family in FAMILIES for split in SPLITS)
NO_FIGURES = ("file", "task", "policy", "moves", "replies")  # of a game
CONFIGS = {"tasks": tuple(SPLITS), "games": tuple(SPLITS), "transcripts": ("holdout",)}
TAGS = "rl-environment, openenv, verifiers, inspect-ai, negotiation, multi-agent"
CARDS = Environment(
    loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, autoescape=False
).get_template("cards.jinja")


def task_id(name: str) -> str:
    """The name of a task where no slash may stand."""
    return name.replace("/", "_")


# The data set


def write_dataset(folder: Path, space: str, seeds: int) -> None:
    """Write the data set with `seeds` games of each task and split.

    `space` is the Space that serves the games, "" where there is none.
    """
    import pandas as pd

    games: dict[str, list[Any]] = defaultdict(list)
    for artifact in map(load, (*COMPARED, *SCRIPTED)):
        games[artifact.config.get("split", "holdout")] += _games_in(artifact)
    for split in SPLITS:
        _write_table(folder / "tasks", split, pd.DataFrame(_task_rows(split, seeds)))
        _write_table(folder / "games", split, pd.concat(games[split], ignore_index=True))
    shown = load(SHOWCASE).data.as_json()["episodes"]
    names = ("task", "policy", "seed", "end", "grade")
    rows = [{n: game[n] for n in names} | {"moves": json.dumps(game["moves"])} for game in shown]
    _write_table(folder / "transcripts", "holdout", pd.DataFrame(rows))
    _write_yaml(folder / "environment.yaml", _environment(space))
    _write_yaml(folder / "eval.yaml", _benchmark())
    compared = [row for artifact in map(load, COMPARED) for row in artifact.data.rows]
    hashes = {name: _hashes(name) for name in TASKS}
    about = {"space": space, "seeds": seeds, "configs": CONFIGS, "hashes": hashes}
    _write_card(folder, "dataset", rows=compared, **about)


@cache
def _hashes(task: str) -> tuple[str, str, str]:
    """The fingerprints of a task's rules, opponents and prompt."""
    return of_rules(TASKS[task]), of_opponents(TASKS[task]), of_prompt(TASKS[task])


def _task_rows(split: str, seeds: int) -> Iterator[dict[str, Any]]:
    """A row for each game: the chat that asks for its first move, and which game it is."""
    for name, task in TASKS.items():
        for seed in first_seeds(seeds, split):
            prompt = new_chat(task, seed).messages()
            info = json.dumps({"game": name, "seed": seed})
            row = {"task_id": f"{name}#{seed}", "prompt": prompt, "info": info}
            yield row | {"task": name, "seed": seed}


def _games_in(artifact: Artifact) -> Iterator[Any]:
    """The games that an artifact holds in columns as frames, a row for each, without the moves."""
    import pandas as pd

    data, split = artifact.data.as_json(), artifact.config.get("split", "holdout")
    cells = data["episodes"]
    for policies in (cells, *cells.values()):  # some stand under who sits in the other seats
        for task, policy_columns in policies.items():
            for policy, columns in policy_columns.items() if task in TASKS else ():
                n = len(columns["grade"])
                ends = [data["ends"][letter] for letter in columns["end"]]
                each = {**columns, "end": ends, "seed": list(first_seeds(n, split))}
                plain = {m: v for m, v in each.items() if isinstance(v, list) and len(v) == n}
                about = {"task": task, "policy": policy, "file": artifact.file}
                yield pd.DataFrame(about | plain)  # without what stands there deal by deal


def _environment(space: str) -> dict[str, Any]:
    """The tasks as the Hub and trainers read them."""
    served = {"manifest": "openenv.yaml", "mode": "space", "space_id": space}
    frameworks = {"verifiers": {"min_version": ">=0.4", "adapter": "sauda_games.SaudaTaskset"}}
    frameworks |= {"openenv": served} if space else {}
    about = {"config_name": "tasks", "splits": list(SPLITS), "frameworks": frameworks}
    rows = [{"id": task_id(name), "title": task.about, **about} for name, task in TASKS.items()]
    return {"spec_version": "hf-rl-env-0.1", "environments": rows}


def _benchmark() -> dict[str, Any]:
    """The tasks of the leaderboard as a benchmark."""
    about = "Haggling in a bazaar and trade of GPU time. The score is the mean grade, at most 1."
    tasks = [{"id": task_id(name), "config": "tasks", "split": "holdout"} for name in RANKED]
    row = {"name": "Sauda", "description": about, "evaluation_framework": "inspect-ai"}
    return row | {"tasks": tasks}


# The logs


def write_logs(folder: Path) -> None:
    """Write a static Space: Inspect's viewer of all games of the comparisons and some whole ones.

    Raises NoEnvironment where the package index does not give inspect-ai.
    """
    logs = [log for artifact in map(load, COMPARED) for log in _logs_of(artifact)]
    logs += _logs_of_whole_games()
    script = Path(__file__).with_name("inspect_logs.py")
    command = in_fresh(sys.executable, ["--with", "inspect-ai"], script, folder)
    run = subprocess.run(command, input=json.dumps(logs), capture_output=True, text=True)
    if run.returncode:
        raise NoEnvironment(f"inspect-ai: {run.stderr.strip()[-800:]}")
    compared = [row for artifact in map(load, COMPARED) for row in artifact.data.rows]
    _write_card(folder, "logs", rows=compared, logs=len(logs))


def _logs_of(artifact: Artifact) -> Iterator[dict[str, Any]]:
    """A log for each row of a comparison, with the figures of its games."""
    games = {(frame.task[0], frame.policy[0]): frame for frame in _games_in(artifact)}
    for row in artifact.data.rows:
        figures = games[row.task, row.policy].drop(columns=["task", "policy", "file"])
        grade = {name: getattr(row.grade, name) for name in ("mean", "low", "high")}
        played = json.loads(figures.to_json(orient="records"))
        yield _log(artifact, row.task, row.policy, played, grade)


def _logs_of_whole_games() -> Iterator[dict[str, Any]]:
    """A log for each player and task of which some games are on record move by move."""
    cell = itemgetter("file", "task", "policy")
    for (file, *played), games in groupby(sorted(read_games(), key=cell), cell):
        yield _log(load(file.removeprefix("artifacts/")), *played, list(games), {})


def _log(
    artifact: Artifact, task: str, player: str, games: Sequence[Mapping[str, Any]], grade: Any
) -> dict[str, Any]:
    """A log as `inspect_logs.py` takes it; a game whose moves are only counted shows none."""
    hashes = dict(zip(("rules", "opponents", "prompt"), _hashes(task), strict=True))
    about = {"file": artifact.file, "command": artifact.made["command"], **hashes}
    learner, samples = TASKS[task].learner, []
    for game in games:
        moves = game["moves"] if isinstance(game.get("moves"), list) else ()
        listed = [
            (move["agent"] == learner, json.dumps(move, ensure_ascii=False)) for move in moves
        ]
        play = f"sauda play --task {task} --policy {player} --seed {game['seed']}"
        figures = {name: game[name] for name in game if name not in NO_FIGURES}
        samples.append({"input": play, "moves": listed, "figures": figures})
    named = {"created": artifact.made["created"], "task": task, "model": player}
    return {**named, "metadata": about, "grade": grade, "games": samples}


# A model


def write_model(folder: Path, adapter: str, dataset: str) -> None:
    """Write an adapter of ours with its card and its results at the benchmark `dataset`.

    Raises ValueError where there is no such adapter, or no row of it on record.
    """
    known = sorted(file.parent.name for file in ADAPTERS.glob(f"*/{TRAINED}"))
    if adapter not in known:
        raise ValueError(f"no adapter {adapter!r}; adapters are {', '.join(known)}")
    player, results, rows = f"mini+{adapter}", [], []
    for artifact in map(load, COMPARED):
        played = [row for row in artifact.data.rows if row.policy == player]
        results += [_result(artifact, row, dataset) for row in played if row.task in RANKED]
        rows += played
    if not rows:
        raise ValueError(f"no recorded games of {player}: sauda compare-models plays them")
    shutil.copytree(ADAPTERS / adapter, folder, dirs_exist_ok=True)
    _write_yaml(folder / ".eval_results" / "sauda.yaml", eval_result_entries_to_yaml(results))
    log = ENTRIES.get(f"training/{adapter}.json")
    base = {"base": HUB, "sha256": read_json(folder / TRAINED)["base_sha256"]}
    about = {"player": player, "dataset": dataset, "training": log and log.command}
    _write_card(folder, "model", rows=rows, **base, **about)


def _result(artifact: Artifact, row: Any, dataset: str) -> EvalResultEntry:
    """A mean grade as the Hub reads it."""
    grade, played_by = row.grade, artifact.data.as_json()["models"][row.policy]
    within = f"n = {row.n}, 95% interval {grade.low:.3f} to {grade.high:.3f}"
    return EvalResultEntry(
        dataset_id=dataset,
        task_id=task_id(row.task),
        value=grade.mean,
        date=artifact.made["created"][:10],
        source_url=f"https://huggingface.co/datasets/{dataset}",
        source_name="Recorded games",
        notes=f"{within}; prompt {played_by['prompt']}; {artifact.made['command']}",
    )


def _write_card(folder: Path, block: str, rows: Sequence[Any], **values: Any) -> None:
    values |= {"tags": TAGS, "table": _written("table", {"rows": rows})}
    (folder / "README.md").write_text(f"{_written(block, values)}\n", encoding="utf-8")


def _written(block: str, values: Mapping[str, Any]) -> str:
    return "".join(CARDS.blocks[block](CARDS.new_context(values))).strip()


def _write_yaml(file: Path, content: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    twice = json.loads(json.dumps(content))  # what stands twice is written twice, not referred to
    file.write_text(yaml.safe_dump(twice, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _write_table(folder: Path, split: str, table: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table.to_parquet(folder / f"{split}.parquet", index=False)
