"""The reward of a lab: ten named components and their exact sum, in shares of the lab's stake.

The reward shapes the true utility (job value less energy and payments, plus money received) by a
potential, so that a good trade is rewarded when it is made and not only when the job is done (Ng,
Harada and Russell, 1999). The potential is utility + PLAN_WEIGHT x the value of the best plan, and
a step earns its change divided by the stake, which is the full value of all the first jobs. Over an
episode the changes add up to (utility - PLAN_WEIGHT x BATNA) / stake, whatever the lab does in
between, because no plan is left at the end. Only the three penalties come on top.

The reward is a pure function of a state and an action; the state holds none of it.
"""

from collections import namedtuple
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from ..core import Turn, read_rows
from .actions import Action, Malformed
from .env import act, close_if_done
from .planning import own_plan
from .rules import advance_round, apply_shock
from .types import State

PLAN_WEIGHT = 0.5  # weight of the best plan's value in the potential
REFUSED, MALFORMED, SPAM, BREACH = -0.10, -0.15, -0.05, -0.20


class Component(NamedTuple):
    """One part of the reward, and its formula in words."""

    name: str
    formula: str


PENALTIES = {"refused": REFUSED, "malformed": MALFORMED, "spam": SPAM, "breach": BREACH}
COMPONENTS = tuple(
    Component(row["name"], row["formula"].format(**PENALTIES))
    for row in read_rows("arena/reward.csv")
)
TOTAL = Component("normalized_reward", "the sum of the ten components")


# The ten components of a reward and, last, their sum from left to right.
Breakdown = namedtuple(
    "Breakdown", [part.name for part in (*COMPONENTS, TOTAL)], defaults=[0.0] * 11
)


def total(parts: Iterable[Breakdown]) -> Breakdown:
    """The sum of several breakdowns, component by component; zeros for none."""
    columns = zip(*[part[:-1] for part in parts], strict=True)
    return _sum([reduce(add, column, 0.0) for column in columns] or [0.0] * len(COMPONENTS))


def _sum(components: Sequence[float]) -> Breakdown:
    # `sum` of Python 3.12 corrects its rounding, and a game would replay with other last digits.
    return Breakdown(*components, reduce(add, components, 0.0))


def reward(state: State, action: Action | Malformed, lab: str) -> Breakdown:
    """The reward of `lab` for the next lab's `action` in `state`, the close of the round included.

    Raises IllegalAction if the market is over.
    """
    acted = act(state, action)
    before, after = state.private[lab], acted.private[lab]
    scale, own_turn = before.stake, state.market.queue[0] == lab
    code = after.results[0].code if own_turn else ""
    potential, after_action = plan_potential(state, lab), plan_potential(acted, lab)
    by_time = by_shock = 0.0
    if not acted.market.queue:
        later = advance_round(acted)
        after_time = plan_potential(later, lab)
        after_shock = plan_potential(apply_shock(later), lab)
        by_time, by_shock = after_time - after_action, after_shock - after_time
    by_action = after_action - potential
    booked, left = code == "job_allocated", code == "finished"
    traded = _has_traded(state, acted, lab)
    refused = own_turn and not after.results[0].ok
    malformed = code == "malformed_action"
    repeated = own_turn and not malformed and _is_repeated(after.recent)
    return _sum(
        [  # in the order of COMPONENTS
            (after.job_value - before.job_value) / scale + by_action / scale * booked,
            (after.deals - before.deals) / scale + by_action / scale * traded,
            (after.pool - before.pool) / scale
            + by_action / scale * (not (booked or left or traded)),
            0.0,
            -((after.energy - before.energy) / scale),
            (by_time + by_action * left) / scale,
            by_shock / scale,
            (MALFORMED if malformed else REFUSED) if refused else 0.0,
            SPAM if repeated else 0.0,
            BREACH * (after.breaches - before.breaches),
        ]
    )


def plan_potential(state: State, lab: str) -> float:
    """PLAN_WEIGHT x the value of the lab's best plan; 0 once it has left or the market is over."""
    market = state.market
    if market.round_index >= market.max_rounds or market.labs[lab].finished:
        return 0.0
    return PLAN_WEIGHT * own_plan(state.seen_by(lab)).gain


def _has_traded(before: State, after: State, lab: str) -> bool:
    new = after.market.closed.keys() - before.market.closed.keys()
    closed = (after.market.closed[offer_id] for offer_id in new)
    return any(o.status == "accepted" and lab in (o.from_lab_id, o.to_lab_id) for o in closed)


def _is_repeated(recent: tuple[Action, ...]) -> bool:
    idle = recent[-1].action_type in ("wait", "finish")
    return len(recent) == 3 and not idle and recent[0] == recent[1] == recent[2]


def episode_rewards(start: State, turns: Sequence[Turn], lab: str) -> tuple[Breakdown, ...]:
    """One reward for each turn of `lab`: the sum over all actions until its next turn or the end.

    `turns` are those of all labs in the game from `start`. Raises IllegalAction if they do not fit.
    """
    steps: list[list[Breakdown]] = []
    state = start
    for turn in turns:
        if turn.action is None:
            break
        if turn.agent == lab:
            steps.append([])
        if steps:
            steps[-1].append(reward(state, turn.action, lab))
        state = close_if_done(act(state, turn.action))
    return tuple(total(step) for step in steps)
