"""The range of a step's reward that `openenv.yaml` declares, derived from the games and tried."""

import math
from typing import Any

import numpy as np
import pytest
import yaml

from env import ARENA_TASKS, BAZAAR_TASKS, Task
from env.arena.reward import BREACH, MALFORMED, PLAN_WEIGHT, REFUSED, SPAM
from sauda.records.store import ROOT
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.environment import SaudaEnvironment

MANIFEST = yaml.safe_load((ROOT.parent / "openenv.yaml").read_text(encoding="utf-8"))
DECLARED = MANIFEST["validation"]["reward"]["range"]


class Constant:
    """A generator of which every draw is the same, so that each part of a world is extreme."""

    def __init__(self, draw: float) -> None:
        self.draw = draw

    def random(self, shape: Any) -> np.ndarray:
        return np.full(shape, self.draw)


def bounds(task: Task) -> tuple[float, float]:
    """The least and the greatest reward that any step of an arena task can have.

    A step earns the change of utility + PLAN_WEIGHT x the plan's value, over the stake. Credits
    move between labs and are spent on energy, so a lab loses at most all credits of the market, and
    gains at most those that the other labs began with. Jobs and plan gain or lose at most what all
    of the lab's jobs are worth: the stake, and the job of a surge.
    """
    poor, rich = (task.env.reset(Constant(draw)) for draw in (0.0, math.nextafter(1.0, 0.0)))
    stake = poor.private["lab_0"].stake
    own, *others = [lab.started for lab in map(rich.private.get, task.env.agents) if lab]
    surge = rich.private["nature"].surge.get("lab_0")
    jobs = stake + (surge.full_value if surge else 0.0)
    partners = len(others) if task.env.size.coalitions else 0
    penalties = min(REFUSED + SPAM, MALFORMED) + BREACH * partners
    lost = own + sum(others) + PLAN_WEIGHT * jobs
    return penalties - lost / stake, (sum(others) + jobs) / stake


def test_the_declared_range_is_that_of_the_rules_in_whole_numbers():
    arena = [bounds(task) for task in ARENA_TASKS.values()]
    low, high = min(low for low, _ in arena), max(high for _, high in arena)
    assert (low, high) == (pytest.approx(-9.569, abs=1e-3), pytest.approx(8.572, abs=1e-3))
    assert [math.floor(min(low, -1.0)), math.ceil(max(high, 1.0))] == DECLARED


def rewards(task: str, seed: int, *moves: dict[str, Any]) -> list[float]:
    """The reward of each of these moves, from the first one on."""
    served = SaudaEnvironment()
    served.reset(task=task, seed=seed)
    return [served.step(SaudaAction(**move)).reward for move in moves]


def view(task: str, seed: int) -> dict[str, Any]:
    """What the lab sees before its first move."""
    return SaudaEnvironment().reset(task=task, seed=seed).arena


def gift(task: str, seed: int) -> dict[str, Any]:
    """An offer of all the lab's credits for nothing."""
    budget = view(task, seed)["own"]["budget"]
    return {"action_type": "send_offer", "target_lab_id": "lab_1", "payment": budget}


def sale(task: str, seed: int) -> dict[str, Any]:
    """An offer of all the lab's blocks for 60 credits."""
    blocks = view(task, seed)["blocks"]
    own = [block["block_id"] for block in blocks if block["owner_lab_id"] == "lab_0"]
    terms = {"block_ids": own, "conditions": {"ask": 60}}
    return {"action_type": "send_offer", "target_lab_id": "lab_1", **terms}


@pytest.mark.parametrize("task", ARENA_TASKS)
def test_gifts_sales_and_refused_actions_stay_within_the_bounds_of_their_task(task):
    low, high = bounds(ARENA_TASKS[task])
    for seed in range(90, 110):
        nothing = {"action_type": "reserve_capacity"}
        for moves in ([gift(task, seed)], [sale(task, seed)], [nothing] * 4):
            assert all(low <= reward <= high for reward in rewards(task, seed, *moves))


def test_a_lab_can_lose_more_than_four_stakes_by_a_gift_and_gain_more_than_one_by_a_sale():
    task = "arena/single_trade"
    assert rewards(task, 96, gift(task, 96)) == [pytest.approx(-4.03, abs=0.01)]
    assert rewards(task, 95, sale(task, 95)) == [pytest.approx(1.75, abs=0.01)]


@pytest.mark.parametrize("task", BAZAAR_TASKS)
def test_the_bazaar_pays_a_grade_between_minus_one_and_one(task):
    played = SaudaEnvironment()
    for seed in range(8):
        seen = played.reset(task=task, seed=seed)
        while not seen.done:
            own, selling = seen.bazaar["own"], seen.seat == "seller"
            price = int(own["reservation"]) + 1 if selling else own["purse"] or own["reservation"]
            asked = seen.bazaar["bids" if selling else "asks"]
            move = "accept" if asked and seed % 2 else "offer"
            price = {} if move == "accept" else {"price": int(price)}
            seen = played.step(SaudaAction(action_type=move, **price))
        assert -1.0 <= seen.reward <= 1.0
