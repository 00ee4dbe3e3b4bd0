"""Where players of the open market lose against the optimum: uncertainty, inference, control.

One planner splits the gap between a player and the informed oracle, as TERMS-Bench does. What the
planner loses to the oracle is uncertainty: it does not know the seller, and a better planner might
lose less. What it loses when it learns no more than the player does is inference, and what the
player loses to it then is control. A player without a belief counts as one that learns nothing
after the opening ask, so that its inference and control are split by convention. Games are also
graded by how hard they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import env
from sauda.experiments.base import experiment
from sauda.played import grades, play_cells, round_all
from sauda.players import LEAVE, TUNED, get_policy, is_model
from sauda.policies import BUYERS
from sauda.policies.listener import Informed, Listener
from sauda.policies.values import BINS, GAP, LIMITED, NOTHING, PRICES, bin_of, width
from sauda.records.seeds import deal_at, first_seeds
from sauda.statistics import difference_of, mean_of

TASK = "bazaar/open-3"


def learns_from(name: str) -> str:
    """Who plans with what a player learns from: a key of LIMITED, or the planner that reads."""
    player = get_policy(env.get_task(TASK), name)
    if not isinstance(player, Listener):
        return NOTHING
    return "listener" if player.reads else PRICES


def measure(name: str, seeds: Sequence[int]) -> list[float]:
    """The grades of a player, or of a key of LIMITED, one per seed."""
    player = LIMITED.get(name) or get_policy(env.get_task(TASK), name)
    return round_all(grades(TASK, player, seeds))


def describe_bin(name: str, deals: Sequence[env.Instance], informed: np.ndarray) -> dict[str, Any]:
    """What kind of games a bin holds, and what an informed buyer expects of them."""
    sellers = [deal.seller["stance"] for deal in deals]
    widths = np.array([width(deal) for deal in deals])
    shares = {
        "no_zopa": np.mean(widths <= 0),
        "width": widths[widths > 0].mean() if (widths > 0).any() else 0.0,
        "bluffers": np.mean([seller.type == "bluffer" for seller in sellers]),
        "rivals": np.mean([seller.rival for seller in sellers]),
        "pressed": np.mean([seller.pressed for seller in sellers]),
    }
    shares = {key: round(float(value), 6) for key, value in shares.items()}
    return {"name": name, "n": len(deals), "oracle": mean_of(informed), **shares}


def summarize(
    won: Mapping[str, Sequence[float]], players: Sequence[str], seeds: Sequence[int]
) -> dict[str, Any]:
    """The result of the grades of all players, of LIMITED and of the planner."""
    grades = {name: np.array(values) for name, values in won.items()}
    deals = [deal_at(env.get_task(TASK), seed) for seed in seeds]
    informed, silent = (
        np.array([Informed.of(deal, speaks).expected for deal in deals]) for speaks in (True, False)
    )
    edges = round_all(np.quantile(informed, 1 - np.arange(1, len(BINS)) / len(BINS)))
    bins = np.array([bin_of(grade, edges) for grade in informed])
    planner, rows = grades["listener"], []
    for name in players:
        earned, adopted = grades[name], grades[learns_from(name)]
        rows.append({
            "player": name,
            "grade": mean_of(earned),
            "adopted": mean_of(adopted),  # of the planner that learns no more
            "inference": difference_of(planner, adopted),
            "control": difference_of(adopted, earned),
            "bins": [mean_of(earned[bins == place]) for place in range(1, len(BINS) + 1)],
        })  # fmt: skip
    return {
        "task": TASK,
        "n": len(seeds),
        "oracle": mean_of(informed),
        "silent": mean_of(silent),
        "planner": mean_of(planner),
        "uncertainty": difference_of(informed, planner),
        "edges": edges,
        "bins": [
            describe_bin(
                name, [deals[i] for i in np.flatnonzero(bins == place)], informed[bins == place]
            )
            for place, name in enumerate(BINS, 1)
        ],
        "rows": rows,
    }


@experiment(GAP)
def gap(
    players: tuple[str, ...] = (*BUYERS, LEAVE, TUNED, "bayesian", "speaker", "reader", "listener"),
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per player, a script or a planner.

    Raises ValueError for an unknown one.
    """
    seeds = first_seeds(episodes)
    for name in players:
        if is_model(name):
            raise ValueError(f"{name}: what a language model learns is not known")
        get_policy(env.get_task(TASK), name)
    # The planner splits every gap, so it plays along.
    cells = dict.fromkeys((*LIMITED, "listener", *players), seeds)
    return summarize(play_cells(measure, cells, workers), players, seeds)
