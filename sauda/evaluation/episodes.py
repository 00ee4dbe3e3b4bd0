"""Whole episodes, kept to be read, stepped through and played again."""

from collections.abc import Mapping
from typing import Any

from env import BAZAAR_TASKS, get_task, rollout
from sauda.games.transcript import from_json, to_json
from sauda.llm.registry import get_policy

# Four policies that differ plainly, at one hold-out seed: not the best of many.
SEED = 50_000
POLICIES = ("expert", "rule_based", "naive", "aggressive")
SELLERS = ("boulware", "linear", "tit_for_tat", "random")


def showcase() -> dict[str, Any]:
    """The data of the showcase artifact: each task at SEED under four policies."""
    return {
        "episodes": [
            to_json(rollout(task, get_policy(task, name), SEED), name)
            for task in BAZAAR_TASKS.values()
            for name in (SELLERS if task.learner == "seller" else POLICIES)
        ]
    }


def replayed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded episode as its policy plays it today; its recorded moves must be legal too."""
    from_json(row)
    task = get_task(row["task"])
    return to_json(rollout(task, get_policy(task, row["policy"]), row["seed"]), row["policy"])
