"""What a language model wins bare, constrained and wrapped, beside no model and scripts.

The games of a batch go in step (`instep`), and a batch's size is part of the configuration. What is
played is kept on disk after each batch: a stopped run goes on where it was.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tqdm import tqdm

from env import Episode, IllegalAction, Task, episode, rollout, shares, task
from sauda.artifact import write
from sauda.cells import deal_price, deals, ends, play_cell, rounds
from sauda.codehash import code_hash
from sauda.evaluate import ENDS, SPLITS, row
from sauda.instep import new_game, play_in_step
from sauda.policies.best_reply import informed_policy
from sauda.policies.decoding import Decoder
from sauda.policies.lineup import Contestant, contestant, is_model, loaded
from sauda.policies.llm import LLMPolicy, parse, render
from sauda.policies.weights import CACHE

PARTS = CACHE / "ladder"
ORACLE = "oracle"  # the best reply to the very seller it meets, whom it knows
COUNTS = ("moves", "unparsed", "changed", "tokens")  # of the learner, one number an episode


@dataclass(frozen=True)
class Config:
    """What is compared; the defaults are the numbers we report."""

    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed", "bazaar/bluff")
    policies: tuple[str, ...] = (
        "mini", "mini+constrained", "mini+steering", "mini+honest", "mini+constrained+honest",
        "null", "null+steering", "null+honest", "linear", "wait", "belief", ORACLE,
    )  # fmt: skip
    episodes: int = 200  # a cell, from the first hold-out seed
    batch: int = 50  # games in step; also what a stopped run loses at most
    baseline: str = "mini"  # of the paired differences: the bare model

    def seeds(self) -> range:
        """The hold-out seeds; ValueError where there are too few, or the names do not fit."""
        if not 1 <= self.episodes <= len(SPLITS["holdout"]):
            raise ValueError(f"episodes must be at least 1, not {self.episodes}")
        if self.batch < 1 or self.baseline not in self.policies:
            raise ValueError(f"a batch has at least 1 game, and {self.baseline!r} must be played")
        for name in filter(is_model, self.policies):
            contestant(name)
        return SPLITS["holdout"][: self.episodes]


def ladder(config: Config, parts: Path = PARTS) -> dict[str, Any]:
    """The data of the ladder artifact: a row a task and policy, their episodes, the models."""
    seeds = config.seeds()
    cells = [(t, p) for t in config.tasks for p in config.policies]
    episodes = {
        cell: _cell(*cell, seeds, config.batch, parts)
        for cell in tqdm(cells, unit="cell", desc="playing", leave=False)
    }
    return summarised(config, episodes) | {"models": _models(config.policies)}


def summarised(
    config: Config, episodes: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any]:
    """The rows, all computed from the episodes."""
    rows = []
    for cell, columns in episodes.items():
        counts = {name: sum(columns[name]) for name in COUNTS}
        rows.append(row(*cell, episodes, config.baseline, _code(cell[1])) | counts)
    grouped = {t: {p: episodes[t, p] for p in config.policies} for t in config.tasks}
    return {"ends": ENDS, "rows": rows, "episodes": grouped}


def _models(policies: Sequence[str]) -> dict[str, Any]:
    """Which weights stood behind each name, and the hash of the prompt and parser (R2)."""
    names = {contestant(p).weights for p in policies if is_model(p)} - {""}
    models = {name: loaded(name) for name in sorted(names)}
    return {
        name: {
            "source": model.source,
            "origin": model.origin,
            "sha256": model.sha256,
            "prompt": code_hash(render),
            "parser": code_hash(parse),
            "sampling": asdict(model.decoder.sampling),
        }
        for name, model in models.items()
    }


def _cell(
    task_name: str, name: str, seeds: Sequence[int], batch: int, parts: Path
) -> dict[str, Any]:
    """One cell's columns, batch after batch, each read from `parts` where it is there already."""
    if not is_model(name):
        return _played(task_name, name, seeds)
    pieces = []
    for start in range(0, len(seeds), batch):
        some = seeds[start : start + batch]
        file = parts / f"{_key(task_name, name, some)}.json"
        if not file.exists():
            write(file, json.dumps(play_model(task(task_name), contestant(name), some)))
        pieces.append(json.loads(file.read_text(encoding="utf-8")))
    return {column: _joined([piece[column] for piece in pieces]) for column in pieces[0]}


def _key(task_name: str, name: str, seeds: Sequence[int]) -> str:
    """All that a batch's outcome depends on, as a file name."""
    here, player = task(task_name), contestant(name)
    model = loaded(player.weights) if player.weights else None
    marks = model and (model.sha256, model.source)
    code = (code_hash(here.env, here.opponents, here.grade), _code(name))
    return sha256(repr((task_name, name, list(seeds), marks, code)).encode()).hexdigest()[:24]


def _code(name: str) -> str:
    """A hash of what makes a move of an observation, from prompt to token to parser to wrapper.

    How weights are loaded is left out: their digest, precision and device stand beside it. "" for
    a script, which has a hash of its own.
    """
    if name == ORACLE:
        return code_hash(informed_policy)
    if not is_model(name):
        return ""
    player = contestant(name)
    speaks = Decoder if player.weights else type(player.generate)
    return code_hash(LLMPolicy, speaks, player.constrained, player.wrapper)


def _joined(pieces: Sequence[Any]) -> Any:
    return "".join(pieces) if isinstance(pieces[0], str) else [x for piece in pieces for x in piece]


def play_model(here: Task, player: Contestant, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in step, as columns like those of an evaluation and the COUNTS."""
    games = [new_game(here, seed) for seed in seeds]
    play_in_step(games, player)
    counts = [
        {
            "moves": len(game.asked),
            "unparsed": sum(isinstance(asked.proposal, IllegalAction) for asked in game.asked),
            "changed": sum(asked.changed for asked in game.asked),
            "tokens": sum(asked.reply.tokens for asked in game.asked),
        }
        for game in games
    ]
    played = [episode(here, game.play) for game in games]
    return columns(here, played) | {name: [count[name] for count in counts] for name in COUNTS}


def columns(here: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """The columns of an evaluation: one value a deal, grades one an episode."""
    return {
        "end": "".join(letter for e in played for letter in ends(e, here.learner)),
        "price": [deal_price(e, i, here.learner) for e in played for i in range(deals(e))],
        "rounds": [r for e in played for r in rounds(e)],
        "share": [round(s, 6) for e in played for s in shares(e.final, here.learner)],
        "grade": [round(here.grade(e.final), 6) for e in played],
    }


def again(config: Config, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data as it should be: rows computed again, and the cells that need no weights played."""
    episodes = {}
    for task_name in config.tasks:
        for name in config.policies:
            kept = is_model(name) and contestant(name).weights
            episodes[task_name, name] = (
                recorded["episodes"][task_name][name]
                if kept
                else _played(task_name, name, config.seeds())
            )
    return summarised(config, episodes) | {"models": recorded["models"]}


def _played(task_name: str, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    here = task(task_name)
    if is_model(name):
        return play_model(here, contestant(name), seeds)
    if name == ORACLE:
        played = [rollout(here, informed_policy(here, seed), seed) for seed in seeds]
        return columns(here, played) | {c: [0] * len(seeds) for c in COUNTS}
    return dict(play_cell(task_name, name, seeds)) | {c: [0] * len(seeds) for c in COUNTS}
