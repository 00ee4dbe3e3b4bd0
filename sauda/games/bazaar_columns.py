"""The bazaar's actions in words, and its episodes as columns, one value per deal.

Shares are of the ZOPA, and a failure counts 0. A career is one episode of several deals: its share
is the mean over them; `deal_rate`, `rounds` and `ends` count deals.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from env import (
    MARKETS,
    Accept,
    Deal,
    EndReason,
    Episode,
    IllegalAction,
    Offer,
    Task,
    WalkAway,
    shares,
)
from env.bazaar.prompt import percent_of
from sauda.games.adapter import Evaluated, ModelTurn
from sauda.policies.listener import Listener

PLANNED = tuple(f"bazaar/{name}" for name, each in MARKETS.items() if not each.extras)

BEHAVIOUR = (  # of one game
    "retreats",  # bids below an earlier one of its own
    "broken",  # bids or acceptances above a price that it called its last
    "over_limit",  # bids or acceptances above what the thing and its extras are worth: a loss
    "walk_due",  # 1 where there is a position in which the belief buyer walks away ...
    "walked",  # ... and 1 where this one walks in the first of them
)
LAST = re.compile(
    r"\b(last|final|at most|no more|cannot (go|pass)|must go|all i have|aakhri|akhri|warna)\b",
    re.IGNORECASE,
)


def behaviour_metrics(turns: Sequence[ModelTurn], market: bool) -> dict[str, int]:
    """The BEHAVIOUR counts of one deal, from the actions that were taken.

    To walk is due where the planner would: the best play we know that uses nothing hidden. It
    knows the sellers of the open `market` alone; elsewhere nothing is due.
    """
    counts = dict.fromkeys(BEHAVIOUR, 0)
    highest = last = None
    for turn in turns:
        move, obs = turn.action, turn.obs
        due = market and not counts["walk_due"]  # only the game's first such position counts
        if due and isinstance(PLANNER(obs, np.random.default_rng(0)), WalkAway):
            counts["walk_due"], counts["walked"] = 1, int(isinstance(move, WalkAway))
        if not isinstance(move, Offer | Accept):
            continue
        price = move.price if isinstance(move, Offer) else obs.ask
        counts["broken"] += last is not None and price > last
        counts["over_limit"] += price > obs.most_for(getattr(move, "extras", ()))
        if isinstance(move, Offer):
            counts["retreats"] += highest is not None and percent_of(obs, price) < percent_of(
                obs, highest
            )
            highest = price if highest is None else max(highest, price)
            if LAST.search(move.message):
                last = price
    return counts


PLANNER = Listener(speaks=False)
METRICS = ("share", "grade")
MODEL_COUNTS = ("moves", "invalid_replies", "changed", "tokens", *BEHAVIOUR)  # per episode

# How a deal ended for the learner, one letter per deal.
ENDS = {
    "A": "agreement",
    "O": "outbid",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "forfeit",
}


def episode_columns(game: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of a task as columns: one value per deal, `grade` one per episode.

    The price is what the learner paid or got, None without a deal of its own. Deals that a forfeit
    cut off are forfeits too, of 0 rounds.
    """
    ends, prices, rounds = "", [], []
    for table in (episode.final.table for episode in played):
        cut_off = table.deals - len(table.past)
        is_learners = [game.learner in ("seller", deal.buyer) for deal in table.past]
        ends += "".join(map(_letter, table.past, is_learners)) + "F" * cut_off
        prices += [deal.price if is_own else None
                   for deal, is_own in zip(table.past, is_learners, strict=True)]  # fmt: skip
        prices += [None] * cut_off
        rounds += [deal.rounds for deal in table.past] + [0] * cut_off
    return {
        "end": ends,
        "price": prices,
        "rounds": rounds,
        "share": _six_digits(s for episode in played for s in shares(episode.final, game.learner)),
        "grade": _six_digits(game.grade(episode.final) for episode in played),
    }


def _six_digits(values: Iterable[float]) -> list[float]:
    return [round(value, 6) for value in values]


def _letter(deal: Deal, is_learners: bool) -> str:
    """How a deal ended, as a letter of ENDS; `is_learners` where the learner is a party to it."""
    if deal.end == EndReason.AGREEMENT:
        return "A" if is_learners else "O"
    if deal.end == EndReason.WALKAWAY:
        return "S" if deal.by == "seller" else "B"
    return "D" if deal.end == EndReason.DEADLINE else "F"


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
        **behaviour_metrics(turns, task.name in PLANNED),
    }
