"""Preference pairs for DPO: two replies to the same position, of which one earned more.

The learner plays a game. At one of its turns it replies again several times, and plays each reply
to the end of the game, its later tokens drawn from the same random numbers. The reply whose game
earned most is chosen, the one whose game earned least is rejected. The pairs of a batch of
positions are on disk before the next batch is played.
"""

import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from env import IllegalAction, get_task
from sauda.games.bazaar_prompt import completion
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games, play_turn
from sauda.llm.types import Generate, ReplyError
from sauda.records.seeds import SPLITS, UNSEEN_SELLER, is_unseen_game
from sauda.records.store import digest, read_lines
from sauda.train.run import Stopped, append, option

BRANCH, COMMON = 1, 0  # salts: of the replies that are compared; of all other replies
TURN = 4  # a stream of its own: which turn is compared


@dataclass(frozen=True)
class PairConfig:
    """Which positions are compared, and how many pairs are collected."""

    pairs: int = option(500, "pairs to learn from")
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    branches: int = 4  # replies that are compared, the game's own included
    batch_size: int = 24  # positions that are played side by side
    min_gap: float = 0.02  # least difference of two grades that tells a better reply
    first_seed: int = option(40_000, "of the training split; GRPO's run from 30,000", least=0)
    unseen_seller: str = UNSEEN_SELLER  # a seller type that no training game has
    patience: int = 200  # positions in a row without a pair, before it stops


def collect(
    config: PairConfig,
    players: Sequence[PlayerSpec],
    file: Path,
    judge: Generate | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Adds the missing pairs to `file`, each written immediately, and returns all pairs.

    The `players` are the same buyer, each with a prefix cache of its own, and compare positions in
    parallel; a pair does not depend on their number. Raises Stopped where `config.patience`
    positions in a row give no pair, or where the judge fails, and ValueError where the training
    split ends.
    """
    tried = {(row["task"], row["seed"]) for row in read_lines(file)}
    pairs, fruitless = kept(file), 0
    untried = (one for one in _instances(config) if one not in tried)
    if len(pairs) >= config.pairs:
        return pairs[: config.pairs]
    say(f"{len(pairs)} of {config.pairs} pairs")
    started = time.monotonic()
    with closing(_in_parallel(config, players, untried)) as batches:
        for rows in batches:
            spent, started = time.monotonic() - started, time.monotonic()
            for row in rows:
                try:
                    row = approved(row, judge)
                except ReplyError as error:
                    raise Stopped(
                        f"the judge gave no answer: {error}; {len(pairs)} pairs are kept in {file},"
                        " continue with --resume"
                    ) from error
                append(file, row | {"seconds": round(spent / len(rows), 3)})
                fruitless = 0 if "chosen" in row else fruitless + 1
                if "chosen" in row:
                    pairs.append(row)
            say(f"{len(pairs)} of {config.pairs} pairs")
            if len(pairs) >= config.pairs:
                return pairs[: config.pairs]
            if fruitless >= config.patience:
                raise Stopped(
                    f"{fruitless} positions in a row gave no pair: replies to the same position "
                    f"earn the same. {len(pairs)} pairs are kept in {file}"
                )


def _in_parallel(
    config: PairConfig, players: Sequence[PlayerSpec], untried: Iterator[tuple[str, int]]
) -> Iterator[list[dict[str, Any]]]:
    """The rows of each batch of `untried`, in order; a player compares one batch at a time."""
    free: SimpleQueue[PlayerSpec] = SimpleQueue()
    for player in players:
        free.put(player)

    def compare(batch: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
        player = free.get()
        try:
            return list(compared(config, player, batch))
        finally:
            free.put(player)

    with ThreadPoolExecutor(len(players)) as pool:
        waiting: deque[Future[list[dict[str, Any]]]] = deque()
        while True:
            while len(waiting) < len(players):
                waiting.append(pool.submit(compare, list(islice(untried, config.batch_size))))
            yield waiting.popleft().result()


def kept(file: Path) -> list[dict[str, Any]]:
    """The pairs in `file`; rows of positions that gave none are left out."""
    return [row for row in read_lines(file) if "chosen" in row]


def _instances(config: PairConfig) -> Iterator[tuple[str, int]]:
    for number, seed in enumerate(range(config.first_seed, SPLITS["train"][-1] + 1)):
        name = config.tasks[number % len(config.tasks)]
        if not is_unseen_game(get_task(name), seed, config.unseen_seller):
            yield name, seed
    raise ValueError(f"too few training seeds for {config.pairs} pairs")


def compared(
    config: PairConfig, player: PlayerSpec, instances: Sequence[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """A row for each instance: a pair, or the task and seed alone where there is none."""
    games = [new_game(get_task(name), seed, (COMMON,)) for name, seed in instances]
    play_games(games, player)
    groups = [_branches(config, game) for game in games]
    play_turn([branch for group in groups for branch in group[1:]], player)
    groups = [_distinct(group) for group in groups]
    branches = [branch for group in groups for branch in group[1:]]
    for branch in branches:
        branch.salt = (COMMON,)
    play_games(branches, player)
    for (name, seed), group in zip(instances, groups, strict=True):
        yield {"task": name, "seed": seed} | (_pair(config, group) or {})


def _branches(config: PairConfig, game: ModelGame) -> list[ModelGame]:
    """A finished `game` from one of its turns on, then its position there for each new reply."""
    turn = np.random.default_rng([game.play.seed, TURN]).integers(len(game.turns))
    before = game.turns[turn].before
    others = [
        ModelGame(game.task, before, (BRANCH, number)) for number in range(1, config.branches)
    ]
    return [ModelGame(game.task, game.play, game.salt, game.turns[turn:]), *others]


def _distinct(group: Sequence[ModelGame]) -> list[ModelGame]:
    """The branches whose first reply differs; equal replies would end in the same way."""
    first: dict[str, ModelGame] = {}
    for branch in group:
        first.setdefault(branch.turns[0].reply.text, branch)
    return list(first.values())


def _pair(config: PairConfig, group: Sequence[ModelGame]) -> dict[str, Any] | None:
    """The best and the worst reply of a `group`; None where no reply is better."""
    legal = [game for game in group if game.turns[0].action is not None]
    if not legal:
        return None
    best, worst = max(legal, key=lambda g: g.grade), min(group, key=lambda g: g.grade)
    chosen, rejected = _text(best), _text(worst)
    gap = best.grade - worst.grade
    if gap < config.min_gap or chosen == rejected:
        return None
    chat = [dict(message) for message in best.turns[0].request.messages]
    return {"chat": chat, "chosen": chosen, "rejected": rejected, "gap": round(gap, 6)}


def approved(row: Mapping[str, Any], judge: Generate | None) -> dict[str, Any]:
    """A `row` with the judge's verdict, if it is a pair.

    A pair whose rejected reply the judge prefers in both orders is reduced to its task and seed.
    """
    if "chosen" not in row:
        return dict(row)
    verdict = judge and preference(judge, row["chat"], row["chosen"], row["rejected"])
    if verdict == 0.0:
        return {"task": row["task"], "seed": row["seed"]}
    return {**row, "judge": verdict}


def _text(game: ModelGame) -> str:
    """The first reply of a branch, in canonical form where it is a move."""
    turn = game.turns[0]
    if isinstance(turn.parsed.proposal, IllegalAction):
        return turn.reply.text
    return completion(turn.parsed.proposal, turn.obs)


def _verb(text: str) -> str:
    """The key of a canonical completion, such as "offer"; "" for any other text."""
    try:
        move = json.loads(text)
    except ValueError:
        return ""
    return next(iter(move), "") if isinstance(move, Mapping) else ""


QUESTION = (
    "A buyer haggles. Below is the talk so far and two replies the buyer could give. Which one "
    "gets the buyer the better deal? Answer with one letter, A or B.\n\n"
    "{chat}\n\nA: {first}\nB: {second}"
)


ANSWER = re.compile(r"\W*(?:answer\W*)?([AB])\b(?!\s+\w)", re.IGNORECASE)


def preference(
    judge: Generate, chat: Sequence[Mapping], chosen: str, rejected: str
) -> float | None:
    """The share of the two orders in which a language model prefers `chosen`: 0, 0.5 or 1.

    None where a reply names neither. Raises ReplyError where the model gives no reply.
    """
    transcript = "\n".join(f"{m['role']}: {m['content']}" for m in chat)
    preferred = 0
    for order, letter in (((chosen, rejected), "A"), ((rejected, chosen), "B")):
        question = QUESTION.format(chat=transcript, first=order[0], second=order[1])
        answer = ANSWER.match(judge([{"role": "user", "content": question}], 0).text)
        if answer is None:
            return None
        preferred += answer[1].upper() == letter
    return preferred / 2


def summary(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The number of pairs by task and by the chosen move, their mean gap and their hash."""
    content = [{k: v for k, v in row.items() if k != "seconds"} for row in pairs]
    verdicts = [row["judge"] for row in pairs if row["judge"] is not None]
    return {
        "n": len(pairs),
        "task": dict(sorted(Counter(row["task"] for row in pairs).items())),
        "moves": dict(sorted(Counter(_verb(row["chosen"]) for row in pairs).items())),
        "gap": round(float(np.mean([row["gap"] for row in pairs])), 4),
        "judge": {"n": len(verdicts), "agrees": float(np.mean(verdicts))} if verdicts else None,
        "sha256": digest(content),
    }
