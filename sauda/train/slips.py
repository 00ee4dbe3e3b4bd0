"""Preference learning on Sauda's own slips, by TRL's DPOTrainer.

    python -m sauda train slips

The learner plays games as it is served. Where it bids over its limit or above the ask, the
planner's move is chosen and its own rejected; where a line has a fault, the same move with a
sentence of the corpus. Most lines have none: there its own line is chosen, and an earlier line of
the game or an answer to a step that was not made is rejected. What comes before the difference of
two replies is the same in both, so that a pair of lines teaches nothing about the move.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from env import Accept, Offer
from env.bazaar.prompt import completion
from sauda.games.adapter import ModelTurn
from sauda.language.faults import faults_in
from sauda.llm.engine import DEFAULT_SAMPLING, Sampling
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.train import dpo, people_rows, teacher_rows
from sauda.train.common import option
from sauda.train.people_rows import ANSWERS_IN, PeopleRowSettings, added, task_of, worded

TRIES = 20  # at a sentence without a fault
STREAM = 12  # that draws the pairs of a game
MOVE, LINE, EVEN = 2.0, 1.0, 0.5  # how often pairs are drawn: of a move, of a line, of no slip
TOY = dpo.TOY


@dataclass(frozen=True, kw_only=True)
class SlipSettings(dpo.DPOSettings):
    """Settings in the names of TRL's DPOConfig; the defaults are the numbers we report."""

    init_adapter: str = "talks"
    tasks: tuple[str, ...] = ("bazaar/people", "bazaar/package", "bazaar/open-3")
    pairs: int = option("pairs to learn from", 180)
    even: float = 0.9  # share of the games without a slip that give a pair all the same
    first_seed: int = option("training seeds run up from it", 15_000)
    learning_rate: float = 1e-4
    stage: ClassVar[str] = "slips"

    @property
    def sampling(self) -> Sampling:
        """How Sauda is served."""
        return DEFAULT_SAMPLING


SETTINGS = {"bazaar": SlipSettings}


def pair_instances(
    settings: SlipSettings, player: PlayerSpec, instances: Sequence[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """One row per instance: a pair, or the task and seed alone where there is none."""
    games = [new_game(task_of(name, "training"), seed) for name, seed in instances]
    play_games(games, player)
    for (name, seed), game in zip(instances, games, strict=True):
        rng = np.random.default_rng([seed, STREAM])
        language = ANSWERS_IN[game.play.state.private["seller"]["language"]]
        turns = [turn for turn in game.turns if turn.action is not None]
        pairs = [pair for turn in turns if (pair := slip(name, turn, language, rng))]
        if not pairs and rng.random() < settings.even:
            pairs = [pair for turn in turns[1:] if (pair := worsened(turn, language, rng))]
        yield {"task": name, "seed": seed} | (pairs[rng.integers(len(pairs))] if pairs else {})


def slip(
    name: str, turn: ModelTurn, language: str, rng: np.random.Generator
) -> dict[str, Any] | None:
    """What mends a turn, and the turn itself; None where it has nothing to mend."""
    obs, action, lines = turn.obs, turn.action, _lines(turn)
    bids = isinstance(action, Offer)
    over = bids and action.price > obs.most_for(action.extras)
    if over or (isinstance(action, Accept) and obs.ask > obs.budget):
        act, best = people_rows.plan(name, obs, PeopleRowSettings())
        best, weight = teacher_rows.round_action(obs, best, 1), MOVE
    elif bids and not action.extras and action.price >= obs.ask:
        act, best, weight = "", Accept(), MOVE
    elif bids and action.message and any(faults_in(obs, action)):
        act, best, weight = "", replace(action, message=""), LINE
    else:
        return None
    for _ in range(TRIES):
        mended = worded(obs, best, act, language, lines, rng)
        if not isinstance(mended, Offer) or not any(faults_in(obs, mended)):
            return _pair(turn, completion(mended, obs), turn.reply.text, weight)
    return None


def worsened(turn: ModelTurn, language: str, rng: np.random.Generator) -> dict[str, Any] | None:
    """The turn, and the same move with a worse line; None where it bid without words."""
    obs, action, lines = turn.obs, turn.action, _lines(turn)
    if not isinstance(action, Offer) or not action.message or not lines:
        return None
    row = json.loads(made := completion(action, obs))
    untrue = added(language, "stood" if obs.drop else "fell")
    worse = (lines[-1], f"{untrue[rng.integers(len(untrue))]} {row['say']}")[rng.integers(2)]
    rejected = json.dumps(row | {"say": worse}, ensure_ascii=False, separators=(",", ":"))
    return _pair(turn, made, rejected, EVEN)


def _lines(turn: ModelTurn) -> list[str]:
    """What it said before in a game, as it wrote it."""
    replies = [m["content"] for m in turn.request.messages if m["role"] == "assistant"]
    return list(filter(None, (json.loads(reply).get("say", "") for reply in replies)))


def _pair(turn: ModelTurn, chosen: str, rejected: str, weight: float) -> dict[str, Any] | None:
    if chosen == rejected:
        return None
    chat = [dict(message) for message in turn.request.messages]
    return {"chat": chat, "chosen": chosen, "rejected": rejected, "gap": weight}


train = partial(dpo.train, rows_of=pair_instances)
