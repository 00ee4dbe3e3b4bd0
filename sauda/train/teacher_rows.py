"""Teacher rows for SFT: the moves of a teacher in games of the bazaar and of the GPU arena.

At times another policy moves in the teacher's place, so that states off the teacher's path occur.
In the bazaar a row is a whole deal as one conversation, so that its common prefix is read once; the
other policy's moves are part of it and are not supervised. In the arena a row is one action of the
teacher. The prompts and completions are, byte for byte, those that are served: a model trained on
other bytes would meet unknown prompts.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count, groupby, islice
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
    arena,
    begin,
    get_task,
    move,
)
from sauda.games import arena_prompt
from sauda.games.bazaar_prompt import (
    ask_belief,
    completion,
    parse,
    percent_of,
    render,
    schema,
    unit,
)
from sauda.llm.registry import get_policy
from sauda.policies.listener import Listener
from sauda.records.seeds import SPLITS, is_unseen_listing
from sauda.train.common import named_object

Action = Offer | Accept | WalkAway
MIXTURE, BELIEFS, WAITS = 1, 2, 5  # streams of their own, apart from the game's


@dataclass(frozen=True)
class Mix:
    """One task's share of the rows, and its teacher."""

    task: str
    part: float  # of the rows
    teacher: str


@dataclass(frozen=True, kw_only=True)
class RowSettings:
    """Which games of the bazaar are played, by whom, and how many deals are kept."""

    rows: int = field(default=1_600, metadata={"help": "deals to learn from"})
    teacher: str = field(
        default="", metadata={"help": "of all tasks, also module:function; '' for each task's own"}
    )
    mixes: tuple[Mix, ...] = (
        Mix("bazaar/open", 0.56, "listener"),
        Mix("bazaar/rushed", 0.26, "listener"),
        Mix("bazaar/mute", 0.09, "bayesian"),
        Mix("classic/single_deal", 0.03, "expert"),
        Mix("classic/asymmetric_pressure", 0.03, "expert"),
        Mix("classic/amazon_realistic", 0.03, "expert"),
    )
    behaviour: tuple[tuple[str, float], ...] = (  # who moves, drawn anew at each move
        ("teacher", 0.85),
        ("shifted", 0.09),  # the teacher's price, times a factor of `shift`
        ("linear", 0.03),
        ("conceder", 0.03),
    )
    shift: tuple[float, float] = (0.8, 1.25)
    beliefs: float = 0.1  # share of the deals that end with a question for the belief
    near: int = 1  # percent: a bid so near to the ask takes it
    first_seed: int = field(
        default=10_000, metadata={"help": "of the training split; a task's seeds run up from it"}
    )


@dataclass(frozen=True)
class Row:
    """One deal as a conversation; `kinds` has the kind of each of its completions.

    A kind is a verb, the act that is said with an offer, or "belief". It is "" where another policy
    than the teacher moved: that completion is not supervised.
    """

    task: str
    seed: int
    deal: int  # of the game, from 0
    kinds: list[str]
    messages: list[dict[str, str]]


def make_rows(settings: RowSettings) -> list[Row]:
    """The rows of `settings`, tasks in order, each task's games up from the first seed.

    Raises ValueError where the seeds would leave the training split.
    """
    all_rows: list[Row] = []
    for mix in settings.mixes:
        wanted, seed = round(settings.rows * mix.part), settings.first_seed
        task = get_task(mix.task)
        task_rows: list[Row] = []
        while len(task_rows) < wanted:
            if seed not in SPLITS["train"]:
                raise ValueError(f"{mix.task} has too few training seeds for {wanted:,} rows")
            task_rows.extend(conversations(task, seed, settings.teacher or mix.teacher, settings))
            seed += 1
        all_rows.extend(task_rows[:wanted])
    return all_rows


@dataclass(frozen=True)
class Taught:
    """A state of the learner in a game, the teacher's move there, and the move that was made."""

    turn: int  # the learner's, from 0
    obs: Observation
    move: Action
    kind: str  # of the teacher's move; "" where another policy moved
    completion: str  # of the move that was made


def teach(task: Task, seed: int, teacher: str, settings: RowSettings) -> Iterator[Taught]:
    """The learner's states in one game of the mixture."""
    behaved = np.random.default_rng([seed, MIXTURE])
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    while not play.forfeit and task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        label = find_teacher(task, teacher)(obs, agent_stream(task, seed, task.learner, turn))
        text = completion(round_action(obs, label, settings.near), obs)
        kind = kind_of(text)
        other = _other(task, obs, label, settings, behaved)
        if other is not None:
            kind, text = "", completion(other, obs)
        yield Taught(turn, obs, label, kind, text)
        play = move(task, play, parse(text, obs))
        play, turn = advance(task, task.opponents, play), turn + 1


def find_teacher(task: Task, name: str) -> Policy:
    """The teacher of that name: a policy of the task, or "module:function" of the user's own."""
    return named_object(name) if ":" in name else get_policy(task, name)


def kind_of(text: str) -> str:
    """The kind of a completion: its verb, or the act that is said with an offer."""
    reply = json.loads(text)
    return reply.get("say") or next(iter(reply))


def conversations(task: Task, seed: int, teacher: str, settings: RowSettings) -> Iterator[Row]:
    """The deals of one game in which the teacher moves, without deals about unseen listings."""
    asked, policy = np.random.default_rng([seed, BELIEFS]), find_teacher(task, teacher)
    states = teach(task, seed, teacher, settings)
    for deal, group in groupby(states, lambda state: len(state.obs.table.past)):
        moves = list(group)
        if not any(state.kind for state in moves) or is_unseen_listing(moves[0].obs.table.item):
            continue
        if isinstance(policy, Listener) and asked.random() < settings.beliefs:
            obs = moves[int(asked.integers(len(moves)))].obs
            chat, kinds = ask_belief(obs), [""] * obs.table.round + ["belief"]
            reply = belief_text(obs, policy)
        else:
            chat, kinds = render(moves[-1].obs), [state.kind for state in moves]
            reply = moves[-1].completion
        yield Row(task.name, seed, deal, kinds, [*chat, {"role": "assistant", "content": reply}])


def belief_text(obs: Observation, listener: Listener) -> str:
    """What a listener answers when asked for its belief."""
    low, high, kind = listener.stated(obs)
    reply = {"low": math.floor(100 * low / unit(obs)), "high": math.ceil(100 * high / unit(obs))}
    return json.dumps(reply | {"seller": kind}, separators=(",", ":"))


def _other(
    task: Task, obs: Observation, label: Action, settings: RowSettings, rng: np.random.Generator
) -> Action | None:
    """The move of another policy at `obs`; None where the teacher moves."""
    names, chances = zip(*settings.behaviour, strict=True)
    who = names[rng.choice(len(names), p=chances)]
    if who == "teacher":
        return None
    if who != "shifted":
        other = get_policy(task, who)(obs, rng)
    else:
        price = label.price if isinstance(label, Offer) else obs.ask
        other = Offer(obs.priced(price * rng.uniform(*settings.shift)))
    if isinstance(other, Offer):
        least = 10.0**-obs.table.decimals if obs.bid is None else obs.bid
        most = max(obs.bid or 0.0, obs.priced(obs.budget))
        other = replace(other, price=max(min(other.price, most), least))
    return round_action(obs, other)


def round_action(obs: Observation, action: Action, near: int = 0) -> Action:
    """`action` as a completion can express it: an offer's price in whole percent.

    The words stay. The price stays legal and does not turn a gain into a loss. An offer within
    `near` percent of an affordable ask becomes an Accept, as people do.
    """
    if not isinstance(action, Offer):
        return action
    percent = percent_of(obs, action.price)
    if obs.bid is None or percent != percent_of(obs, obs.bid):  # what was bid may be bid again
        percent = min(percent, _highest(obs, action.price))
    if percent_of(obs, obs.ask) - near <= percent and obs.ask <= obs.budget:
        return Accept()
    return replace(parse(json.dumps({"offer": max(1, percent)}), obs), message=action.message)


def _highest(obs: Observation, price: float) -> int:
    """The highest whole percent that `price` may be rounded to: legal, and without a loss."""
    offers = [m for m in schema(obs)["anyOf"] if "offer" in m["properties"]]
    legal = offers[0]["properties"]["offer"]["maximum"] if offers else 1
    return min(legal, math.floor(100 * obs.budget / unit(obs))) if price <= obs.budget else legal


def summarize_rows(deals: Sequence[Row]) -> dict[str, Any]:
    """The number of deals by task, and of supervised replies by verb and by kind."""
    learnt = [
        (kind, next(iter(json.loads(message["content"]))))
        for row in deals
        for kind, message in zip(row.kinds, row.messages[2::2], strict=True)
        if kind
    ]
    moves = Counter(verb for _, verb in learnt)
    return {
        "rows": len(deals),
        "completions": len(learnt),
        "moves": {verb: moves[verb] for verb in ("offer", "accept", "walk")},
        "kind": dict(sorted(Counter(kind for kind, _ in learnt).items())),
        "task": dict(sorted(Counter(row.task for row in deals).items())),
    }


@dataclass(frozen=True, kw_only=True)
class ArenaRowSettings:
    """Which games of the arena are played, by whom, and how many actions are kept."""

    rows: int = field(default=1_200, metadata={"help": "actions to learn from"})
    tasks: tuple[str, ...] = field(
        default=tuple(ARENA_TASKS), metadata={"help": "tasks of the games, with equal shares"}
    )
    teacher: str = "broker"
    behaviour: tuple[tuple[str, float], ...] = (  # who moves, drawn anew at each action
        ("broker", 0.85),
        ("rule_based_expert", 0.08),
        ("random", 0.07),
    )
    waits: float = 0.1  # share of the teacher's waits that is kept: they are frequent and alike
    first_seed: int = field(
        default=10_000, metadata={"help": "of the training split; seeds run up from it"}
    )


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

    Raises ValueError where the seeds would leave the training split.
    """
    rows: list[Row] = []
    for number, name in enumerate(settings.tasks, 1):
        wanted = settings.rows * number // len(settings.tasks) - len(rows)
        rows += islice(_labelled_states(get_task(name), settings), wanted)
    return rows


def _labelled_states(task: Task, settings: ArenaRowSettings) -> Iterator[Row]:
    """The rows of one task, game after game, with few of the waits."""
    for seed in count(settings.first_seed):
        if seed not in SPLITS["train"]:
            raise ValueError(f"{task.name} has too few training seeds for {settings.rows:,} rows")
        kept = np.random.default_rng([seed, WAITS])
        for state in teach_arena(task, seed, settings):
            if kept.random() >= settings.waits and state.action.action_type == "wait":
                continue
            text = arena_prompt.completion(state.action, state.obs)
            messages = [*arena_prompt.render(state.obs), {"role": "assistant", "content": text}]
            yield Row(task.name, seed, state.turn, [kind_of(text)], messages)


def arena_summary(actions: Sequence[Row]) -> dict[str, Any]:
    """The number of supervised actions by type, in the fields of `summarize_rows`."""
    moves = Counter(row.kinds[0] for row in actions)
    return {
        "rows": len(actions),
        "completions": len(actions),
        "moves": dict(moves.most_common()),
        "kind": {},
        "task": dict(Counter(row.task for row in actions)),
    }


def to_lines(rows: Sequence[Any]) -> str:
    """Rows of a dataclass as JSON lines."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


def encode_row(row: Row, tokenizer: Any) -> dict[str, list[int]]:
    """`row` as "input_ids" and "labels" of one length; labels are -100 at unsupervised tokens.

    The teacher's completions and their end-of-turn tokens are supervised.
    """
    return label_tokens(row.messages, list(map(bool, row.kinds)), tokenizer)


def label_tokens(
    messages: Sequence[Mapping[str, str]], learnt: Sequence[bool], tokenizer: Any
) -> dict[str, list[int]]:
    """A conversation as "input_ids" and "labels" of one length; -100 at unsupervised tokens.

    `learnt` says per reply whether it and its end-of-turn token are supervised.
    """
    ids: list[int] = []
    labels: list[int] = []
    for counts, (read, reply) in zip(learnt, reply_spans(messages, tokenizer), strict=True):
        end = max(i for i, token in enumerate(reply) if token == tokenizer.eos_token_id) + 1
        ids += read + reply
        labels += [-100] * len(read)
        labels += [token if counts and i < end else -100 for i, token in enumerate(reply)]
    return {"input_ids": ids, "labels": labels}


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
