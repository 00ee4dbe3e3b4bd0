"""POLICIES: every contestant by name, for the seat it takes."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from env import Policy, Task, aggressive, classic_seller, facing, naive, rule_based, smart
from sauda.policies import arena, bazaar
from sauda.policies.belief import belief_buyer, belief_prices
from sauda.policies.expert import expert
from sauda.policies.lineup import is_model, lab_policy, model_policy
from sauda.policies.planner import planner

BUYERS: Mapping[str, Policy] = MappingProxyType(
    {
        "expert": expert,
        "wait": bazaar.wait,
        "rule_based": rule_based,
        "smart": smart,
        "aggressive": aggressive,
        "naive": naive,
        "boulware": bazaar.boulware,
        "linear": bazaar.linear,
        "conceder": bazaar.conceder,
        "tit_for_tat": bazaar.tit_for_tat,
        "random": bazaar.random,
    }
)

SELLERS: Mapping[str, Policy] = MappingProxyType(
    {
        "boulware": bazaar.boulware,
        "linear": bazaar.linear,
        "conceder": bazaar.conceder,
        "tit_for_tat": bazaar.tit_for_tat,
        "schedule": classic_seller,
        "random": bazaar.random,
    }
)


LABS: Mapping[str, Policy] = MappingProxyType(
    {
        "planner": planner,
        "autarky": arena.autarky,
        "rule_based_expert": arena.rule_based_expert,
        "always_accept": arena.always_accept,
        "greedy_hoarder": arena.greedy_hoarder,
        "naive_plea": arena.naive_plea,
        "random": arena.random,
        "wait": arena.wait,
    }
)
LAB_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "planner": "Our rule expert: plans its jobs exactly, trades by marginal value",
        "autarky": "Books its own best plan and never trades: grade 0 is what a lab earns alone",
        "rule_based_expert": "The published expert: weighs hours, pools, swaps",
        "always_accept": "Takes the first offer, else hoards",
        "greedy_hoarder": "All its blocks to the first job, never a trade",
        "naive_plea": "Pleads, and believes whoever calls urgent",
        "random": "A legal choice at random",
        "wait": "Does nothing",
    }
)
ZERO_GRADE = (
    "A grade of 0 is what a lab earns alone: autarky books its own best plan and never trades."
)
SLOW: Mapping[str, Policy] = MappingProxyType(  # buyers asked for by name
    {"belief": belief_buyer, "belief_prices": belief_prices}
)


def contestants(task: Task) -> Mapping[str, Policy]:
    """The policies that can take the learner's seat of `task`, by name."""
    if task.learner == "lab_0":
        return LABS
    return SELLERS if task.learner == "seller" else BUYERS


def policy(task: Task, name: str) -> Policy:
    """The contestant of that name, or the language model; ValueError naming those there are."""
    if is_model(name):
        return lab_policy(name) if task.learner == "lab_0" else model_policy(name)
    found = contestants(task)
    if task.learner == "buyer" and name in SLOW:
        return SLOW[name]
    if name not in found:
        raise ValueError(
            f"no policy {name!r} for the {task.learner} of {task.name}; "
            f"policies are {', '.join(found)}"
        )
    return found[name]


def against(task: Task, name: str) -> Task:
    """`task` with the other seat as chosen; "" keeps the task's own opponents.

    Where the learner sells, `name` is a buyer; in the open market, a type of seller, or a language
    model's name and its persona as in "mini:firm". Raises ValueError where there is none of that
    name, or nothing to choose.
    """
    if not name:
        return task
    if ":" in name and task.learner != "seller":
        from sauda.seller import model_seller, seated  # which needs the models of this package

        return seated(task, model_seller(name))
    if task.learner != "seller":
        return facing(task, name)
    if name not in BUYERS:
        raise ValueError(f"no buyer {name!r} to sell to; buyers are {', '.join(BUYERS)}")
    return replace(task, opponents={**task.opponents, "buyer": BUYERS[name]})
