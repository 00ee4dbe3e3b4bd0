"""One cell of an evaluation: a task and a policy over seeds, as columns, one value a deal.

Scripted buyers are played through the batch engine; `replay_cell` plays the same through the scalar
one, and the columns are equal to the last digit.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from env import (
    BATCH_TASKS,
    SELLER,
    EndReason,
    Episode,
    Games,
    Task,
    games_of,
    get_task,
    play_batch,
    rollout,
    shares,
)
from sauda.policies import policy
from sauda.policies.vectorized import BATCH

# How a deal ended for the learner, one letter a deal.
ENDS = {
    "A": "agreement",
    "O": "outbid",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "forfeit",
}


def play_cell(task_name: str, policy_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """One task and policy over `seeds`, as columns; grades have one value an episode.

    Whoever sells, and a buyer without a batch form, is played through `rollout`.
    """
    if task_name not in BATCH_TASKS or policy_name not in BATCH:
        return replay_cell(task_name, policy_name, seeds)
    games = games_at(task_name, tuple(seeds))
    played = play_batch(games, BATCH[policy_name])

    def column(field: str) -> list[Any]:
        return np.stack([getattr(deal, field) for deal in played.deals], axis=1).ravel().tolist()

    mine = [buyer == 0 for buyer in column("buyer")]
    by_seller = [by == SELLER for by in column("by")]
    reasons = [tuple(EndReason)[end] for end in column("end")]
    number = float if games.decimals else int  # as the scalar engine counts whole rupees
    return {
        "end": "".join(map(letter, reasons, by_seller, mine)),
        "price": [number(p) if m else None for p, m in zip(column("price"), mine, strict=True)],
        "rounds": [
            0 if end == EndReason.FORFEIT else count
            for end, count in zip(reasons, column("rounds"), strict=True)
        ],
        "share": _six_digits(played.share.T.ravel().tolist()),
        "grade": _six_digits(played.grade.tolist()),
    }


@lru_cache(maxsize=4)
def games_at(task_name: str, seeds: tuple[int, ...]) -> Games:
    """`games_of`, kept: one policy after the other meets the same games."""
    return games_of(task_name, seeds)


def replay_cell(task_name: str, policy_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The same columns through the scalar engine."""
    game = get_task(task_name)
    learner = policy(game, policy_name)
    return episode_columns(game, [rollout(game, learner, seed) for seed in seeds])


def episode_columns(game: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of a task as columns: one value a deal, `grade` one an episode."""
    learner = game.learner
    return {
        "end": "".join(ends(e, learner) for e in played),
        "price": [deal_price(e, i, learner) for e in played for i in range(deals(e))],
        "rounds": [r for e in played for r in rounds(e)],
        "share": _six_digits(s for e in played for s in shares(e.final, learner)),
        "grade": _six_digits(game.grade(e.final) for e in played),
    }


def _six_digits(values: Iterable[float]) -> list[float]:
    return [round(value, 6) for value in values]


def letter(end: EndReason, by_seller: bool, mine: bool) -> str:
    """How a deal ended, as a letter of ENDS; `mine` where the learner is a party to the price."""
    if end == EndReason.AGREEMENT:
        return "A" if mine else "O"
    if end == EndReason.WALKAWAY:
        return "S" if by_seller else "B"
    return "D" if end == EndReason.DEADLINE else "F"


def deals(played: Episode) -> int:
    """Deals an episode was to have, made or not."""
    return played.final.table.deals


def ends(played: Episode, learner: str) -> str:
    """One letter of ENDS a deal; deals a forfeit cut off are forfeits too."""
    letters = [
        letter(deal.end, deal.by == "seller", learner in ("seller", deal.buyer))
        for deal in played.final.table.past
    ]
    return "".join(letters).ljust(deals(played), "F")


def deal_price(played: Episode, index: int, learner: str) -> float | None:
    """The price the learner paid or got in one deal; None without one of its own."""
    past = played.final.table.past
    made = index < len(past) and learner in ("seller", past[index].buyer)
    return past[index].price if made else None


def rounds(played: Episode) -> list[int]:
    """Rounds of each deal, 0 for one that a forfeit cut off before its end."""
    past = played.final.table.past
    return [past[i].rounds if i < len(past) else 0 for i in range(deals(played))]
