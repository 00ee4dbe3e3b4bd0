"""The episodes that the Transcripts tab plays: who can play a task, and one seed for all."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from env import ARENA_TASKS, Episode, Policy, Task, get_task, rollout
from panels.ui.provenance import load_or_say
from panels.ui.visitor import visitor_of_event
from sauda.games import game_of
from sauda.games.transcript import from_json
from sauda.llm.backends import SEATS, in_page
from sauda.llm.server import Loading, ModelWorker
from sauda.llm.types import ReplyError
from sauda.played import weights_of
from sauda.players import (
    BASE,
    LAB,
    SERVED,
    get_policy,
    is_model,
    planners_of,
    player_spec,
    policy_label,
    row_name,
    scripts_of,
)
from sauda.records.schemas.episodes import POLICIES, SEED
from sauda.records.seeds import SPLITS, whole_seed
from sauda.records.store import Artifact

FILE = "episodes/before_after.json"  # games before and after training
MOST = 4  # policies side by side
LOADS_WITHIN = 120.0  # seconds that a game waits for a model
GAME_SECONDS = 300.0  # that a game of a language model may take
ARENA_SEED, ARENA_POLICIES = 5, ("broker", "rule_based_expert")  # with which the arena opens
TRAINED = (LAB, BASE)  # after and before training in the arena
TRAINING_TASK = "arena/market_round"  # a game of coalition_market takes the model twice as long


def able(task_name: str) -> list[str]:
    """The policies for the learner's seat: scripts and planners, and language models that buy."""
    task = get_task(task_name)
    models = TRAINED[::-1] if task_name in ARENA_TASKS else ()
    models = (BASE, SERVED) if task.learner == "buyer" else models
    return [*scripts_of(task), *planners_of(task), *models]


def player_title(name: str) -> str:
    """A policy in words: "rule based", or the stage of a language model."""
    return policy_label(row_name(name))


def player_choices(task_name: str) -> list[tuple[str, str]]:
    """The policies of a task for a picker: in words, the names as values."""
    return [(player_title(name), name) for name in able(task_name)]


def play(task_name: str, seed: int | str, names: Sequence[str]) -> dict[str, Episode]:
    """One episode a policy, all at one seed; raises ValueError on a bad choice.

    A game of a language model is the recorded one where there is one, else it is played now, which
    may take a minute. Raises ReplyError where a language model is to play and cannot reply.
    """
    task = get_task(task_name)
    if not 1 <= len(names or ()) <= MOST:
        raise ValueError(f"pick one to {MOST} policies; {len(names or ())} are picked")
    if set(names) - set(able(task_name)):
        raise ValueError(f"the policies of {task_name} are {', '.join(able(task_name))}")
    number = whole_seed(seed)
    known = recorded_at(task_name, number)

    def episode(name: str) -> Episode:
        if is_model(name):
            return known.get(name) or by_model(task_name, number, name)
        return rollout(task, get_policy(task, name), number)

    return {name: episode(name) for name in names}


@lru_cache(maxsize=64)
def recorded_at(task_name: str, seed: int) -> Mapping[str, Episode]:
    """The games in the record of before and after at one seed, by player."""
    artifact, _ = load_or_say(FILE)
    return {
        record.policy: from_json(record.as_json())
        for task in (artifact.data.tasks if artifact else ())
        for pair in (task.chosen if task.task == task_name else ())
        for record in (pair.before, pair.after)
        if pair.seed == seed
    }


@lru_cache(maxsize=64)
def by_model(task_name: str, seed: int, name: str) -> Episode:
    """An episode that a language model of this page plays; cached, as a game takes seconds.

    Raises ReplyError where it cannot be played in time.
    """
    task = get_task(task_name)
    return rollout(task, of_this_page(task, name), seed)


def of_this_page(task: Task, name: str) -> Policy:
    """The policy of that name; a language model's replies come from this page's own process.

    Its requests stand in line as those of the visitor whose event runs. Raises ReplyError, here and
    in play, where it cannot be loaded or a game cannot be played in time.
    """
    if not weights_of(name):
        return get_policy(task, name)
    player = player_spec(name)
    player = replace(player, generate=awaited_model(player.weights))
    return within(player.policy(game_of(task)))


def awaited_model(weights: str) -> ModelWorker:
    """The model of these weights in this page, loaded, for the visitor whose event runs.

    Sauda's have two names, that of its row and that of its seat, and are loaded under the latter.
    """
    of_seat = SEATS["buyer"].model
    name = of_seat if weights == row_name(of_seat) else weights
    return wait_until_loaded(in_page(name).for_visitor(visitor_of_event()))


def wait_until_loaded(model: ModelWorker) -> ModelWorker:
    """`model` once it has loaded or failed to; ReplyError where it takes too long."""
    if isinstance(model.wait(LOADS_WITHIN), Loading):
        raise ReplyError("the model is still loading; try again in a minute")
    return model


def within(policy: Policy, seconds: float = GAME_SECONDS) -> Policy:
    """`policy`, which raises ReplyError once its game has lasted longer."""
    deadline = time.monotonic() + seconds

    def play(obs: Any, rng: np.random.Generator) -> Any:
        if time.monotonic() > deadline:
            raise ReplyError(f"the game was not over after {seconds:g} s")
        return policy(obs, rng)

    return play


def usual(task_name: str, names: Sequence[str], seed: str) -> tuple[list[str], str]:
    """Policies and seed for a newly chosen task: the present ones where the task allows them.

    A task of the other game gets the default policies and the default seed of that game.
    """
    there = able(task_name)
    allowed = [name for name in names if name in there]
    if names and len(allowed) == len(names):
        return allowed, seed
    if task_name in ARENA_TASKS:
        return list(ARENA_POLICIES), str(ARENA_SEED)
    if allowed:
        return allowed, seed
    return [name for name in POLICIES if name in there] or there[:MOST], str(SEED)


def median_gain(comparison: Artifact, task_name: str) -> int:
    """The hold-out seed at which training changed the grade by the median amount.

    With an even count it is the lower of the two in the middle; of equal ones the first seed.
    """
    played = comparison.data.episodes[task_name]
    after, before = (np.array(played[name].grade) for name in TRAINED)
    n = min(len(after), len(before))
    order = np.argsort(after[:n] - before[:n], kind="stable")
    return SPLITS["holdout"][int(order[(n - 1) // 2])]
