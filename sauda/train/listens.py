"""Fine-tuning of Sauda on which argument to begin with, as its planner values each.

    python -m sauda train listens

It goes on from the adapter of `candid`. Which argument moves a seller its first line only hints at,
and each can be said in many ways, so that one drawn sentence teaches little. A first move is learnt
as a distribution over all of them (policy distillation, Rusu et al. 2015): each argument has a
share by what the planner expects of it, and its sentences have equal parts of that. Whole deals
beside them keep what was learnt before.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import cycle, islice
from typing import Any, ClassVar

import numpy as np

from env import CATALOGUE, Item, Offer, begin, rupees
from env.bazaar.prompt import completion, render
from sauda.llm.model import smollm2
from sauda.policies import people as planners
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import people as stage
from sauda.train import people_rows, sft, teacher_rows
from sauda.train.common import option

ACTS = ("", "tea", "cash", "outside", "flaw")
TOKENS = 6
TOY = stage.TOY | {"openings": 32}


@dataclass(frozen=True, kw_only=True)
class ListensSettings(stage.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt, and how many first moves."""

    init_adapter: str = option("adapter to train further; '' for a new one", "candid")
    rows: int = option("deals to learn from", 200)
    openings: int = option("first moves with people to learn from", 3_200)
    temper: float = 0.02  # of a grade, by which a softmax makes shares of what is expected
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 33_000)
    learning_rate: float = 1e-3
    per_device_train_batch_size: int = 16
    stage: ClassVar[str] = "listens"
    fresh: ClassVar[int] = 3


SETTINGS = {"bazaar": ListensSettings}


def make_rows(settings: ListensSettings) -> list[teacher_rows.Row]:
    """First moves with people in the order of their seeds, and the deals of `people_rows`."""
    seeds = training_seeds(people_rows.PEOPLE, settings.first_seed)
    made = (row for seed in seeds for row in opening(seed, settings))
    deals = people_rows.make_rows(settings)
    for row in deals:
        if row.task == people_rows.PEOPLE:
            row.labels[0] = ""  # openings tell it
    return [*islice(made, settings.openings), *deals]


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
    if not isinstance(best, Offer):
        return
    expected = values.offers.max(axis=1)
    shares = np.exp((expected - expected.max()) / settings.temper)
    lines = {act: lines_of(language, act, obs.table.item) for act in values.acts}
    total = sum(share for act, share in zip(values.acts, shares, strict=True) if lines[act])
    rng = np.random.default_rng([seed, people_rows.SPEECH])
    texts = []
    for act, share in zip(values.acts, shares, strict=True):
        amount = rupees(obs.own["quote"] if act == "outside" else best.price)
        for of_token in lines[act].values():
            for line in of_token:
                said = replace(best, message=line.replace("#", amount))
                chance = share / total / len(lines[act]) / len(of_token)
                texts.append((completion(said, obs), float(chance)))
    texts = [(text, chance) for text, chance in texts if chance > 1e-4]
    chances = np.array([chance for _, chance in texts])
    reply = texts[rng.choice(len(texts), p=chances / chances.sum())][0]
    chat = [*render(obs), {"role": "assistant", "content": reply}]
    yield teacher_rows.Opening(people_rows.PEOPLE, seed, 0, [reply], chat, texts)


@cache
def lines_of(language: str, act: str, item: Item) -> dict[int, list[str]]:
    """Sentences that argue so, by their first token, of which no other argument has a larger part.

    The most frequent TOKENS of them, so that words that are drawn at a low temperature argue as
    often as is learnt.
    """
    mine = {token for token, of in owners(language).items() if of == act}
    found: dict[int, list[str]] = {}
    for text in texts_of(language, act, item):
        if (token := first_token(text)) in mine:
            found.setdefault(token, []).append(text)
    most = sorted(found, key=lambda token: -len(found[token]))[:TOKENS]
    return {token: found[token] for token in most}


def texts_of(language: str, act: str, item: Item) -> tuple[str, ...]:
    family = ("buyer", act) if act else ("bid", "raise")
    texts = people_rows.sentences_to_say(language, *family, item)
    if act:
        return texts
    return texts + tuple(
        f"{word} {text}"
        for word, text in zip(people_rows.added(language, "first"), cycle(texts), strict=False)
    )


@cache
def owners(language: str) -> dict[int, str]:
    """The argument of whose sentences each first token begins the largest part."""
    parts: dict[int, dict[str, float]] = {}
    for act in ACTS:
        texts = {text for item in CATALOGUE for text in texts_of(language, act, item)}
        counts = Counter(map(first_token, texts))
        for token, count in counts.items():
            parts.setdefault(token, {})[act] = count / counts.total()
    parts.pop(None, None)
    return {token: max(of, key=of.get) for token, of in parts.items()}


@cache
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2().folder)


@cache
def first_token(text: str) -> int | None:
    """The token that a sentence begins with in a reply; None where it is joined with a quote."""
    before, whole = (
        tokenizer()(part, add_special_tokens=False)["input_ids"]
        for part in (teacher_rows.SAYS, teacher_rows.SAYS + text.replace("#", "₹40"))
    )
    return whole[len(before)] if whole[: len(before)] == before else None


train = partial(sft.train, make_rows=make_rows)
