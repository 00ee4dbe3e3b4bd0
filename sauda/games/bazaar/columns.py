"""Episodes of the bazaar as columns, one value a deal, and the figures of a row.

Shares are of the ZOPA, and a failure counts 0. A career is one episode of several deals: its share
is the mean over them; `deal_rate`, `rounds` and `ends` count deals.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from env import (
    BATCH_TASKS,
    SELLER,
    EndReason,
    Episode,
    Games,
    IllegalAction,
    Task,
    games_of,
    get_task,
    play_batch,
    shares,
)
from sauda.games.adapter import Evaluated
from sauda.games.bazaar.behaviour import BEHAVIOUR, behaviour_metrics
from sauda.games.bazaar.opponents import policies
from sauda.games.messages import ModelTurn
from sauda.policies.vectorized import batch_form

METRICS = ("share", "grade")
MODEL_COUNTS = (
    "moves",
    "invalid_replies",
    "changed",
    "tokens",
    *BEHAVIOUR,
)  # of a model, an episode
OPEN_MARKET = ("bazaar/open", "bazaar/rushed")  # of one deal

# How a deal ended for the learner, one letter a deal.
ENDS = {
    "A": "agreement",
    "O": "outbid",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "forfeit",
}


def batch_columns(task_name: str, policy_name: str, seeds: Sequence[int]) -> dict[str, Any] | None:
    """The columns of one task and policy over `seeds` through the vectorized engine.

    They equal those of `episode_columns` to the last digit. None for whoever sells, and for a buyer
    without a batch form.
    """
    if task_name not in BATCH_TASKS:
        return None
    policy = policies(get_task(task_name)).get(policy_name)
    form = None if policy is None else batch_form(policy)
    if form is None:
        return None
    games = games_at(task_name, tuple(seeds))
    played = play_batch(games, form)

    def column(field: str) -> list[Any]:
        return np.stack([getattr(deal, field) for deal in played.deals], axis=1).ravel().tolist()

    is_learner = [buyer == 0 for buyer in column("buyer")]
    by_seller = [by == SELLER for by in column("by")]
    reasons = [tuple(EndReason)[end] for end in column("end")]
    number = float if games.decimals else int  # as the scalar engine counts whole rupees
    return {
        "end": "".join(map(letter, reasons, by_seller, is_learner)),
        "price": [
            number(price) if own else None
            for price, own in zip(column("price"), is_learner, strict=True)
        ],
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


def letter(end: EndReason, by_seller: bool, own: bool) -> str:
    """How a deal ended, as a letter of ENDS; `own` where the learner is a party to the price."""
    if end == EndReason.AGREEMENT:
        return "A" if own else "O"
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
    own = index < len(past) and learner in ("seller", past[index].buyer)
    return past[index].price if own else None


def rounds(played: Episode) -> list[int]:
    """Rounds of each deal, 0 for one that a forfeit cut off before its end."""
    past = played.final.table.past
    return [past[i].rounds if i < len(past) else 0 for i in range(deals(played))]


def worlds_of(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """None: rows of the bazaar are computed from their columns alone."""
    return {}


def tables(played: Evaluated) -> dict[str, Any]:
    """An evaluation of the bazaar has no tables beside its rows."""
    return {}


def figures(task: Task, columns: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds beside METRICS, its ends and hashes."""
    deals = columns["end"]
    return {
        "deals": len(deals),
        "deal_rate": round(deals.count("A") / len(deals), 6),
        "success_rate": round(float(np.mean(np.array(columns["grade"]) >= task.success)), 6),
        "rounds": round(float(np.mean(columns["rounds"])), 6),
    }


def count_model(task: Task, turns: Sequence[ModelTurn]) -> dict[str, int]:
    """The MODEL_COUNTS of one episode from the model's turns."""
    return {
        "moves": len(turns),
        "invalid_replies": sum(isinstance(turn.parsed.proposal, IllegalAction) for turn in turns),
        "changed": sum(bool(turn.parsed.changes) for turn in turns),
        "tokens": sum(turn.reply.tokens for turn in turns),
        **behaviour_metrics(turns, task.name in OPEN_MARKET),
    }
