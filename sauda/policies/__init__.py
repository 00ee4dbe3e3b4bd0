"""Contestants that need no network, by name: `BUYERS`, `SELLERS`, `LABS`.

`bazaar.py` holds buyers and sellers and scripts that speak, `tuned.py` the best script of each
family. `listener.py` plans against an unknown seller of the open market, and solves the game
against a known one; `packages.py` bids for extras too. `arena.py` holds labs, all gains from trade
and the trader that sees all; the broker stands in `env/arena/broker.py`, as the prompt needs it.
"""

from collections.abc import Mapping
from pathlib import Path

from env import Policy, aggressive, classic_seller, naive, rule_based, smart
from env.arena.broker import broker
from sauda.policies import arena, bazaar
from sauda.policies.customers import Vendor
from sauda.policies.listener import Listener
from sauda.policies.packages import Packager
from sauda.policies.people import Planner
from sauda.records import read_table

BUYERS: Mapping[str, Policy] = {
    "expert": bazaar.expert,
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

SELLERS: Mapping[str, Policy] = {
    "boulware": bazaar.boulware,
    "linear": bazaar.linear,
    "conceder": bazaar.conceder,
    "tit_for_tat": bazaar.tit_for_tat,
    "schedule": classic_seller,
    "random": bazaar.random,
}


LABS: Mapping[str, Policy] = {
    "broker": broker,
    "autarky": arena.autarky,
    "rule_based_expert": arena.rule_based_expert,
    "always_accept": arena.always_accept,
    "greedy_hoarder": arena.greedy_hoarder,
    "naive_plea": arena.naive_plea,
    "random": arena.random,
    "wait": arena.wait,
}
LAB_LABELS = {row["lab"]: row["label"] for row in read_table(Path(__file__).with_name("labs.csv"))}
ZERO_GRADE = (
    "A grade of 0 is what a lab earns alone: autarky books its own best plan and never trades."
)


def planners(kind: type) -> dict[str, Policy]:
    """A planner with its ears and its mouth open or shut; only an explicit name selects one."""
    return {
        "listener": kind(),
        "reader": kind(speaks=False),
        "speaker": kind(reads=False),
        "bayesian": kind(reads=False, speaks=False),
    }


SLOW: Mapping[str, Policy] = planners(Listener)
SLOW_PEOPLE: Mapping[str, Policy] = planners(Planner)  # of `bazaar/people`, whose sellers it knows
SLOW_CUSTOMERS: Mapping[str, Policy] = planners(Vendor)  # of `bazaar/customers`, who sells
SLOW_PACKAGES: Mapping[str, Policy] = {  # where a bid may hold extras; the last bids prices alone
    **planners(Packager),
    "bare": Packager(reads=False, speaks=False, packs=False),
}
