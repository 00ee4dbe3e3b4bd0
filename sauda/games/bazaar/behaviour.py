"""Behaviour metrics of a buyer: it keeps its word and its limit, and leaves when that is best."""

import re
from collections.abc import Sequence

import numpy as np

from env import Accept, Observation, Offer, WalkAway
from sauda.games.bazaar.prompt import Action, shown
from sauda.games.messages import ModelTurn
from sauda.policies.belief.buyer import belief_buyer

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

    To walk is due where the belief buyer would: the best play we know that uses nothing hidden. It
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
            counts["retreats"] += highest is not None and shown(obs, price) < shown(obs, highest)
            highest = price if highest is None else max(highest, price)
            if LAST.search(move.message):
                last = price
    return counts


def _recall(counts: dict[str, int], obs: Observation, move: Action | None) -> None:
    """Count the game's first position in which to walk is due."""
    if counts["walk_due"]:
        return
    if isinstance(belief_buyer(obs, np.random.default_rng(0)), WalkAway):
        counts["walk_due"], counts["walked"] = 1, int(isinstance(move, WalkAway))
