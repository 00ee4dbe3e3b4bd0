"""What a language model wins bare, constrained and wrapped, beside no model and scripts.

All games of a batch go in step, so that one pass of the network moves every one of them. A game is
as it were played alone, for chance belongs to (seed, agent, turn); but bf16 rounds differently in a
batch, and a sampled token may turn on a last bit, so a batch's size is part of the configuration.
What is played is kept on disk after each batch: a stopped run goes on where it was.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tqdm import tqdm

from env import (
    Episode,
    IllegalAction,
    Play,
    Task,
    Turn,
    advance,
    agent_stream,
    begin,
    episode,
    move,
    rollout,
    shares,
    task,
)
from sauda.artifact import write
from sauda.cells import deal_price, deals, ends, play_cell, rounds
from sauda.codehash import code_hash
from sauda.evaluate import ENDS, SPLITS, row
from sauda.policies.best_reply import informed_policy
from sauda.policies.decoding import Decoder
from sauda.policies.lineup import Contestant, contestant, is_model, loaded, proposed
from sauda.policies.llm import LLMPolicy, parse, render, schema, seed_of
from sauda.policies.reply import Reply
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


@dataclass
class Game:
    """A game in play, and what is counted of its learner."""

    play: Play
    moves: int = 0
    unparsed: int = 0
    changed: int = 0
    tokens: int = 0


def play_model(here: Task, player: Contestant, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in step, as columns like those of an evaluation and the COUNTS."""
    games = [Game(advance(here, here.opponents, begin(here, seed))) for seed in seeds]
    while running := [game for game in games if _runs(here, game.play)]:
        for game, reply in zip(running, _replies(here, player, running), strict=True):
            _answer(here, player, game, reply)
    played = [episode(here, game.play) for game in games]
    return columns(here, played) | {name: [getattr(g, name) for g in games] for name in COUNTS}


def columns(here: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """The columns of an evaluation: one value a deal, grades one an episode."""
    return {
        "end": "".join(letter for e in played for letter in ends(e, here.learner)),
        "price": [deal_price(e, i, here.learner) for e in played for i in range(deals(e))],
        "rounds": [r for e in played for r in rounds(e)],
        "share": [round(s, 6) for e in played for s in shares(e.final, here.learner)],
        "grade": [round(here.grade(e.final), 6) for e in played],
    }


def _runs(here: Task, play: Play) -> bool:
    return not play.forfeit and here.env.to_act(play.state) is not None


def _replies(here: Task, player: Contestant, running: Sequence[Game]) -> Sequence[Reply]:
    """One reply to each game, all in one batch; the seeds are those of play one at a time."""
    seen = [here.env.observe(game.play.state, here.learner) for game in running]
    seeds = [seed_of(agent_stream(here, g.play.seed, here.learner, g.moves)) for g in running]
    chats = [render(obs) for obs in seen]
    forms = [schema(obs) if player.constrained else None for obs in seen]
    return player.generate.batch(chats, seeds, forms)


def _answer(here: Task, player: Contestant, game: Game, reply: Reply) -> None:
    """`game` after the learner's move and every answer to it; a forfeit ends it."""
    obs = here.env.observe(game.play.state, here.learner)
    game.moves += 1
    game.tokens += reply.tokens
    proposal = proposed(obs, reply)
    game.unparsed += isinstance(proposal, IllegalAction)
    try:
        steered = player.steer(obs, proposal)
        game.changed += bool(steered.changes)
        game.play = advance(here, here.opponents, move(here, game.play, steered.action))
    except IllegalAction as error:
        turns = (*game.play.turns, Turn(here.learner, obs, None, str(error)))
        game.play = Play(game.play.seed, game.play.state, turns, forfeit=True)


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
