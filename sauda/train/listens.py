"""Fine-tuning of Sauda on which argument to begin with, by what its planner expects of each.

    python -m sauda train listens

It goes on from the adapter of `candid`. Which argument moves a seller its first line only hints at,
and each can be said in many ways, so that one drawn sentence teaches little. So a first bid with
people is learnt as a distribution over all of them (policy distillation, Rusu et al. 2015): an
argument has a share by what the planner expects of it, and its sentences have equal parts of that.
Words are drawn at a low temperature, which favours what can begin in few ways; so the sentences of
all arguments begin in as few, and no two arguments' alike. Whole deals beside them keep what was
learnt before.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import cycle, islice
from typing import Any, ClassVar

import numpy as np

from env import CATALOGUE, Item, Observation, Offer, advance, begin, rupees
from env.bazaar.prompt import completion, render
from sauda.llm.model import smollm2
from sauda.policies import people as planners
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import people, people_rows, sft, teacher_rows
from sauda.train.common import option

TOY = people.TOY | {"openings": 32}
ARGUMENTS = ("", "tea", "cash", "outside", "flaw")  # none, and those that a planner begins with
TOKENS = 6  # that the sentences of an argument begin with
LEAST = 1e-4  # the smallest chance of a sentence that is learnt


@dataclass(frozen=True, kw_only=True)
class ListensSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt, and how many first bids."""

    init_adapter: str = option("adapter to train further; '' for a new one", "candid")
    rows: int = option("deals to learn from", 200)
    openings: int = option("first bids with people to learn from", 3_200)
    temper: float = 0.02  # of a grade, by which a softmax makes shares of what is expected
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 33_000)
    per_device_train_batch_size: int = 16
    learning_rate: float = 1e-3
    save_steps: int = 50
    stage: ClassVar[str] = "listens"
    fresh: ClassVar[int] = 3


SETTINGS = {"bazaar": ListensSettings}


def make_rows(settings: ListensSettings) -> list[teacher_rows.Row]:
    """First bids with people in the order of their seeds, and the deals of `people_rows`."""
    seeds = training_seeds(people_rows.PEOPLE, settings.first_seed)
    openings = (row for seed in seeds for row in opening(seed, settings))
    deals = people_rows.make_rows(settings)
    for row in deals:
        if row.task == people_rows.PEOPLE:
            row.labels[0] = ""  # openings tell it
    return [*islice(openings, settings.openings), *deals]


train = partial(sft.train, make_rows=make_rows)


def opening(seed: int, settings: ListensSettings) -> Iterator[teacher_rows.Opening]:
    """The first bid of a seed; none where its listing is kept for evaluation, or none is made."""
    task = people_rows.task_of(people_rows.PEOPLE, "training")
    play = advance(task, task.opponents, begin(task, seed))
    obs = task.env.observe(play.state, task.learner)
    values = people_rows.PLANNER.values(planners.believe(obs), obs)
    _, best = people_rows.choose(values, obs, settings)
    best = teacher_rows.round_action(obs, best, settings.near)
    if is_unseen_listing(obs.table.item) or not isinstance(best, Offer):
        return
    expected = values.offers.max(axis=1)  # of each argument, at the price that is best with it
    shares = np.exp((expected - expected.max()) / settings.temper)
    language = people_rows.ANSWERS_IN[play.state.private["seller"]["language"]]
    weighed = [
        (share, lines)
        for argument, share in zip(values.acts, shares, strict=True)
        if (lines := replies(obs, best, argument, language))
    ]
    total = sum(share for share, _ in weighed)
    choices = [
        (line, float(chance))
        for share, by_token in weighed
        for lines in by_token
        for line in lines
        if (chance := share / total / len(by_token) / len(lines)) > LEAST
    ]
    chances = np.array([chance for _, chance in choices])
    rng = np.random.default_rng([seed, people_rows.SPEECH])
    reply = choices[rng.choice(len(choices), p=chances / chances.sum())][0]
    chat = [*render(obs), {"role": "assistant", "content": reply}]
    yield teacher_rows.Opening(people_rows.PEOPLE, seed, 0, [reply], chat, choices)


def replies(obs: Observation, bid: Offer, argument: str, language: str) -> list[list[str]]:
    """Every reply that bids so with a sentence of the argument, those that begin alike together."""
    amount = rupees(obs.own["quote"] if argument == "outside" else bid.price)
    return [
        [completion(replace(bid, message=line.replace("#", amount)), obs) for line in lines]
        for lines in lines_of(language, argument, obs.table.item).values()
    ]


@cache
def lines_of(language: str, argument: str, item: Item) -> dict[int, list[str]]:
    """The sentences of an argument that fit an item, by the token that they begin with.

    Only those of the TOKENS most frequent ones that are the argument's own.
    """
    by_token: dict[int, list[str]] = {}
    for text in texts_of(language, argument, item):
        token = first_token(text)
        if arguments_by_token(language).get(token) == argument:
            by_token.setdefault(token, []).append(text)
    most = sorted(by_token, key=lambda token: -len(by_token[token]))[:TOKENS]
    return {token: by_token[token] for token in most}


def texts_of(language: str, argument: str, item: Item) -> tuple[str, ...]:
    """All sentences of an argument that fit an item; without one the bid's own, some greeting."""
    if argument:
        return people_rows.sentences_to_say(language, "buyer", argument, item)
    bids = people_rows.sentences_to_say(language, "bid", "raise", item)
    words = people_rows.added(language, "first")
    return bids + tuple(f"{word} {bid}" for word, bid in zip(words, cycle(bids), strict=False))


@cache
def arguments_by_token(language: str) -> dict[int, str]:
    """The argument of each first token: that of whose sentences it begins the largest part."""
    parts: dict[int, dict[str, float]] = {}
    for argument in ARGUMENTS:
        texts = {text for item in CATALOGUE for text in texts_of(language, argument, item)}
        counts = Counter(map(first_token, texts))
        for token, count in counts.items():
            parts.setdefault(token, {})[argument] = count / counts.total()
    return {token: max(of, key=of.get) for token, of in parts.items() if token is not None}


@cache
def first_token(text: str) -> int | None:
    """The token that a sentence begins with in a reply; None where a quote is joined with it."""
    before, whole = (
        _tokenizer()(part, add_special_tokens=False)["input_ids"]
        for part in (teacher_rows.SAYS, teacher_rows.SAYS + text.replace("#", "₹40"))
    )
    return whole[len(before)] if whole[: len(before)] == before else None


@cache
def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2().folder)
