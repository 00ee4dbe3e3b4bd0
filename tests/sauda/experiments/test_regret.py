"""Regret on fixed positions: nothing for the judge's own moves, more for worse ones."""

import numpy as np
import pytest

from env import Accept, Offer, WalkAway, get_task, rollout
from sauda.experiments.gap import JUDGED_TASKS, PLANNER, Judged, Unsteady, judged_positions
from sauda.policies import BUYERS
from sauda.policies.listener import MoveValues
from sauda.records.seeds import SPLITS, is_unseen_game

COUNT = 24


@pytest.fixture(scope="module")
def judged() -> Judged:
    return Judged.of(COUNT)


def test_the_positions_are_the_same_each_time_and_of_training_games_alone(judged):
    assert [s.obs for s in judged_positions(COUNT)] == [s.obs for s in judged.positions]
    assert {s.task for s in judged.positions} == set(JUDGED_TASKS)
    assert len({s.turn for s in judged.positions}) > 2
    for state in judged.positions:
        assert state.seed in SPLITS["train"]
        assert not is_unseen_game(get_task(state.task), state.seed)


def test_the_judge_regrets_nothing_and_errors_of_the_hand_cost(judged):
    def figures(policy):
        rng = np.random.default_rng(0)
        return judged.figures_of([policy(state.obs, rng) for state in judged.positions])

    own = figures(PLANNER)
    assert own["regret"]["mean"] == 0
    assert own["price_error"] in (0, None)
    shaken = [figures(Unsteady(PLANNER, error)) for error in (3.0, 12.0)]
    assert 0 < shaken[0]["regret"]["mean"] < shaken[1]["regret"]["mean"]
    assert shaken[0]["price_error"] < shaken[1]["price_error"]


def test_a_reply_that_is_no_move_counts_as_leaving(judged):
    silent, leaves = ([move] * COUNT for move in (None, WalkAway()))
    assert judged.figures_of(silent) == judged.figures_of(leaves)


def test_the_values_of_moves_are_read_off_between_prices_and_of_equal_ones_an_offer_is_made():
    values = MoveValues(("",), np.array([10.0, 20.0]), np.array([[0.1, 0.3]]), accept=0.3, walk=0.3)
    obs = rollout(get_task("bazaar/open"), BUYERS["linear"], 1).trajectory("buyer")[0].observation
    assert values.of(Offer(15)) == pytest.approx(0.2)
    assert values.regret(Offer(15)) == pytest.approx(0.1)
    assert values.best(obs) == Offer(20)
    assert values.regret(Accept()) == values.regret(WalkAway()) == 0
