"""Fine-tuning of Sauda on which argument to begin with, as its planner values each.

    python -m sauda train listens

It goes on from the adapter of `candid`. Which argument moves a seller its first line only hints at,
and each can be said in many ways, so that one drawn sentence teaches little. A first move is learnt
as a distribution over all of them (policy distillation, Rusu et al. 2015): each argument has a
share by what the planner expects of it, and its sentences have equal parts of that. Whole deals
beside them keep what was learnt before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

import numpy as np

from env import begin
from env.bazaar.prompt import completion, render
from sauda.policies import people as planners
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import people as stage
from sauda.train import people_rows, sft, teacher_rows
from sauda.train.common import option

TOY = stage.TOY | {"openings": 32}


@dataclass(frozen=True, kw_only=True)
class ListensSettings(stage.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt, and how many first moves."""

    init_adapter: str = option("adapter to train further; '' for a new one", "candid")
    rows: int = option("deals to learn from", 400)
    openings: int = option("first moves with people to learn from", 4_000)
    lines: int = option("sentences drawn for each argument, which share its part", 24)
    temper: float = 0.04  # of a grade, by which a softmax makes shares of what is expected
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 33_000)
    per_device_train_batch_size: int = 16
    stage: ClassVar[str] = "listens"
    fresh: ClassVar[int] = 3


SETTINGS = {"bazaar": ListensSettings}


def make_rows(settings: ListensSettings) -> list[teacher_rows.Row]:
    """First moves with people in the order of their seeds, and the deals of `people_rows`."""
    seeds = training_seeds(people_rows.PEOPLE, settings.first_seed)
    made = (row for seed in seeds for row in opening(seed, settings))
    return [*islice(made, settings.openings), *people_rows.make_rows(settings)]


def opening(seed: int, settings: ListensSettings) -> Iterator[teacher_rows.Opening]:
    """The first move of a seed; none where its listing is kept for evaluation."""
    task = people_rows.task_of(people_rows.PEOPLE, "training")
    play = people_rows.advance(task, task.opponents, begin(task, seed))
    obs = task.env.observe(play.state, task.learner)
    if is_unseen_listing(obs.table.item):
        return
    language = people_rows.ANSWERS_IN[play.state.private["seller"]["language"]]
    values = people_rows.PLANNER.values(planners.believe(obs), obs)
    _, best = people_rows.choose(values, obs, settings)
    best = teacher_rows.round_action(obs, best, settings.near)
    expected = values.offers.max(axis=1)
    shares = np.exp((expected - expected.max()) / settings.temper)
    rng = np.random.default_rng([seed, people_rows.SPEECH])
    texts = []
    for act, share in zip(values.acts, shares / shares.sum(), strict=True):
        for _ in range(settings.lines):
            said = people_rows.worded(obs, best, act, language, (), rng)
            texts.append((completion(said, obs), float(share / settings.lines)))
    reply = texts[rng.choice(len(texts), p=[chance for _, chance in texts])][0]
    chat = [*render(obs), {"role": "assistant", "content": reply}]
    yield teacher_rows.Opening(people_rows.PEOPLE, seed, 0, [reply], chat, texts)


train = partial(sft.train, make_rows=make_rows)
