"""The reward of a lab: ten named components and their exact sum.

The reward follows the true utility (job value less energy and payments, plus money received). So
that a good trade pays when it is made, and not only when the job is done, half of what a lab's best
plan promises counts at once: the potential is utility + PROMISE x plan, and a step is rewarded by
its change over the stake (what all the first jobs are worth in full). Over an episode these changes
add up to (utility - PROMISE x BATNA) / stake, whatever the lab does in between, since no plan is
left at the end (Ng, Harada and Russell, 1999). Only the three penalties come on top.

A reward is no part of the state: it is a pure function of a state and an action.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from env.arena.actions import Action, Malformed
from env.arena.env import act, close
from env.arena.planning import own_plan
from env.arena.rules.round_end import passed, struck
from env.arena.types import Observation, State
from env.core import Turn

PROMISE = 0.5  # how much of a plan counts before it is carried out
REFUSED, MALFORMED, SPAM, BREACH = -0.10, -0.15, -0.05, -0.20


class Change(NamedTuple):
    """What one action of anybody, and the close of the round where it follows, did to one lab."""

    code: str = ""  # of the lab's own action; "" where another lab acted
    job_value: float = 0.0  # all as shares of the stake
    energy: float = 0.0
    deals: float = 0.0
    pool: float = 0.0
    plan_by_job: float = 0.0  # PROMISE x change of the plan, by its cause
    plan_by_deal: float = 0.0
    plan_by_pool: float = 0.0
    plan_by_time: float = 0.0
    plan_by_shock: float = 0.0
    breaches: int = 0
    refused: bool = False
    repeated: bool = False  # the third equal action in a row, waiting left aside
    judged: float = 0.0  # the bonus of a judge, where one sits


class Component(NamedTuple):
    """One part of the reward: what it is in words, and the function that the words describe."""

    name: str
    formula: str
    of: Callable[[Change], float]


def job_utility(c: Change) -> float:
    return c.job_value + c.plan_by_job


def deal_quality(c: Change) -> float:
    return c.deals + c.plan_by_deal


def coalition_reliability(c: Change) -> float:
    return c.pool + c.plan_by_pool


def judge_argument(c: Change) -> float:
    return c.judged


def budget_efficiency(c: Change) -> float:
    return -c.energy


def negotiation_efficiency(c: Change) -> float:
    return c.plan_by_time


def market_adaptation(c: Change) -> float:
    return c.plan_by_shock


def invalid_action(c: Change) -> float:
    if not c.refused:
        return 0.0
    return MALFORMED if c.code == "malformed_action" else REFUSED


def spam(c: Change) -> float:
    return SPAM if c.repeated else 0.0


def breach(c: Change) -> float:
    return BREACH * c.breaches


COMPONENTS = (
    Component(
        "job_utility_score",
        "(value that jobs earned + half the change of the plan by booking) / stake",
        job_utility,
    ),
    Component(
        "deal_quality_score",
        "(credits received less paid in trades + half the change of the plan by trades) / stake",
        deal_quality,
    ),
    Component(
        "coalition_reliability_score",
        "(credits received less paid in pools + half the change of the plan by pools) / stake",
        coalition_reliability,
    ),
    Component(
        "judge_argument_score", "the judge's bonus for a pitch; 0 where none sits", judge_argument
    ),
    Component("budget_efficiency_score", "- credits paid for energy / stake", budget_efficiency),
    Component(
        "negotiation_efficiency_score",
        "half the change of the plan by time that passed, or by leaving / stake",
        negotiation_efficiency,
    ),
    Component(
        "market_adaptation_score",
        "half the change of the plan by a shock / stake",
        market_adaptation,
    ),
    Component(
        "invalid_action_penalty",
        f"{REFUSED:.2f} for an action the rules refuse, {MALFORMED:.2f} for a malformed one",
        invalid_action,
    ),
    Component(
        "spam_penalty",
        f"{SPAM:.2f} for the same action three times in a row, waiting left aside",
        spam,
    ),
    Component(
        "breach_penalty",
        f"{BREACH:.2f} for each coalition that the lab breaks, once",
        breach,
    ),
)
TOTAL = Component("normalized_reward", "the sum of the ten components", sum)


class Breakdown(NamedTuple):
    """The eleven fields of a reward; the last is the sum of the others, to the last bit."""

    job_utility_score: float = 0.0
    deal_quality_score: float = 0.0
    coalition_reliability_score: float = 0.0
    judge_argument_score: float = 0.0
    budget_efficiency_score: float = 0.0
    negotiation_efficiency_score: float = 0.0
    market_adaptation_score: float = 0.0
    invalid_action_penalty: float = 0.0
    spam_penalty: float = 0.0
    breach_penalty: float = 0.0
    normalized_reward: float = 0.0


def breakdown(change: Change) -> Breakdown:
    """The components of one change."""
    return _summed([component.of(change) for component in COMPONENTS])


def total(parts: Iterable[Breakdown]) -> Breakdown:
    """Several breakdowns as one, component by component."""
    columns = zip(*[part[:-1] for part in parts], strict=True)
    return _summed([sum(column) for column in columns] or [0.0] * len(COMPONENTS))


def _summed(components: Sequence[float]) -> Breakdown:
    return Breakdown(*components, sum(components))


def reward(state: State, action: Action | Malformed, lab: str, judged: float = 0.0) -> Breakdown:
    """What the next lab's `action` in `state` is worth to `lab`, the close of the round included.

    `judged` is a bonus that a judge gives on top.
    """
    return breakdown(observed_change(state, action, lab)._replace(judged=judged))


def observed_change(state: State, action: Action | Malformed, lab: str) -> Change:
    """What the next lab's `action` in `state` does to `lab`."""
    acted = act(state, action)
    before, after = state.private[lab], acted.private[lab]
    scale, own_turn = before.stake, state.market.queue[0] == lab
    code = after.results[0].code if own_turn else ""
    promised, now_promised = promise(state, lab), promise(acted, lab)
    by_time = by_shock = 0.0
    if not acted.market.queue:
        later = passed(acted)
        then_promised, at_last = promise(later, lab), promise(struck(later), lab)
        by_time, by_shock = then_promised - now_promised, at_last - then_promised
    by_action = now_promised - promised
    booked, left = code == "job_allocated", code == "finished"
    traded = _traded(state, acted, lab)
    return Change(
        code,
        (after.job_value - before.job_value) / scale,
        (after.energy - before.energy) / scale,
        (after.deals - before.deals) / scale,
        (after.pool - before.pool) / scale,
        by_action / scale * booked,
        by_action / scale * traded,
        by_action / scale * (not (booked or left or traded)),
        (by_time + by_action * left) / scale,
        by_shock / scale,
        after.breaches - before.breaches,
        own_turn and not after.results[0].ok,
        own_turn and code != "malformed_action" and _is_repeated(after.recent),
    )


def promise(state: State, lab: str) -> float:
    """PROMISE x what the lab's best plan is still worth; 0 once it has left or all is over."""
    market = state.market
    if market.round_index >= market.max_rounds or market.labs[lab].finished:
        return 0.0
    return PROMISE * own_plan(Observation(lab, market, state.private[lab])).gain


def _traded(before: State, after: State, lab: str) -> bool:
    """Whether an offer from or to `lab` was settled."""
    new = after.market.closed.keys() - before.market.closed.keys()
    closed = (after.market.closed[offer_id] for offer_id in new)
    return any(o.status == "accepted" and lab in (o.from_lab_id, o.to_lab_id) for o in closed)


def _is_repeated(recent: tuple[Action, ...]) -> bool:
    idle = recent[-1].action_type in ("wait", "finish")
    return len(recent) == 3 and not idle and recent[0] == recent[1] == recent[2]


def episode_rewards(start: State, turns: Sequence[Turn], lab: str) -> tuple[Breakdown, ...]:
    """The reward of each turn of `lab`, up to its next turn or the end, in the game from `start`.

    Raises IllegalAction where the turns are not of that game.
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
        acted = act(state, turn.action)
        state = acted if acted.market.queue else close(acted)
    return tuple(total(step) for step in steps)
