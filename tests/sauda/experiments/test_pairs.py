"""A pair's games: scenarios that only the players change, and scripts that speak in them."""

import pytest

from env import begin, rollout
from sauda.experiments.pairs import (
    PAIR_TASK,
    SCRIPTS,
    Pair,
    columns,
    play_pair,
    scenario_seeds,
    task_against,
)
from sauda.policies import BUYERS
from sauda.records.seeds import SPLITS, deal_at, is_unseen_listing

SEEDS = scenario_seeds(10)


def test_scenarios_are_hold_out_games_about_unseen_listings():
    assert len(set(SEEDS)) == 10
    assert all(seed in SPLITS["holdout"] for seed in SEEDS)
    assert all(is_unseen_listing(deal_at(PAIR_TASK, seed).item) for seed in SEEDS)
    with pytest.raises(ValueError, match="at least 2 scenarios"):
        scenario_seeds(1)


@pytest.mark.parametrize("seller", SCRIPTS)
def test_a_seller_changes_nothing_of_a_scenario(seller):
    for seed in SEEDS[:4]:
        (deal,) = begin(task_against(seller), seed).state.private["nature"]
        assert deal == deal_at(PAIR_TASK, seed)


@pytest.mark.parametrize("seller", SCRIPTS)
def test_a_seller_that_plays_through_language_plays_the_same_games_in_words(seller):
    for buyer, strategy in (("linear", "linear"), ("acts(boulware)", "boulware")):
        spoken = columns(play_pair(Pair(buyer, f"acts({seller})"), SEEDS))
        assert spoken == columns(play_pair(Pair(strategy, seller), SEEDS))
    game = rollout(task_against(f"acts({seller})"), BUYERS["linear"], SEEDS[0])
    assert all(turn.action.message for turn in game.trajectory("seller"))


@pytest.mark.parametrize("name", ["schedule", "acts(schedule)", "firm", "nobody", "mini"])
def test_a_player_that_there_is_none_of_is_refused(name):
    with pytest.raises(ValueError, match="sellers are"):
        play_pair(Pair("linear", name), SEEDS)
    with pytest.raises(ValueError, match="buyers are"):
        play_pair(Pair(name, "linear"), SEEDS)
