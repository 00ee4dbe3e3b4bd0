"""Pairs of replies to the same position, of which one earned more: what DPO learns from.

The learner plays a game; at one of its turns it is asked some more times, and each other reply is
played to the end by the learner itself, its later tokens drawn alike. The reply whose game earned
most is chosen, the one whose game earned least rejected. The pairs of a batch of positions
are on disk before those of the next one.
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
from sauda.games.bazaar.prompt import completion
from sauda.llm.batched_rollout import ModelGame, new_game, play_games, play_turn
from sauda.llm.registry import PlayerSpec
from sauda.llm.types import Generate, ReplyError
from sauda.records.splits import SPLITS, UNSEEN_SELLER, is_unseen_game
from sauda.records.store import digest
from sauda.train.options import option
from sauda.train.run import Stopped, append, lines

BRANCH, ALIKE = 1, 0  # salts: replies at the turn that is compared; all others
TURN = 4  # a stream of its own: which turn is compared


@dataclass(frozen=True)
class PairConfig:
    """Where pairs come from, and how many are wanted."""

    pairs: int = option(500, "pairs to learn from")
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed", "bazaar/bluff")
    branches: int = 4  # replies that are compared, the game's own among them
    batch_size: int = 24  # positions that are played side by side
    min_gap: float = 0.02  # least difference of two grades that tells a better reply
    first_seed: int = 40_000  # of the training split; GRPO's run from 30,000
    unseen_seller: str = UNSEEN_SELLER  # a seller type that no training game has
    patience: int = 200  # positions in a row without a pair, before it stops


def collect(
    config: PairConfig,
    players: Sequence[PlayerSpec],
    file: Path,
    judge: Generate | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """The pairs in `file`, after as many were added as are wanted, each durable at once.

    The `players` are one buyer, each with memory of its own, who look at positions side by side; a
    pair does not depend on how many they are. Raises Stopped where so many positions bring no pair
    that something is wrong, and ValueError where the training split ends.
    """
    tried = {(row["task"], row["seed"]) for row in lines(file)}
    found, barren = kept(file), 0
    todo = (one for one in _instances(config) if one not in tried)
    if len(found) >= config.pairs:
        return found[: config.pairs]
    say(f"{len(found)} of {config.pairs} pairs")
    begun = time.monotonic()
    with closing(_side_by_side(config, players, todo)) as batches:
        for rows in batches:
            spent, begun = time.monotonic() - begun, time.monotonic()
            for row in rows:
                try:
                    row = approved(row, judge)
                except ReplyError as error:
                    raise Stopped(
                        f"the judge gave no answer: {error}; {len(found)} pairs are kept in {file},"
                        " go on with --resume"
                    ) from error
                append(file, row | {"seconds": round(spent / len(rows), 3)})
                barren = 0 if "chosen" in row else barren + 1
                if "chosen" in row:
                    found.append(row)
            say(f"{len(found)} of {config.pairs} pairs")
            if len(found) >= config.pairs:
                return found[: config.pairs]
            if barren >= config.patience:
                raise Stopped(
                    f"{barren} positions in a row brought no pair: replies to the same position "
                    f"earn the same. {len(found)} pairs are kept in {file}"
                )


def _side_by_side(
    config: PairConfig, players: Sequence[PlayerSpec], todo: Iterator[tuple[str, int]]
) -> Iterator[list[dict[str, Any]]]:
    """The rows of batch after batch in the order of `todo`; a player looks at one at a time."""
    free: SimpleQueue[PlayerSpec] = SimpleQueue()
    for player in players:
        free.put(player)

    def look(some: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
        player = free.get()
        try:
            return list(compared(config, player, some))
        finally:
            free.put(player)

    with ThreadPoolExecutor(len(players)) as pool:
        waiting: deque[Future[list[dict[str, Any]]]] = deque()
        while True:
            while len(waiting) < len(players):
                waiting.append(pool.submit(look, list(islice(todo, config.batch_size))))
            yield waiting.popleft().result()


def kept(file: Path) -> list[dict[str, Any]]:
    """The pairs that are in `file`."""
    return [row for row in lines(file) if "chosen" in row]


def _instances(config: PairConfig) -> Iterator[tuple[str, int]]:
    for number, seed in enumerate(range(config.first_seed, SPLITS["train"][-1] + 1)):
        name = config.tasks[number % len(config.tasks)]
        if not is_unseen_game(get_task(name), seed, config.unseen_seller):
            yield name, seed
    raise ValueError(f"too few training seeds for {config.pairs} pairs")


def compared(
    config: PairConfig, player: PlayerSpec, instances: Sequence[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """A row for each instance: a pair, or only that it was tried."""
    games = [new_game(get_task(name), seed, (ALIKE,)) for name, seed in instances]
    play_games(games, player)
    groups = [_branches(config, game) for game in games]
    play_turn([branch for group in groups for branch in group[1:]], player)
    groups = [_distinct(group) for group in groups]
    every = [branch for group in groups for branch in group[1:]]
    for branch in every:
        branch.salt = (ALIKE,)
    play_games(every, player)
    for (name, seed), group in zip(instances, groups, strict=True):
        yield {"task": name, "seed": seed} | (_pair(config, group) or {})


def _branches(config: PairConfig, game: ModelGame) -> list[ModelGame]:
    """A played `game` from one of its learner's turns on, then that position once a new reply."""
    turn = np.random.default_rng([game.play.seed, TURN]).integers(len(game.turns))
    before = game.turns[turn].before
    again = [ModelGame(game.task, before, (BRANCH, number)) for number in range(1, config.branches)]
    return [ModelGame(game.task, game.play, game.salt, game.turns[turn:]), *again]


def _distinct(group: Sequence[ModelGame]) -> list[ModelGame]:
    """The branches without those that say what an earlier one says: they would end as it does."""
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
    """A `row` with the judge's verdict where it is a pair.

    Only that it was tried is left of a pair whose judge prefers the other reply in both orders.
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
    """What a canonical completion does; "" where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    return next(iter(found), "") if isinstance(found, Mapping) else ""


ASKED = (
    "A buyer haggles. Below is the talk so far and two replies the buyer could give. Which one "
    "gets the buyer the better deal? Answer with one letter, A or B.\n\n"
    "{chat}\n\nA: {first}\nB: {second}"
)


ANSWER = re.compile(r"\W*(?:answer\W*)?([AB])\b(?!\s+\w)", re.IGNORECASE)


def preference(
    judge: Generate, chat: Sequence[Mapping], chosen: str, rejected: str
) -> float | None:
    """Whether a language model prefers `chosen`: 1 in both orders, 0 in neither, else a half.

    None where it names neither. Raises ReplyError where it gives no answer.
    """
    talk = "\n".join(f"{m['role']}: {m['content']}" for m in chat)
    right = 0
    for order, letter in (((chosen, rejected), "A"), ((rejected, chosen), "B")):
        asked = ASKED.format(chat=talk, first=order[0], second=order[1])
        named = ANSWER.match(judge([{"role": "user", "content": asked}], 0).text)
        if named is None:
            return None
        right += named[1].upper() == letter
    return right / 2


def summary(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the pairs are: by task, by what the chosen reply does, how much better it was."""
    pairs = [{k: v for k, v in row.items() if k != "seconds"} for row in found]
    verdicts = [row["judge"] for row in found if row["judge"] is not None]
    return {
        "n": len(found),
        "task": dict(sorted(Counter(row["task"] for row in found).items())),
        "moves": dict(sorted(Counter(_verb(row["chosen"]) for row in found).items())),
        "gap": round(float(np.mean([row["gap"] for row in found])), 4),
        "judge": {"n": len(verdicts), "agrees": float(np.mean(verdicts))} if verdicts else None,
        "sha256": digest(pairs),
    }
