"""Pairs and the tournament: the same scenarios for all, figures checked by hand, a replay."""

import numpy as np
import pytest

from sauda.experiments.tournament import (
    FILE,
    PAIR_TASK,
    Pair,
    Scenarios,
    columns,
    exploitability,
    payoffs,
    play_pair,
    scenario_seeds,
)
from sauda.experiments.verify import verify
from sauda.records.seeds import SPLITS, deal_at, is_unseen_listing
from sauda.records.store import load, save

SEEDS = scenario_seeds(10)


def test_scenarios_are_hold_out_games_about_unseen_listings():
    assert len(set(SEEDS)) == 10
    assert all(seed in SPLITS["holdout"] for seed in SEEDS)
    assert all(is_unseen_listing(deal_at(PAIR_TASK, seed).item) for seed in SEEDS)


def test_a_seller_that_plays_through_language_plays_the_same_games_in_words():
    spoken = columns(play_pair(Pair("acts(boulware)", "acts(linear)"), SEEDS))
    assert spoken == columns(play_pair(Pair("boulware", "linear"), SEEDS))


# Three scenarios with the limits 100 and 60, one without a ZOPA.
AT = Scenarios(
    seed=[1, 2, 3, 4],
    list_price=[120] * 4,
    buyer=[100, 100, 100, 50],
    seller=[60] * 4,
    discount=[0.9] * 4,
)
GAMES = {"end": "AABA", "price": [70, 110, None, 80], "rounds": [3, 1, 2, 1]}


def test_shares_sum_to_one_with_a_zopa_and_time_costs_the_buyer_its_gain_and_not_its_loss():
    share, utility = payoffs(GAMES, AT).values()
    np.testing.assert_allclose(share["buyer"], [0.75, -0.25, 0, -30 / 120])
    np.testing.assert_allclose(share["seller"], [0.25, 1.25, 0, 20 / 120])
    np.testing.assert_allclose(utility["buyer"], [0.75 * 0.81, -0.25, 0, -0.25])
    np.testing.assert_allclose(utility["seller"], share["seller"])


def test_the_exploiter_is_chosen_on_other_scenarios_than_it_is_measured_on():
    # One player, two opponents: the first takes all in even scenarios and nothing in odd ones.
    theirs = np.array([[[1.0, 0.0] * 4, [0.6, 0.6] * 4]])
    (row,) = exploitability("seller", ["s"], ["lucky", "steady"], theirs)
    assert (row["by"], row["n"]) == ("lucky", 4)
    means = [row[name]["mean"] for name in ("taken", "usual", "more")]
    assert means == pytest.approx([0, 0.3, -0.3])


def test_the_artifact_is_replayed_and_a_change_is_found_by_its_place(tmp_path):
    recorded = load(FILE)
    data = recorded.data.as_json()
    data["games"]["linear"]["linear"]["rounds"][0] += 1
    data["ranks"][-1]["rank"] -= 1
    save(FILE, recorded.config, data, tmp_path)
    one, other = verify(FILE, root=tmp_path)
    assert one.startswith("data.games.linear.linear.rounds[0]: recorded")
    assert other.startswith("data.ranks[")
