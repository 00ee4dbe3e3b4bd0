"""The open market: what optimal play earns, what is lost and why."""

import numpy as np
import pytest

from env import Accept, Offer, WalkAway, get_task, rollout
from sauda.experiments import gap
from sauda.experiments.scripts import ODD_TASKS, SILENT, Packs, exploits, odd_policies
from sauda.played import grades
from sauda.players import planners_of
from sauda.policies import BUYERS, SLOW
from sauda.policies.listener import Informed, MoveValues, believe
from sauda.policies.tuned import THIRD
from sauda.policies.values import (
    BINS,
    LIMITED,
    PLANNER,
    difficulty,
    play_informed,
    split_game,
)
from sauda.records.schemas.open_market import Exploits, Gap
from sauda.records.seeds import PLAYED, SPLITS, TRAINED, deal_at, has_zopa, training_seeds

# The oracle and exploits --------------------------------------------------------------------------

SEEDS = range(120)
OPEN = get_task(THIRD)
HOLDOUT = SPLITS["holdout"][:3]


@pytest.mark.nightly
def test_the_informed_value_agrees_with_play_under_the_games_own_draws():
    # It keeps the hazard so low that a walk is rare: one in a hundred games moves the mean most.
    oracles = {seed: play_informed(OPEN, seed) for seed in SEEDS}
    played = [OPEN.grade(rollout(OPEN, own, seed).final) for seed, own in oracles.items()]
    expected = np.mean([own.expected for own in oracles.values()])
    assert np.mean(played) == pytest.approx(expected, abs=0.03)


def test_speaking_never_costs_the_oracle_anything():
    deals = [deal_at(OPEN, seed) for seed in SEEDS[:20]]
    spoken, silent = (
        np.array([Informed.of(deal, speaks).expected for deal in deals]) for speaks in (True, False)
    )
    assert (spoken >= silent).all()
    assert (spoken > silent).any()


def test_exploits_are_compared_with_the_planner_and_with_silence_on_the_same_seeds():
    data = exploits(episodes=3, workers=1)
    Exploits.model_validate(data)
    for task in ODD_TASKS:
        planner = grades(task, planners_of(get_task(task))["listener"], HOLDOUT).mean()
        silent = grades(task, odd_policies(task)[SILENT].policy, HOLDOUT).mean()
        for row in (row for row in data["rows"] if row["task"] == task):
            grade = row["grade"]["mean"]
            assert row["gain"]["mean"] == pytest.approx(grade - planner, abs=1e-5)
            if row["words"]:
                assert row["words"]["mean"] == pytest.approx(grade - silent, abs=1e-5)


def test_packages_offered_in_turn_are_worth_the_same_to_the_buyer():
    packages = ((0,), (0, 1), ())
    buyer = Packs(lambda obs, rng: Offer(100), packages)
    for turn in rollout(get_task("bazaar/package"), buyer, 3).trajectory("buyer"):
        offer, values = turn.action, turn.observation.own["values"]
        assert offer.price - sum(values[name] for name in offer.extras) == 100
        assert len(offer.extras) == len(packages[turn.observation.round % 3])


@pytest.mark.parametrize("task", ODD_TASKS)
def test_words_that_a_seller_does_not_hear_as_an_act_change_nothing(task):
    silent, orders = (
        grades(task, odd_policies(task)[name].policy, range(50_000, 50_020))
        for name in (SILENT, "tells the seller to accept")
    )
    assert (silent == orders).all()


def test_training_stops_before_the_games_on_which_it_is_judged_and_reported():
    met = set()
    with pytest.raises(ValueError, match="games has too few training seeds"):
        list(map(met.add, training_seeds("games", TRAINED[-9])))
    assert met == set(TRAINED[-9:])
    parts = (TRAINED, PLAYED, SPLITS["holdout"])
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert set().union(*parts[:2]) == set(SPLITS["train"])


# The gap to the optimum ---------------------------------------------------------------------------


def test_planners_that_learn_less_part_only_after_the_opening():
    turns = [rollout(OPEN, SLOW["listener"], seed).trajectory("buyer") for seed in range(3)]
    prices, nothing = LIMITED.values()
    first, *later = (
        [prices(turn.observation, None) == nothing(turn.observation, None) for turn in at_once]
        for at_once in zip(*turns, strict=False)
    )
    assert all(first)
    assert not all(map(all, later))


def test_the_planners_own_moves_lose_nothing_and_bad_ones_lose_by_control_or_belief():
    def split(policy):
        turns = rollout(OPEN, policy, 4).trajectory("buyer")
        seen = [turn.observation for turn in turns]
        return split_game(turns, [PLANNER.values(believe(obs), obs) for obs in seen])

    assert split(SLOW["listener"]) == (0, 0)
    inference, control = split(lambda obs, rng: Offer(obs.budget))
    assert inference >= 0 <= control
    assert inference + control > 0


def test_a_game_is_told_as_hard_as_it_is_with_its_reasons():
    place, words = difficulty(OPEN, 50_000)
    assert words.startswith(f"{BINS[place - 1]}: ")
    assert deal_at(OPEN, 50_000).seller["stance"].type in words
    hopeless = next(seed for seed in SPLITS["holdout"] if not has_zopa(deal_at(OPEN, seed)))
    place, words = difficulty(OPEN, hopeless)
    assert place == 1
    assert "to leave is right" in words


@pytest.mark.nightly
def test_the_parts_sum_to_the_gap_and_the_planner_plays_along():
    data = gap.gap(("linear", "bayesian", "listener"), episodes=5, workers=1)
    Gap.model_validate(data)
    for row in data["rows"]:
        parts = row["inference"]["mean"] + row["control"]["mean"] + data["uncertainty"]["mean"]
        assert parts == pytest.approx(data["oracle"]["mean"] - row["grade"]["mean"], abs=1e-5)
    linear, bayesian, listener = data["rows"]
    assert listener["inference"]["mean"] == listener["control"]["mean"] == 0
    assert linear["adopted"] != bayesian["adopted"]
    (alone,) = gap.gap(("linear",), episodes=5, workers=1)["rows"]
    assert alone == linear


def test_the_values_of_moves_are_read_off_between_prices_and_of_equal_ones_an_offer_is_made():
    values = MoveValues(("",), np.array([10.0, 20.0]), np.array([[0.1, 0.3]]), accept=0.3, walk=0.3)
    obs = rollout(get_task("bazaar/open-3"), BUYERS["linear"], 1).trajectory("buyer")[0].observation
    assert values.of(Offer(15)) == pytest.approx(0.2)
    assert values.regret(Offer(15)) == pytest.approx(0.1)
    assert values.best(obs) == Offer(20)
    assert values.regret(Accept()) == values.regret(WalkAway()) == 0
