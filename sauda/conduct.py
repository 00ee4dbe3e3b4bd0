"""How a buyer keeps to its own words, and whether it takes or leaves a deal where that is best."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from env import Accept, IllegalAction, Observation, Offer, WalkAway
from sauda.instep import Asked
from sauda.policies.belief import belief_buyer
from sauda.policies.llm import shown

CONDUCT = (  # counts of one game
    "retreats",  # bids below an earlier one of its own
    "broken",  # bids or acceptances above a price that it called its last
    "over_limit",  # bids or acceptances above its limit: a loss
    "accept_due",  # positions in which the belief buyer takes the ask ...
    "accepted",  # ... and this one does too
    "walk_due",
    "walked",
)
LAST = re.compile(
    r"\b(last|final|at most|no more|cannot (go|pass)|must go|all i have|aakhri|akhri|warna)\b",
    re.IGNORECASE,
)


def conduct(asked: Sequence[Asked], market: bool) -> dict[str, int]:
    """The CONDUCT of one deal's moves, as the model proposed them.

    What is due is what the belief buyer would do: the best play we know that uses nothing hidden.
    It knows the open `market`'s sellers; elsewhere nothing is due.
    """
    counts = dict.fromkeys(CONDUCT, 0)
    highest = last = None
    for turn in asked:
        move, obs = turn.proposal, turn.obs
        if market:
            due = _due(obs)
            for kind, name, done in (
                (Accept, "accept_due", "accepted"),
                (WalkAway, "walk_due", "walked"),
            ):
                counts[name] += isinstance(due, kind)
                counts[done] += isinstance(due, kind) and isinstance(move, kind)
        if isinstance(move, IllegalAction | WalkAway):
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


def _due(obs: Observation) -> Offer | Accept | WalkAway:
    """The belief buyer's move; an offer within a percent of an ask that is no loss takes it."""
    move = belief_buyer(obs, np.random.default_rng(0))
    near = isinstance(move, Offer) and shown(obs, move.price) >= shown(obs, obs.ask) - 1
    return Accept() if near and obs.ask <= obs.budget else move


def recall(counts: Mapping[str, int], kind: str) -> float | None:
    """The share of positions in which accept or walk is due, and is done; None without any."""
    done = {"accept": "accepted", "walk": "walked"}[kind]
    due = counts[f"{kind}_due"]
    return counts[done] / due if due else None
