"""Regret on fixed positions: nothing for the judge's own moves, more for worse ones."""

import numpy as np
import pytest
from sauda.policies.belief import belief_buyer
from sauda.policies.best_response import MoveValues
from sauda.policies.pilot import load_pilot, pilot_values
from sauda.policies.unsteady import Unsteady

from env import Accept, IllegalAction, Offer, WalkAway, get_task, rollout
from sauda.experiments.regret import Judged, Positions, by_belief, by_pilot, states, task_of
from sauda.records.seeds import SPLITS, UNSEEN_SELLER, is_unseen_game

SMALL = Positions(states=24)


@pytest.fixture(scope="module")
def judged() -> Judged:
    return Judged.of(SMALL, by_belief)


def test_the_positions_are_the_same_each_time_and_of_training_games_alone(judged):
    assert [s.obs for s in states(SMALL)] == [s.obs for s in judged.states]
    assert {s.task for s in judged.states} == set(SMALL.tasks)
    assert len({s.turn for s in judged.states}) > 2
    for state in judged.states:
        assert state.seed in SPLITS["train"]
        assert not is_unseen_game(task_of(state.task), state.seed, UNSEEN_SELLER)


def test_the_judge_regrets_nothing_and_errors_of_the_hand_cost(judged):
    own = judged.figures(belief_buyer)
    assert own["regret"]["mean"] == 0
    assert own["price_error"] in (0, None)
    shaken = [judged.figures(Unsteady(belief_buyer, error)) for error in (3.0, 12.0)]
    assert 0 < shaken[0]["regret"]["mean"] < shaken[1]["regret"]["mean"]
    assert shaken[0]["price_error"] < shaken[1]["price_error"]


def test_the_parts_of_a_regret_add_up(judged):
    for policy in ("linear", "conceder"):
        row = judged.figures(policy)
        assert sum(row["parts"].values()) == pytest.approx(row["regret"]["mean"], abs=1e-5)
        assert row["n"] == SMALL.states


def test_a_reply_that_is_no_move_counts_as_leaving(judged):
    def mute(obs, rng):
        raise IllegalAction("it holds no move")

    silent, leaves = judged.figures(mute), judged.figures(lambda obs, rng: WalkAway())
    assert silent["regret"] == leaves["regret"]
    assert (silent["no_move"], leaves["no_move"]) == (SMALL.states, 0)


def test_too_few_seeds_are_refused():
    with pytest.raises(ValueError, match="too few training seeds"):
        states(Positions(states=10, first_seed=49_999))


def test_the_values_of_moves_are_read_off_between_prices_and_ties_prefer_leaving():
    values = MoveValues(np.array([10.0, 20.0]), np.array([0.1, 0.3]), accept=0.3, walk=0.3)
    obs = rollout(get_task("bazaar/open"), load_pilot(), 1).trajectory("buyer")[0].observation
    assert values.of(Offer(15)) == pytest.approx(0.2)
    assert values.regret(Offer(15)) == pytest.approx(0.1)
    assert values.best(obs) == WalkAway()
    assert values.regret(Accept()) == 0


@pytest.mark.nightly
def test_the_pilots_values_are_what_it_wins():
    """The value of its own first move, over many games, is the mean grade of those games."""
    pilot, task = load_pilot(), get_task("bazaar/open")
    worth, won = [], []
    for seed in range(160):
        game = rollout(task, pilot, seed)
        first = game.trajectory("buyer")[0]
        aim = () if not isinstance(first.action, Offer) else _percents(first)
        worth.append(pilot_values(pilot, first.observation, aim).of(first.action))
        won.append(task.grade(game.final))
    error = np.std(np.array(won) - worth) / len(won) ** 0.5
    assert np.mean(worth) == pytest.approx(np.mean(won), abs=3 * error)
    assert error < 0.03


def _percents(turn) -> tuple[int, ...]:
    percent = round(100 * turn.action.price / turn.observation.reservation)
    return tuple(range(max(1, percent - 2), min(100, percent + 2) + 1))


def test_the_pilot_judges_its_own_moves_mildly_and_wild_ones_hard():
    judged = Judged.of(Positions(states=9), by_pilot)
    own = judged.figures("pilot")["regret"]["mean"]
    wild = judged.figures(lambda obs, rng: Offer(1))["regret"]["mean"]
    assert 0 <= own < wild
