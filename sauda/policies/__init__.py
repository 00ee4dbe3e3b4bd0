"""POLICIES: every contestant by name, for the seat it takes."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from env import Policy, Task, aggressive, classic_seller, naive, rule_based, smart, with_seller_type
from sauda.llm.registry import is_model, lab_policy, model_policy
from sauda.policies import arena_scripted, bazaar_scripted
from sauda.policies.belief.buyer import belief_buyer, belief_prices
from sauda.policies.expert import expert
from sauda.policies.planner import planner

BUYERS: Mapping[str, Policy] = MappingProxyType(
    {
        "expert": expert,
        "wait": bazaar_scripted.wait,
        "rule_based": rule_based,
        "smart": smart,
        "aggressive": aggressive,
        "naive": naive,
        "boulware": bazaar_scripted.boulware,
        "linear": bazaar_scripted.linear,
        "conceder": bazaar_scripted.conceder,
        "tit_for_tat": bazaar_scripted.tit_for_tat,
        "random": bazaar_scripted.random,
    }
)

SELLERS: Mapping[str, Policy] = MappingProxyType(
    {
        "boulware": bazaar_scripted.boulware,
        "linear": bazaar_scripted.linear,
        "conceder": bazaar_scripted.conceder,
        "tit_for_tat": bazaar_scripted.tit_for_tat,
        "schedule": classic_seller,
        "random": bazaar_scripted.random,
    }
)


LABS: Mapping[str, Policy] = MappingProxyType(
    {
        "planner": planner,
        "autarky": arena_scripted.autarky,
        "rule_based_expert": arena_scripted.rule_based_expert,
        "always_accept": arena_scripted.always_accept,
        "greedy_hoarder": arena_scripted.greedy_hoarder,
        "naive_plea": arena_scripted.naive_plea,
        "random": arena_scripted.random,
        "wait": arena_scripted.wait,
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
        from sauda.llm.seller.policy import (  # which needs the models of this package
            model_seller,
            seated,
        )

        return seated(task, model_seller(name))
    if task.learner != "seller":
        return with_seller_type(task, name)
    if name not in BUYERS:
        raise ValueError(f"no buyer {name!r} to sell to; buyers are {', '.join(BUYERS)}")
    return replace(task, opponents={**task.opponents, "buyer": BUYERS[name]})
