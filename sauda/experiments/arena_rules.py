"""What words, coalitions, reputation and shocks are worth in the arena, and how much trading wins.

The broker plays the same hold-out worlds with each rule switched off. Without words it says nothing
that moves a lab; without coalitions none can be formed; without reputation the other labs take
every lab for one of fair reputation. Of shocks, foresight is what can pay: "shocks" compares with
the broker that does not see their announcement, in the same worlds with the same shocks, and
"no_shocks" with worlds that none strikes, which are kinder. "standing" is no rule but a loss: the
broker starts with a poor reputation.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from env import ARENA_TASKS, Policy, Task, arena, begin, rollout
from env.arena.broker import broker
from sauda.experiments.base import experiment
from sauda.played import grades
from sauda.policies import LABS
from sauda.policies.arena import gains_from_trade, play_all_seeing
from sauda.records.seeds import first_seeds
from sauda.statistics import difference_of, mean_of, name_interval, share_of_gap

FAIR, POOR = 0.65, 0.35  # reputations
POLICIES = ("autarky", "rule_based_expert", "broker")


@experiment("arena_rules.json")
def arena_rules(worlds: int = 200, trader_worlds: int = 60) -> dict[str, Any]:
    """The data of the artifact; the slow trader that sees all plays the first `trader_worlds`."""
    yardsticks, ablations = [], []
    for task in ARENA_TASKS.values():
        seeds = first_seeds(worlds)
        gains = np.array([gains_from_trade(begin(task, seed).state).utility for seed in seeds])
        for name in POLICIES:
            ends = [rollout(task, LABS[name], seed).final for seed in seeds]
            yardsticks.append(_yardstick(task, name, ends, gains))
        ends = [play_all_seeing(task, seed).final for seed in seeds[:trader_worlds]]
        yardsticks.append(_yardstick(task, "all_seeing", ends, gains[:trader_worlds]))
        base = grades(task, broker, seeds)
        for rule, (changed, policy) in variants(task).items():
            without = grades(changed, policy, seeds)
            ablations.append(
                {
                    "task": task.name,
                    "rule": rule,
                    "n": len(seeds),  # hold-out worlds
                    "without": round(float(without.mean()), 6),
                    "worth": difference_of(base, without),
                }
            )
    return {"yardsticks": yardsticks, "ablations": ablations}


def variants(task: Task) -> dict[str, tuple[Task, Policy]]:
    """The task and the broker with each rule switched off, where the task has it."""
    size = task.env.size
    off = {
        "words": (task, replace(broker, speaks=False)),
        "reputation": (
            replace(task, opponents=dict.fromkeys(task.opponents, ignore_reputation)),
            broker,
        ),
        "standing": (replace(task, env=PoorStanding(task.env.name, size)), broker),
    }
    if size.coalitions:
        off["coalitions"] = (_sized(task, coalitions=False), broker)
    if size.shocks:
        off["shocks"] = (task, ignore_warning)
        off["no_shocks"] = (_sized(task, shocks=()), broker)
    return off


def ignore_reputation(obs: arena.Observation, rng: np.random.Generator) -> arena.Action:
    """A scripted lab that takes every lab for one of fair reputation."""
    labs = {name: lab._replace(reputation=FAIR) for name, lab in obs.market.labs.items()}
    return arena.scripted_lab(obs._replace(market=obs.market._replace(labs=labs)), rng)


def ignore_warning(obs: arena.Observation, rng: np.random.Generator) -> arena.Action:
    """The broker that does not see which shock is announced."""
    return broker(obs._replace(market=obs.market._replace(announced="")), rng)


class PoorStanding(arena.GpuBudgetNegotiationEnv):
    """The market with a learner that starts with a poor reputation."""

    def reset(self, rng: np.random.Generator) -> arena.State:
        state = super().reset(rng)
        labs = dict(state.market.labs)
        labs["lab_0"] = labs["lab_0"]._replace(reputation=POOR)
        return replace(state, market=state.market._replace(labs=labs))


def _sized(task: Task, **changes: Any) -> Task:
    return replace(task, env=replace(task.env, size=replace(task.env.size, **changes)))


def _yardstick(task: Task, player: str, ends: list, gains: np.ndarray) -> dict[str, Any]:
    owns = [end.private[task.learner] for end in ends]
    surplus = np.array([lab.utility - lab.batna for lab in owns])
    return {
        "task": task.name,
        "player": player,
        "n": len(ends),
        "grade": mean_of(np.array([task.grade(end) for end in ends])),
        # Surplus over the BATNA, of what all labs together could gain.
        "share": name_interval(share_of_gap(surplus, np.zeros(len(gains)), gains)),
    }
