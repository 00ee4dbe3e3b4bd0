"""Teacher rows for SFT: the moves of a teacher in games of the bazaar and of the GPU arena.

At times the teacher's move is spoilt as a model spoils it, so that states off its path occur. In
the bazaar a row is a whole deal as one conversation, so that its common prefix is read once; a
spoilt move is part of it, and the teacher's is supervised up to the first token in which they
differ. In the arena a row is one action of the teacher. The prompts and completions are, byte for
byte, those that are served: a model trained on other bytes would meet unknown prompts. Each deal of
the bazaar comes again with its seller's phrases in words of `lessons.csv`, which no game has: they
were written without sight of the phrases kept for evaluation.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from env import (
    ARENA_TASKS,
    Accept,
    Observation,
    Offer,
    Play,
    Policy,
    Task,
    WalkAway,
    advance,
    agent_stream,
    amount_of,
    arena,
    arena_prompt,
    begin,
    get_task,
    move,
    speech,
)
from env.bazaar.prompt import (
    ask_belief,
    bid_to_hold,
    completion,
    parse,
    percent_of,
    render,
    schema,
    unit,
)
from sauda.players import get_policy
from sauda.policies.listener import Listener, believe
from sauda.records import read_table
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.records.store import read_lines, write
from sauda.train.common import named_object, option

Action = Offer | Accept | WalkAway
MIXTURE, BELIEFS, WAITS, LESSONS = 1, 2, 5, 6  # streams of their own, apart from the game's


@dataclass(frozen=True)
class Mix:
    """One task's share of the rows, and its teacher."""

    task: str
    part: float  # of the rows
    teacher: str


CLASSIC_MIX = (
    Mix("classic/single_deal", 0.02, "expert"),
    Mix("classic/asymmetric_pressure", 0.02, "expert"),
    Mix("classic/amazon_realistic", 0.02, "expert"),
)


@dataclass(frozen=True, kw_only=True)
class RowSettings:
    """Which games of the bazaar are played, by whom, and how many deals are kept."""

    rows: int = option("deals to learn from, each of them told twice", 33_000)
    teacher: str = option("of all tasks, also module:function; '' for each task's own", "")
    mixes: tuple[Mix, ...] = (
        Mix("bazaar/open", 0.76, "listener"),
        Mix("bazaar/rushed", 0.14, "listener"),
        Mix("bazaar/mute", 0.04, "bayesian"),
        *CLASSIC_MIX,
    )
    behaviour: tuple[tuple[str, float], ...] = (  # what becomes of a move, drawn anew at each
        ("made", 0.55),
        ("shifted", 0.25),  # its price is off by a normal error
        ("silent", 0.12),  # without its words
        ("bold", 0.08),  # a rise where the teacher stands, leaves or accepts
    )
    shift: float = 5.0  # standard deviation of that error, percent of the list price
    rises: tuple[float, float] = (1.0, 6.0)  # of the bold, percent of the list price
    within: float = 0.01  # a planner's bid is the mean of those that are worth so much less
    asks: bool = option("whether a planner asks questions", False)
    beliefs: float = 0.04  # share of the deals that end with a question for the belief
    near: int = 1  # percent: a bid so near to the ask takes it
    first_seed: int = option("a task's training seeds run up from it", 10_000)


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


def make_rows(settings: RowSettings) -> list[Row]:
    """The rows of `settings`, tasks in order, each task's games up from the first seed.

    After all of them they come again, retold. Raises ValueError where the training seeds run out.
    """
    rows: list[Row] = []
    for mix in settings.mixes:
        task, teacher = get_task(mix.task), settings.teacher or mix.teacher
        games = (
            conversations(task, seed, teacher, settings)
            for seed in training_seeds(task.name, settings.first_seed)
        )
        rows += islice(chain.from_iterable(games), round(settings.rows * mix.part))
    return rows + [retell(row) for row in rows]


def retell(row: Row) -> Row:
    """The deal with each phrase of its seller said in other words of the same language."""
    pattern, others = lessons()
    rng = np.random.default_rng([row.seed, row.deal, LESSONS])

    def say(match: re.Match) -> str:
        options = others[re.sub(r"\d+", "#", match[0])]
        number = re.search(r"\d+", match[0])
        return options[rng.integers(len(options))].replace("#", number[0] if number else "#")

    def hear(message: dict[str, str]) -> dict[str, str]:
        retold = re.sub(
            r'(?<=Says )"[^"]*"', lambda words: pattern.sub(say, words[0]), message["content"]
        )
        return message | {"content": retold} if message["role"] == "user" else message

    return replace(row, messages=[hear(message) for message in row.messages])


@cache
def lessons() -> tuple[re.Pattern[str], Mapping[str, Sequence[str]]]:
    """A pattern of the sellers' phrases, and by phrase other words that no game has."""
    rows = read_table(Path(__file__).with_name("lessons.csv"))
    rewordings: dict[str, list[str]] = {}
    for language in speech.LANGUAGES:
        for (family, key), options in speech.phrases(language, "seen").items():
            others = [r[language] for r in rows if (r["family"], r["key"]) == (family, key)]
            rewordings |= {phrase: others for phrase in options if others}
    longest_first = sorted(rewordings, key=len, reverse=True)
    either = "|".join(re.escape(phrase).replace(r"\#", r"\d+") for phrase in longest_first)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)"), rewordings


@dataclass(frozen=True)
class Taught:
    """A state of the learner in a game, the teacher's move there, and the move that was made."""

    turn: int  # the learner's, from 0
    obs: Observation
    move: Action
    label: str  # the completion of the teacher's move
    completion: str  # of the move that was made


def teach(task: Task, seed: int, teacher: str, settings: RowSettings) -> Iterator[Taught]:
    """The learner's states in one game of the mixture."""
    behaved, policy = np.random.default_rng([seed, MIXTURE]), find_teacher(task, teacher)
    names, chances = zip(*settings.behaviour, strict=True)
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    while not play.forfeit and task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        best = teacher_move(policy, obs, agent_stream(task, seed, task.learner, turn), settings)
        label = made = completion(round_action(obs, best, settings.near), obs)
        how = names[behaved.choice(len(names), p=chances)]
        if how != "made":
            made = completion(round_action(obs, spoil(how, best, obs, settings, behaved)), obs)
        yield Taught(turn, obs, best, label, made)
        play = move(task, play, parse(made, obs))
        play, turn = advance(task, task.opponents, play), turn + 1


def find_teacher(task: Task, name: str) -> Policy:
    """The teacher of that name: a policy of the task, or "module:function" of the user's own."""
    return named_object(name) if ":" in name else get_policy(task, name)


def teacher_move(
    policy: Policy, obs: Observation, rng: np.random.Generator, settings: RowSettings
) -> Action:
    """The move of a teacher at `obs`; a planner's is one that can be learnt.

    Raises ValueError where a teacher of one's own returns no move.
    """
    if not isinstance(policy, Listener):
        made = policy(obs, rng)
        if not isinstance(made, Action):
            raise ValueError(f"a teacher returns an Offer, Accept or WalkAway, not {made!r}")
        return made
    planner = replace(policy, asks=settings.asks)
    values = planner.values(believe(obs, planner.reads), obs)
    return values.middle(obs, settings.within)


def spoil(
    how: str, best: Action, obs: Observation, settings: RowSettings, rng: np.random.Generator
) -> Action:
    """The teacher's move as a model may spoil it; what cannot be spoilt so stays."""
    percent = unit(obs) / 100
    if how == "silent":
        return replace(best, message="")
    last = bid_to_hold(obs)
    holds = last is not None and best == replace(last, message=best.message)
    rises = isinstance(best, Offer) and not holds
    if how == "shifted" and rises:
        bid, price = best, best.price + percent * rng.normal(0, settings.shift)
    elif how == "bold" and not rises and last is not None:
        bid, price = last, last.price + percent * rng.uniform(*settings.rises)
    else:
        return best
    least = 10.0**-obs.table.decimals
    if last is not None and last.extras == bid.extras:
        least = last.price
    price = max(least, min(price, max(least, obs.priced(most_for(obs, bid.extras)))))
    return replace(bid, price=obs.priced(price), message=best.message if rises else "")


def most_for(obs: Observation, extras: Collection[str]) -> float:
    """The most that a buyer can pay without a loss for the thing with these extras, in rupees."""
    worth = amount_of(extras, obs.own.get("values", {}))
    return min(obs.reservation + worth, obs.own.get("purse", math.inf))


def kind_of(text: str) -> str:
    """The kind of a completion: its verb, "belief", or the act that is said with an offer."""
    reply = json.loads(text)
    return "belief" if "low" in reply else reply.get("say") or next(iter(reply))


def conversations(task: Task, seed: int, teacher: str, settings: RowSettings) -> Iterator[Row]:
    """The deals of one game, without deals about unseen listings."""
    asked, policy = np.random.default_rng([seed, BELIEFS]), find_teacher(task, teacher)
    states = teach(task, seed, teacher, settings)
    for deal, group in groupby(states, lambda state: len(state.obs.table.past)):
        moves = list(group)
        if is_unseen_listing(moves[0].obs.table.item):
            continue
        if isinstance(policy, Listener) and asked.random() < settings.beliefs:
            obs = moves[int(asked.integers(len(moves)))].obs
            reply = belief_text(obs, policy)
            chat, labels = ask_belief(obs), [""] * obs.table.round + [reply]
        else:
            chat, labels = render(moves[-1].obs), [state.label for state in moves]
            reply = moves[-1].completion
        yield Row(task.name, seed, deal, labels, [*chat, {"role": "assistant", "content": reply}])


def belief_text(obs: Observation, listener: Listener) -> str:
    """What a listener answers when asked for its belief."""
    low, high, kind = believe(obs, listener.reads, listener.read).stated()
    reply = {"low": math.floor(100 * low / unit(obs)), "high": math.ceil(100 * high / unit(obs))}
    return json.dumps(reply | {"seller": kind}, separators=(",", ":"))


def round_action(obs: Observation, action: Action, near: int = 0) -> Action:
    """`action` as a completion can express it: an offer's price in whole percent.

    The words stay. The price stays legal and does not turn a gain into a loss. An offer within
    `near` percent of an affordable ask becomes an Accept, as people do.
    """
    if not isinstance(action, Offer):
        return action
    percent, last = percent_of(obs, action.price), bid_to_hold(obs)
    if last is None or percent != percent_of(obs, last.price):  # what was bid may be bid again
        percent = min(percent, _highest(obs, action))
    meets = not action.extras and percent_of(obs, obs.ask) - near <= percent
    if meets and obs.ask <= obs.budget:
        return Accept()
    bid = {"offer": max(1, percent)} | ({"with": list(action.extras)} if action.extras else {})
    return replace(parse(json.dumps(bid), obs), message=action.message)


def _highest(obs: Observation, bid: Offer) -> int:
    """The highest whole percent that a bid may be rounded to: legal, and without a loss."""
    moves = [m["properties"] for m in schema(obs)["anyOf"]]
    offers = [m.get("offer", m.get("raise")) for m in moves if "offer" in m or "raise" in m]
    legal, most = offers[0]["maximum"] if offers else 1, most_for(obs, bid.extras)
    return min(legal, math.floor(100 * most / unit(obs))) if bid.price <= most else legal


def summarize_rows(rows: Sequence[Row]) -> dict[str, Any]:
    """The number of rows by task, and of labels by verb and by kind."""
    labels = [label for row in rows for label in row.labels if label]
    moves = Counter(next(iter(json.loads(label))) for label in labels)
    moves.pop("low", None)  # a belief is no move
    return {
        "rows": len(rows),
        "completions": len(labels),
        "moves": dict(moves.most_common()),
        "kind": dict(sorted(Counter(map(kind_of, labels)).items())),
        "task": dict(sorted(Counter(row.task for row in rows).items())),
    }


@dataclass(frozen=True, kw_only=True)
class ArenaRowSettings:
    """Which games of the arena are played, by whom, and how many actions are kept."""

    rows: int = option("actions to learn from", 3_600)
    tasks: tuple[str, ...] = option("tasks of the games, with equal shares", tuple(ARENA_TASKS))
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

    task: Task
    turn: int  # the learner's, from 0
    play: Play
    obs: arena.Observation
    action: arena.Action


def teach_arena(task: Task, seed: int, settings: ArenaRowSettings) -> Iterator[ArenaTaught]:
    """The learner's states in one game of the mixture."""
    behaved = np.random.default_rng([seed, MIXTURE])
    names, chances = zip(*settings.behaviour, strict=True)
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    while task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        stream = agent_stream(task, seed, task.learner, turn)
        label = get_policy(task, settings.teacher)(obs, stream)
        yield ArenaTaught(task, turn, play, obs, label)
        acting = get_policy(task, names[behaved.choice(len(names), p=chances)])
        play = advance(task, task.opponents, move(task, play, acting(obs, stream)))
        turn += 1


def arena_rows(settings: ArenaRowSettings) -> list[Row]:
    """One row per state whose action is supervised, with each task's games from the first seed up.

    Raises ValueError where the training seeds run out.
    """
    rows: list[Row] = []
    for number, name in enumerate(settings.tasks, 1):
        wanted = settings.rows * number // len(settings.tasks) - len(rows)
        task = get_task(name)
        games = (
            supervise(task, seed, teach_arena(task, seed, settings), settings.waits)
            for seed in training_seeds(name, settings.first_seed)
        )
        rows += islice(chain.from_iterable(games), wanted)
    return rows


def supervise(task: Task, seed: int, states: Iterable[ArenaTaught], waits: float) -> Iterator[Row]:
    """The rows of one game of the arena, with the share `waits` of the teacher's waits."""
    draw = np.random.default_rng([seed, WAITS])
    for state in states:
        if draw.random() >= waits and state.action.action_type == "wait":
            continue
        text = arena_prompt.completion(state.action, state.obs)
        messages = [*arena_prompt.render(state.obs), {"role": "assistant", "content": text}]
        yield Row(task.name, seed, state.turn, [text], messages)


def to_lines(rows: Sequence[Any]) -> str:
    """Rows of a dataclass as JSON lines."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


def load_rows(file: Path, kind: type, make: Callable[[], Sequence[Any]]) -> list[Any]:
    """Rows of a dataclass, made once and then read from their file."""
    if not file.exists():
        write(file, to_lines(make()))
    return [kind(**row) for row in read_lines(file)]


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
            wanted = tokenizer(label, add_special_tokens=False)["input_ids"]
            wanted.append(tokenizer.eos_token_id)
            pairs = enumerate(zip(wanted, reply, strict=False), 1)
            wanted = wanted[: next((n for n, (a, b) in pairs if a != b), None)]
        ids += read + reply
        targets += [-100] * len(read) + wanted + [-100] * (len(reply) - len(wanted))
    return {"input_ids": ids, "labels": targets}


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
