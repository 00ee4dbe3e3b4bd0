"""The bazaar's opponents, its actions in words, and its episodes as columns, one value per deal.

Shares are of the ZOPA, and a failure counts 0. A career is one episode of several deals: its share
is the mean over them; `deal_rate`, `rounds` and `ends` count deals.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from env import (
    MARKETS,
    Accept,
    EndReason,
    Episode,
    IllegalAction,
    Observation,
    Offer,
    Policy,
    Task,
    Turn,
    WalkAway,
    get_task,
    rupees,
    shares,
    with_seller_type,
)
from sauda.games.adapter import Evaluated, ModelTurn
from sauda.games.bazaar_prompt import Action, percent_of
from sauda.policies import BUYERS, SELLERS, SLOW
from sauda.policies.bazaar import leave
from sauda.policies.listener import Listener
from sauda.policies.tuned import SEARCHED, Tuned

LEAVE, TUNED = "leave", "tuned"  # to compare with: no play at all, the best script found by search


def policies(task: Task) -> Mapping[str, Policy]:
    """The policies that can take the learner's seat of `task`, by name.

    Leaving at once, to compare with, is for the open market alone, and the tuned script for its
    tasks for which one was searched.
    """
    if task.learner == "seller":
        return SELLERS
    market = task.name.removeprefix("bazaar/") in MARKETS
    if not market:
        return BUYERS
    found = {TUNED: Tuned(task.name)} if task.name in SEARCHED else {}
    return MappingProxyType({**BUYERS, LEAVE: leave, **found})


def slow_policies(task: Task) -> Mapping[str, Policy]:
    """The buyers that are too slow to be compared by default."""
    return SLOW if task.learner == "buyer" else {}


def against(task: Task, name: str) -> Task:
    """`task` with the other seat taken by `name`; "" keeps the task's own opponents.

    Where the learner sells, `name` is a buyer; in the open market, a type of seller. Raises
    ValueError where there is none of that name, or nothing to choose.
    """
    if not name:
        return task
    if task.learner != "seller":
        return with_seller_type(task, name)
    if name not in BUYERS:
        raise ValueError(f"no buyer {name!r} to sell to; buyers are {', '.join(BUYERS)}")
    return replace(task, opponents={**task.opponents, "buyer": BUYERS[name]})


ACTIONS = {"offer": Offer, "accept": Accept, "walk": WalkAway}
NAMES = {kind: name for name, kind in ACTIONS.items()}


def to_json(action: Action) -> dict[str, Any]:
    """The action as a recorded move, without its agent."""
    row: dict[str, Any] = {"action": NAMES[type(action)]}
    if isinstance(action, Offer):
        row["price"] = action.price
    return row | ({"message": action.message} if action.message else {})


def from_json(row: Mapping[str, Any]) -> Action:
    """The action that a recorded move holds; ValueError for a kind that the bazaar has not."""
    if row["action"] not in ACTIONS:
        raise ValueError(f"an action is one of {', '.join(ACTIONS)}, not {row['action']!r}")
    price = (row["price"],) if row["action"] == "offer" else ()
    return ACTIONS[row["action"]](*price, message=row.get("message", ""))


def in_words(turn: Turn) -> str:
    """The turn's action as a phrase without its agent, price first; or why it is a forfeit."""
    if turn.action is None:
        return f"forfeits: {turn.error}"
    if isinstance(turn.action, Offer):
        verb = "asks" if turn.agent == "seller" else "bids"
        words = f"{verb} {rupees(turn.action.price)}"
    else:
        words = "accepts" if isinstance(turn.action, Accept) else "walks away"
    return f"{words}: “{turn.action.message}”" if turn.action.message else words


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: every move in order, then how it ended and who gained what."""
    task = get_task(played.task)
    lines = [f"# {played.task}, seed {played.seed}: {policy} as {task.learner}", ""]
    for number, turn in enumerate(played.turns, 1):
        lines.append(f"{number}. **{turn.agent}** {in_words(turn)}")
    gains = ", ".join(f"{agent} {rupees(gain)}" for agent, gain in played.payoffs.items())
    return "\n".join([*lines, "", f"Ended by {played.end}. Surplus: {gains}.", ""])


BEHAVIOUR = (  # of one game
    "retreats",  # bids below an earlier one of its own
    "broken",  # bids or acceptances above a price that it called its last
    "over_limit",  # bids or acceptances above its limit: a loss
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
        if market:
            _recall(counts, obs, move)
        if not isinstance(move, Offer | Accept):
            continue
        price = move.price if isinstance(move, Offer) else obs.ask
        counts["broken"] += last is not None and price > last
        counts["over_limit"] += price > obs.budget
        if isinstance(move, Offer):
            counts["retreats"] += highest is not None and percent_of(obs, price) < percent_of(
                obs, highest
            )
            highest = price if highest is None else max(highest, price)
            if LAST.search(move.message):
                last = price
    return counts


def _recall(counts: dict[str, int], obs: Observation, move: Action | None) -> None:
    """Count the game's first position in which to walk is due."""
    if counts["walk_due"]:
        return
    if isinstance(PLANNER(obs, np.random.default_rng(0)), WalkAway):
        counts["walk_due"], counts["walked"] = 1, int(isinstance(move, WalkAway))


PLANNER = Listener(speaks=False)
METRICS = ("share", "grade")
MODEL_COUNTS = (
    "moves",
    "invalid_replies",
    "changed",
    "tokens",
    *BEHAVIOUR,
)  # of a model, per episode
OPEN_MARKET = tuple(f"bazaar/{name}" for name in MARKETS)

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
    """Episodes of a task as columns: one value per deal, `grade` one per episode."""
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
    """One letter of ENDS per deal; deals a forfeit cut off are forfeits too."""
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
