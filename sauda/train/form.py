"""The form of a move and nothing else: fine-tuning on legal moves that are drawn at random.

    python -m sauda train form

It is where a run from reward alone begins: its moves can be read, and it knows nothing about what
they are worth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

import numpy as np

from env import Observation, Task, advance, begin, move
from env.bazaar.prompt import parse, render, schema, unit
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import sft
from sauda.train.common import option
from sauda.train.people_rows import task_of
from sauda.train.teacher_rows import Row

MOVES = 9  # the stream that draws the moves
# How often each kind of move is drawn where it is legal; games that end at once would show little.
VERBS = {"raise": 0.55, "hold": 0.2, "accept": 0.2, "walk": 0.03}
TOY = {"rows": 32, "per_device_train_batch_size": 8, "save_steps": 2, "acceptance_prompts": 6,
       "eval_games": 2}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FormSettings(sft.SFTStageSettings):
    """Settings in the names of TRL's SFTConfig, but for the games that are learnt."""

    rows: int = option("games to learn from", 880)
    task: str = "bazaar/open-3"
    first_seed: int = option("training seeds run up from it", 10_000)
    per_device_train_batch_size: int = 8
    save_steps: int = 110
    eval_games: int = option("training games that every checkpoint plays", 100)
    stage: ClassVar[str] = "form"


def make_rows(settings: FormSettings) -> list[Row]:
    """The games of the settings; ValueError where the training seeds run out."""
    task = task_of(settings.task, "training")
    seeds = training_seeds(task.name, settings.first_seed)
    games = (row for seed in seeds for row in random_game(task, seed))
    return list(islice(games, settings.rows))


def random_game(task: Task, seed: int) -> Iterator[Row]:
    """The game of a seed with moves at random; none where its listing is kept for evaluation."""
    rng, labels = np.random.default_rng([seed, MOVES]), []
    play = advance(task, task.opponents, begin(task, seed))
    while task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        labels.append(random_reply(obs, rng))
        play = advance(task, task.opponents, move(task, play, parse(labels[-1], obs)))
    if not is_unseen_listing(obs.table.item):
        chat = [*render(obs), {"role": "assistant", "content": labels[-1]}]
        yield Row(task.name, seed, 0, labels, chat)


def random_reply(obs: Observation, rng: np.random.Generator) -> str:
    """A move without words that keeps what the prompt says, as a completion.

    Its kind is drawn by `VERBS`, its price is uniform up to the limit.
    """
    legal = {verb: value for branch in schema(obs)["anyOf"]
             for verb, value in branch["properties"].items() if verb in VERBS}  # fmt: skip
    limit = int(100 * obs.reservation / unit(obs))
    if "raise" in legal and legal["raise"]["minimum"] > limit:
        del legal["raise"]
    if obs.ask > obs.reservation:
        legal.pop("accept", None)
    chances = np.array([VERBS[verb] for verb in legal])
    verb = list(legal)[rng.choice(len(legal), p=chances / chances.sum())]
    if verb in ("accept", "walk"):
        return f'{{"{verb}":true}}'
    value = legal[verb]
    price = value.get("const") or rng.integers(value["minimum"], limit + 1)
    return f'{{"{verb}":{price}}}'


SETTINGS = (FormSettings,)
train = partial(sft.train, make_rows=make_rows)
