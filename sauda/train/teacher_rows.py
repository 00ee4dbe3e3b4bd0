"""Rows of training: what a row is, how a move is spoilt and rounded, and the tokens of a row.

At times the teacher's move is spoilt as a model spoils it, so that states off its path occur. In
the bazaar a row is a whole deal as one conversation, so that its common prefix is read once; a
spoilt move is part of it, and the teacher's is supervised up to the first token in which they
differ (`people_rows.py`). In the arena a row is one action of the teacher. The prompts and
completions are, byte for byte, those that are served: a model trained on other bytes would meet
unknown prompts.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

import env
from env.bazaar.prompt import bid_to_hold, parse, percent_of, schema, unit
from sauda.players import get_policy
from sauda.records.seeds import training_seeds
from sauda.records.store import read_lines, write
from sauda.train.common import option

Action = env.Offer | env.Accept | env.WalkAway
MIXTURE, WAITS = 1, 5  # streams of their own, apart from the game's


@dataclass(frozen=True)
class Row:
    """One deal as a conversation, with the teacher's completion for each reply in it.

    A label is "" where nothing is supervised.
    """

    task: str
    seed: int
    deal: int  # of the game, from 0
    labels: list[str]
    messages: list[dict[str, str]]


@dataclass(frozen=True)
class Spoken(Row):
    """A deal of whose replies distributions are learnt: of each, texts and their chances.

    The texts make one move in other words; the label is drawn from them. Empty where the label
    alone is learnt. The token in which texts first part tells what will be said, and has a weight
    in the loss; every other token weighs 1.
    """

    choices: list[list[tuple[str, float]]]
    parts: float


@dataclass(frozen=True)
class Taught:
    """A state of the learner in a game, the teacher's move there, and the move that was made."""

    obs: env.Observation
    move: Action
    label: str  # the completion of the teacher's move
    completion: str  # of the move that was made
    choices: list[tuple[str, float]]  # of what the teacher may say with it, if it draws from many


def spoil(
    how: str, best: Action, obs: env.Observation, settings: Any, rng: np.random.Generator
) -> Action:
    """The teacher's move as a model may spoil it, by `PeopleRowSettings`.

    What cannot be spoilt so stays.
    """
    percent = unit(obs) / 100
    if how == "silent":
        return replace(best, message="")
    last = bid_to_hold(obs)
    holds = last is not None and best == replace(last, message=best.message)
    rises = isinstance(best, env.Offer) and not holds
    if how == "shifted" and rises:
        bid, price = best, best.price + percent * rng.normal(0, settings.shift)
    elif how == "bold" and not rises and last is not None:
        bid, price = last, last.price + percent * rng.uniform(*settings.rises)
    else:
        return best
    least = 10.0**-obs.table.decimals
    if last is not None and last.extras == bid.extras:
        least = last.price
    price = max(least, min(price, max(least, obs.priced(obs.most_for(bid.extras)))))
    return replace(bid, price=obs.priced(price), message=best.message if rises else "")


def verb_of(text: str) -> str:
    """The verb of a completion, such as "offer"."""
    return next(iter(json.loads(text)))


def round_action(obs: env.Observation, action: Action, near: int = 0) -> Action:
    """`action` as a completion can express it: an offer's price in whole percent.

    The words stay. The price stays legal and does not turn a gain into a loss. An offer within
    `near` percent of an affordable ask becomes an Accept, as people do.
    """
    if not isinstance(action, env.Offer):
        return action
    percent, last = percent_of(obs, action.price), bid_to_hold(obs)
    if last is None or percent != percent_of(obs, last.price):  # what was bid may be bid again
        percent = min(percent, _highest(obs, action))
    meets = not action.extras and percent_of(obs, obs.ask) - near <= percent
    if meets and obs.ask <= obs.budget:
        return env.Accept()
    bid = {"offer": max(1, percent)} | ({"with": list(action.extras)} if action.extras else {})
    return replace(parse(json.dumps(bid), obs), message=action.message)


def _highest(obs: env.Observation, bid: env.Offer) -> int:
    """The highest whole percent that a bid may be rounded to: legal, and without a loss."""
    moves = [m["properties"] for m in schema(obs)["anyOf"]]
    offers = [m.get("offer", m.get("raise")) for m in moves if "offer" in m or "raise" in m]
    legal, most = offers[0]["maximum"] if offers else 1, obs.most_for(bid.extras)
    return min(legal, math.floor(100 * most / unit(obs))) if bid.price <= most else legal


def summarize_rows(rows: Sequence[Row]) -> dict[str, Any]:
    """The number of rows by task, and of labels by verb."""
    labels = [label for row in rows for label in row.labels if label]
    moves = Counter(map(verb_of, labels))
    return {
        "rows": len(rows),
        "completions": len(labels),
        "moves": dict(moves.most_common()),
        "task": dict(sorted(Counter(row.task for row in rows).items())),
    }


@dataclass(frozen=True, kw_only=True)
class ArenaRowSettings:
    """Which games of the arena are played, by whom, and how many actions are kept."""

    rows: int = option("actions to learn from", 3_600)
    tasks: tuple[str, ...] = option("tasks of the games, with equal shares", tuple(env.ARENA_TASKS))
    teacher: str = "broker"
    behaviour: tuple[tuple[str, float], ...] = (  # who moves, drawn anew at each action
        ("broker", 0.85),
        ("rule_based_expert", 0.08),
        ("random", 0.07),
    )
    waits: float = 0.1  # share of the teacher's waits that is kept: they are frequent and alike
    first_seed: int = option("training seeds run up from it", 10_000)


@dataclass(frozen=True)
class ArenaTaught:
    """A state of the learner in a game and the teacher's action there."""

    task: env.Task
    turn: int  # the learner's, from 0
    play: env.Play
    obs: env.arena.Observation
    action: env.arena.Action


def teach_arena(task: env.Task, seed: int, settings: ArenaRowSettings) -> Iterator[ArenaTaught]:
    """The learner's states in one game of the mixture."""
    behaved = np.random.default_rng([seed, MIXTURE])
    names, chances = zip(*settings.behaviour, strict=True)
    play, turn = env.advance(task, task.opponents, env.begin(task, seed)), 0
    while task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        stream = env.agent_stream(task, seed, task.learner, turn)
        label = get_policy(task, settings.teacher)(obs, stream)
        yield ArenaTaught(task, turn, play, obs, label)
        acting = get_policy(task, names[behaved.choice(len(names), p=chances)])
        play = env.advance(task, task.opponents, env.move(task, play, acting(obs, stream)))
        turn += 1


def arena_rows(settings: ArenaRowSettings) -> list[Row]:
    """One row per state whose action is supervised, with each task's games from the first seed up.

    Raises ValueError where the training seeds run out.
    """
    rows: list[Row] = []
    for number, name in enumerate(settings.tasks, 1):
        wanted = settings.rows * number // len(settings.tasks) - len(rows)
        task = env.get_task(name)
        games = (
            supervise(task, seed, teach_arena(task, seed, settings), settings.waits)
            for seed in training_seeds(name, settings.first_seed)
        )
        rows += islice(chain.from_iterable(games), wanted)
    return rows


def supervise(
    task: env.Task, seed: int, states: Iterable[ArenaTaught], waits: float
) -> Iterator[Row]:
    """The rows of one game of the arena, with the share `waits` of the teacher's waits."""
    draw = np.random.default_rng([seed, WAITS])
    for state in states:
        if draw.random() >= waits and state.action.action_type == "wait":
            continue
        text = env.arena_prompt.completion(state.action, state.obs)
        messages = [*env.arena_prompt.render(state.obs), {"role": "assistant", "content": text}]
        yield Row(task.name, seed, state.turn, [text], messages)


def to_lines(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


def load_rows(folder: Path, make: Callable[[], Sequence[Row]]) -> list[Row]:
    """The rows in a run's folder, made once and then read from there."""
    file = folder / "rows.jsonl"
    if not file.exists():
        write(file, to_lines(make()))
    return [(Spoken if "choices" in row else Row)(**row) for row in read_lines(file)]


def label_tokens(
    messages: Sequence[Mapping[str, str]], labels: Sequence[str], tokenizer: Any
) -> dict[str, list[int]]:
    """A conversation as "input_ids" and "labels" of one length; -100 at unsupervised tokens.

    `labels` has a completion for each reply, or "". It and its end-of-turn token are supervised up
    to the first token that the reply has otherwise.
    """
    ids: list[int] = []
    targets: list[int] = []
    for label, (read, reply) in zip(labels, reply_spans(messages, tokenizer), strict=True):
        wanted: list[int] = []
        if label:
            wanted = _to_end(label, tokenizer)
            pairs = enumerate(zip(wanted, reply, strict=False), 1)
            wanted = wanted[: next((n for n, (a, b) in pairs if a != b), None)]
        ids += read + reply
        targets += [-100] * len(read) + wanted + [-100] * (len(reply) - len(wanted))
    return {"input_ids": ids, "labels": targets}


def _to_end(text: str, tokenizer: Any) -> list[int]:
    """A reply's tokens and the one that ends the turn."""
    return [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]


def encode(row: Row, tokenizer: Any) -> dict[str, list]:
    """What is learnt of a row: its tokens and labels; of a deal in many words also those.

    "choices" has then, for each supervised token, those that may stand there, and "weights" how
    often each does.
    """
    made: dict[str, list] = label_tokens(row.messages, row.labels, tokenizer)
    if isinstance(row, Spoken):
        runs = (list(run) for learnt, run in groupby(made["labels"], lambda t: t != -100) if learnt)
        pairs = [pair for pair in zip(row.labels, row.choices, strict=True) if pair[0]]
        weighed = [
            weights
            for (label, choices), run in zip(pairs, runs, strict=True)
            for weights in islice(weigh_tokens(label, choices, row.parts, tokenizer), len(run))
        ]
        made["choices"] = [[*tokens] for tokens in weighed]
        made["weights"] = [[*tokens.values()] for tokens in weighed]
    return made


def weigh_tokens(
    label: str, choices: Sequence[tuple[str, float]], parts: float, tokenizer: Any
) -> Iterator[dict[int, float]]:
    """For each token of a label those that go on a text that is the same up to there.

    Their weights are how often each comes: they add up to 1, but to `parts` where texts first part.
    """
    texts = [(_to_end(text, tokenizer), chance) for text, chance in choices or [(label, 1.0)]]
    factor = parts
    for depth, token in enumerate(_to_end(label, tokenizer)):
        goes_on: Counter[int] = Counter()
        for ids, chance in texts:
            goes_on[ids[depth]] += chance
        scale = (factor if len(goes_on) > 1 else 1.0) / goes_on.total()
        yield {token: chance * scale for token, chance in goes_on.items()}
        factor = 1.0 if len(goes_on) > 1 else factor
        texts = [(ids, chance) for ids, chance in texts if ids[depth] == token]


def reply_spans(
    messages: Sequence[Mapping[str, str]], tokenizer: Any
) -> Iterator[tuple[list[int], list[int]]]:
    """Per reply in a conversation: the tokens read since the last one, and its own.

    A reply's tokens include what the chat template writes after it. Raises ValueError where a
    prompt does not begin with all that was written before it.
    """
    before: list[int] = []
    for end in range(3, len(messages) + 1, 2):
        chat, upto = messages[: end - 1], messages[:end]
        prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        whole = tokenizer.apply_chat_template(upto, tokenize=False)
        read = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        reply = tokenizer(whole[len(prompt) :], add_special_tokens=False)["input_ids"]
        if read[: len(before)] != before:
            raise ValueError(
                "a conversation is to grow by whole turns, and under this chat template a later "
                "prompt changes an earlier turn"
            )
        yield read[len(before) :], reply
        before = [*read, *reply]


def order_by_length(lengths: Sequence[int], batch: int, rng: np.random.Generator) -> list[int]:
    """An order in which the rows of a batch have similar length and the batches are shuffled.

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
