"""Teacher rows: what a buyer sees, and the move that the teacher would make of it, in our format.

Play is a noisy mixture, so that states off the teacher's path come up too, and every state is
labelled with the teacher's own move: DAgger's data (Ross, Gordon and Bagnell 2011) with the mixture
in the learner's place. The prompt is `render`'s and the completion `parse`s to the move (R24).
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from env import (
    Accept,
    IllegalAction,
    Observation,
    Offer,
    Play,
    Task,
    WalkAway,
    advance,
    agent_stream,
    begin,
    move,
    task,
)
from sauda.evaluate import SPLITS
from sauda.policies import policy
from sauda.policies.llm import parse, render, schema, shown, unit
from sauda.train.words import LINES, situation

Action = Offer | Accept | WalkAway
MIXTURE, WORDS = 1, 2  # streams of their own, apart from the game's


@dataclass(frozen=True)
class Mix:
    """One task's part of the rows, and who teaches it."""

    task: str
    part: float  # of the rows
    teacher: str


@dataclass(frozen=True)
class DataConfig:
    """Which games are played, by whom, and how many rows are kept."""

    rows: int = 3000
    mixes: tuple[Mix, ...] = (
        Mix("bazaar/open", 0.40, "belief"),
        Mix("bazaar/rushed", 0.25, "belief"),
        Mix("bazaar/bluff", 0.15, "belief"),
        Mix("bazaar/career", 0.08, "belief"),
        Mix("classic/single_deal", 0.04, "expert"),
        Mix("classic/asymmetric_pressure", 0.04, "expert"),
        Mix("classic/amazon_realistic", 0.04, "expert"),
    )
    behaviour: tuple[tuple[str, float], ...] = (  # who moves, drawn anew at each move
        ("teacher", 0.50),
        ("shifted", 0.20),  # the teacher's price, times a factor of `shift`
        ("linear", 0.10),
        ("tit_for_tat", 0.10),
        ("boulware", 0.10),
    )
    shift: tuple[float, float] = (0.8, 1.25)
    first_seed: int = 10_000  # of the training split; a task's seeds run up from it


@dataclass(frozen=True)
class Row:
    """One state with the teacher's move. `kind` is its `situation`; `move` counts from 0."""

    task: str
    seed: int
    move: int
    kind: str
    register: str
    prompt: list[dict[str, str]]
    completion: str


def rows(config: DataConfig) -> list[Row]:
    """The rows of `config`, tasks in order, each task's games up from the first seed.

    Raises ValueError where the seeds would leave the training split.
    """
    found: list[Row] = []
    for mix in config.mixes:
        wanted, seed = round(config.rows * mix.part), config.first_seed
        here = task(mix.task)
        mine: list[Row] = []
        while len(mine) < wanted:
            if seed not in SPLITS["train"]:
                raise ValueError(f"{mix.task} has too few training seeds for {wanted:,} rows")
            mine.extend(labelled(here, seed, mix.teacher, config))
            seed += 1
        found.extend(mine[:wanted])
    return found


@dataclass(frozen=True)
class Labelled:
    """A state of the learner's with the move that the teacher makes there."""

    turn: int  # the learner's, from 0
    obs: Observation
    move: Action


def states(here: Task, seed: int, teacher: str, config: DataConfig) -> Iterator[Labelled]:
    """The learner's states in one game of the mixture."""
    rng = np.random.default_rng([seed, MIXTURE])
    play, turn = advance(here, here.opponents, begin(here, seed)), 0
    while not play.forfeit and here.env.to_act(play.state) is not None:
        obs = here.env.observe(play.state, here.learner)
        label = policy(here, teacher)(obs, agent_stream(here, seed, here.learner, turn))
        yield Labelled(turn, obs, label)
        play = _moved(here, play, _behaved(here, obs, label, config, rng), label)
        turn += 1


def labelled(here: Task, seed: int, teacher: str, config: DataConfig) -> Iterator[Row]:
    """A row for each of the learner's states in one game of the mixture, all in one register."""
    rng = np.random.default_rng([seed, WORDS])
    register = list(LINES)[rng.integers(len(LINES))]
    for state in states(here, seed, teacher, config):
        kind, text = written(state.obs, state.move, register, rng)
        yield Row(here.name, seed, state.turn, kind, register, render(state.obs), text)


def _behaved(
    here: Task, obs: Observation, label: Action, config: DataConfig, rng: np.random.Generator
) -> Action:
    """What the mixture does at `obs`."""
    names, chances = zip(*config.behaviour, strict=True)
    who = names[rng.choice(len(names), p=chances)]
    if who == "teacher":
        return label
    if who != "shifted":
        return policy(here, who)(obs, rng)
    price = label.price if isinstance(label, Offer) else obs.ask
    shifted = obs.priced(price * rng.uniform(*config.shift))
    return Offer(max(min(shifted, obs.priced(obs.budget)), 10.0**-obs.table.decimals))


def _moved(here: Task, play: Play, action: Action, label: Action) -> Play:
    """The game after `action`, or after the teacher's move where the rules refuse it."""
    try:
        play = move(here, play, action)
    except IllegalAction:
        play = move(here, play, label)
    return advance(here, here.opponents, play)


def written(
    obs: Observation, action: Action, register: str, rng: np.random.Generator
) -> tuple[str, str]:
    """The situation of `action` and its completion: canonical JSON that means it at `obs`."""
    action = rounded(obs, action)
    kind = situation(obs, action)
    lines = LINES[register][kind]
    say = lines[rng.integers(len(lines))]
    verb: dict[str, Any] = {"accept": True} if isinstance(action, Accept) else {"walk": True}
    if isinstance(action, Offer):
        verb = {"offer": shown(obs, action.price)}
    return kind, json.dumps({**verb, "say": say}, separators=(",", ":"))


def rounded(obs: Observation, action: Action) -> Action:
    """`action` as a completion can say it: an offer's price in whole percent of the first ask.

    Never beyond the rules, nor to a loss that `action` is not. An offer that reads like the ask
    takes it.
    """
    if not isinstance(action, Offer):
        return action
    percent = shown(obs, action.price)
    if obs.bid is None or percent != shown(obs, obs.bid):  # what was bid may be bid again
        percent = min(percent, _highest(obs, action.price))
    return parse(json.dumps({"offer": max(1, percent)}), obs)


def _highest(obs: Observation, price: float) -> int:
    """The most whole percent that `price` may be rounded to: what is legal, and no new loss."""
    offers = [m for m in schema(obs)["anyOf"] if "offer" in m["properties"]]
    legal = offers[0]["properties"]["offer"]["maximum"] if offers else 1
    return min(legal, math.floor(100 * obs.budget / unit(obs))) if price <= obs.budget else legal


def summary(found: Sequence[Row]) -> dict[str, Any]:
    """How many rows there are by move, task, situation and register."""
    moves = Counter(next(iter(json.loads(row.completion))) for row in found)
    return {
        "rows": len(found),
        "games": len({(row.task, row.seed) for row in found}),
        "moves": {verb: moves[verb] for verb in ("offer", "accept", "walk")},
        **{
            name: dict(sorted(Counter(getattr(row, name) for row in found).items()))
            for name in ("task", "kind", "register")
        },
    }


def to_lines(found: Sequence[Row]) -> str:
    """The rows as JSON, one a line."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in found)


def from_lines(text: str) -> list[Row]:
    """The rows of `to_lines`."""
    return [Row(**json.loads(line)) for line in text.splitlines()]


def conversation(row: Row) -> Mapping[str, Any]:
    """`row` as TRL's conversational prompt and completion."""
    return {
        "prompt": row.prompt,
        "completion": [{"role": "assistant", "content": row.completion}],
    }


def grouped(lengths: Sequence[int], batch: int, rng: np.random.Generator) -> list[int]:
    """An order in which batches hold rows of like length, and lengths come mixed.

    Shuffled, sorted within every 20 batches, the batches shuffled again; the last may be short.
    """
    order, window = rng.permutation(len(lengths)), 20 * batch
    batches = []
    for start in range(0, len(order), window):
        like = sorted(order[start : start + window], key=lambda i: lengths[i])
        batches += [like[i : i + batch] for i in range(0, len(like), batch)]
    full = [b for b in batches if len(b) == batch]
    short = [b for b in batches if len(b) < batch]
    return [int(i) for k in rng.permutation(len(full)) for i in full[k]] + [
        int(i) for b in short for i in b
    ]
