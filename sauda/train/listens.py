"""Fine-tuning of Sauda on which argument to begin with, by what its planner expects of each.

    python -m sauda train listens

It goes on from the adapter of `candid`. Which argument moves a seller its first line only hints at,
and each can be said in many ways, so that one drawn sentence teaches little. So a first bid with
people is learnt as a distribution over all that could be said with it (policy distillation, Rusu et
al. 2015). Whole deals beside them keep what was learnt before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from env import advance, begin
from env.bazaar.prompt import render
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import people, people_rows, sft
from sauda.train.common import option
from sauda.train.people_rows import PEOPLE
from sauda.train.teacher_rows import Spoken, round_action

TOY = people.TOY | {"openings": 32}


@dataclass(frozen=True, kw_only=True)
class ListensSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt, and how many first bids."""

    init_adapter: str = option("adapter to train further; '' for a new one", "candid")
    rows: int = option("deals to learn from", 200)
    openings: int = option("first bids with people to learn from", 3_200)
    temper: float = 0.02
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 33_000)
    per_device_train_batch_size: int = 16
    learning_rate: float = 1e-3
    save_steps: int = 50
    stage: ClassVar[str] = "listens"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3}


SETTINGS = (ListensSettings,)


def make_rows(settings: ListensSettings) -> list[Spoken]:
    """First bids with people in the order of their seeds, and the deals of `people_rows`.

    These are learnt in the words that were drawn, but for first bids with people.
    """
    seeds = training_seeds(PEOPLE, settings.first_seed)
    openings = chain.from_iterable(opening(seed, settings) for seed in seeds)
    rows = [*islice(openings, settings.openings)]
    for row in people_rows.make_rows(settings):
        labels = [""] * (row.task == PEOPLE) + row.labels[row.task == PEOPLE :]
        rows.append(Spoken(row.task, row.seed, 0, labels, row.messages, [[] for _ in labels], 1.0))
    return rows


train = partial(sft.train, make_rows=make_rows)


def opening(seed: int, settings: ListensSettings) -> Iterator[Spoken]:
    """The first bid of a seed; none where its listing is kept for evaluation, or none is made."""
    task = people_rows.task_of(PEOPLE, "training")
    play = advance(task, task.opponents, begin(task, seed))
    obs = task.env.observe(play.state, task.learner)
    planned = people_rows.plan(PEOPLE, obs, settings)
    best = round_action(obs, planned.move, settings.near)
    language = people_rows.ANSWERS_IN[play.state.private["seller"]["language"]]
    choices = people_rows.all_words(obs, best, planned.shares, language, ())
    if choices and not is_unseen_listing(obs.table.item):
        reply = people_rows.draw(choices, np.random.default_rng([seed, people_rows.SPEECH]))
        chat = [*render(obs), {"role": "assistant", "content": reply}]
        yield Spoken(PEOPLE, seed, 0, [reply], chat, [choices], settings.parts)
