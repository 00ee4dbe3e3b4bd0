"""Teacher rows for SFT in the GPU arena: the planner's action at every state of its games.

The planner moves most of the time. Where another policy moves, the next state is off the planner's
path, and the planner's action there is learnt as well.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from env import Play, Task, advance, agent_stream, arena, begin, get_task, move
from sauda.games.arena_prompt import completion, parse, render
from sauda.llm.registry import get_policy
from sauda.records.seeds import SPLITS
from sauda.train.data.teacher import MIXTURE, Row

WAITS = 5  # the stream that draws which waits are kept


@dataclass(frozen=True)
class ArenaData:
    """Which games are played, by whom, and how many actions are kept."""

    rows: int = 1_400  # actions
    task: str = "arena/market_round"
    teacher: str = "planner"
    behaviour: tuple[tuple[str, float], ...] = (  # who moves, drawn anew at each action
        ("planner", 0.85),
        ("rule_based_expert", 0.08),
        ("random", 0.07),
    )
    waits: float = 0.3  # share of the teacher's waits that is kept: they are frequent and alike
    first_seed: int = 10_000  # of the training split


@dataclass(frozen=True)
class ArenaTaught:
    """A state of the learner in a game and the teacher's action there."""

    turn: int  # the learner's, from 0
    play: Play
    obs: arena.Observation
    action: arena.Action


def taught(task: Task, seed: int, config: ArenaData) -> Iterator[ArenaTaught]:
    """The learner's states in one game of the mixture."""
    behaved = np.random.default_rng([seed, MIXTURE])
    names, chances = zip(*config.behaviour, strict=True)
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    while task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        stream = agent_stream(task, seed, task.learner, turn)
        yield ArenaTaught(turn, play, obs, get_policy(task, config.teacher)(obs, stream))
        acting = get_policy(task, names[behaved.choice(len(names), p=chances)])
        action = parse(completion(acting(obs, stream)), obs)
        play = advance(task, task.opponents, move(task, play, action))
        turn += 1


def arena_rows(config: ArenaData) -> list[Row]:
    """One row a state whose action is learnt, the games up from the first seed.

    Raises ValueError where the seeds would leave the training split.
    """
    task, actions, seed = get_task(config.task), [], config.first_seed
    while len(actions) < config.rows:
        if seed not in SPLITS["train"]:
            raise ValueError(f"{task.name} has too few training seeds for {config.rows:,} rows")
        kept = np.random.default_rng([seed, WAITS])
        for state in taught(task, seed, config):
            if kept.random() >= config.waits and state.action.action_type == "wait":
                continue
            reply = {"role": "assistant", "content": completion(state.action)}
            kind = state.action.action_type
            messages = [*render(state.obs), reply]
            actions.append(Row(task.name, seed, state.turn, "", [kind], messages))
        seed += 1
    return actions[: config.rows]


def arena_summary(actions: Sequence[Row]) -> dict[str, Any]:
    """The number of learnt actions by type, in the fields of `teacher.summary`."""
    moves = Counter(row.kinds[0] for row in actions)
    return {
        "rows": len(actions),
        "completions": len(actions),
        "moves": dict(moves.most_common()),
        "kind": {},
        "task": dict(Counter(row.task for row in actions)),
        "speech_register": {},
    }
