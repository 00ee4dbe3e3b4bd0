"""Contestants that need no network, by name: `BUYERS`, `SELLERS`, `LABS`.

`bazaar_scripted.py`, `expert.py` and `reference_buyers.py` hold buyers and sellers, `vectorized.py`
the buyers over arrays, `arena_scripted.py` and `planner.py` labs, `arena_bound.py` an upper bound
on a lab's utility. `best_response/` solves a game against a known seller, `belief/` plays against
an unknown one.
"""

from collections.abc import Mapping
from types import MappingProxyType

from env import Policy, aggressive, classic_seller, naive, rule_based, smart
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
        "planner": "The planner: plans its jobs exactly, trades by marginal value",
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
SLOW: Mapping[str, Policy] = MappingProxyType(  # buyers that only an explicit name selects
    {"belief": belief_buyer, "belief_prices": belief_prices}
)
