"""The figures of a pair: shares, utility, fairness and distances that can be checked by hand."""

import numpy as np
import pytest

from sauda.evaluation.market.tournament.figures import Payoffs, cell, pareto_distance
from sauda.evaluation.market.tournament.games import ENDS
from sauda.evaluation.market.tournament.players import Pair
from sauda.evaluation.market.tournament.scenarios import Scenarios

# Three scenarios with the limits 100 and 60, one without a ZOPA.
AT = Scenarios(
    seeds=(1, 2, 3, 4),
    list_price=np.array([120.0, 120, 120, 120]),
    buyer=np.array([100.0, 100, 100, 50]),
    seller=np.array([60.0, 60, 60, 60]),
    discount=np.array([0.9, 0.9, 0.9, 0.9]),
)
GAMES = {
    "end": "AABA",
    "price": [70, 110, None, 80],
    "rounds": [3, 1, 2, 1],
    "misstated": {"buyer": [1], "seller": []},
}


def test_shares_sum_to_one_with_a_zopa_and_a_loss_is_negative():
    won = Payoffs.of(GAMES, AT)
    np.testing.assert_allclose(won.share["buyer"], [0.75, -0.25, 0, -30 / 120])
    np.testing.assert_allclose(won.share["seller"], [0.25, 1.25, 0, 20 / 120])


def test_time_costs_the_buyer_its_gain_and_not_its_loss():
    won = Payoffs.of(GAMES, AT)
    np.testing.assert_allclose(won.utility["buyer"], [0.75 * 0.81, -0.25, 0, -0.25])
    np.testing.assert_allclose(won.utility["seller"], won.share["seller"])


def test_the_row_of_a_pair_counts_what_went_wrong():
    row = cell(Pair("b", "s"), GAMES, AT)
    assert (row["n"], row["deal_rate"]["mean"], row["fair_deals"]) == (4, 0.75, 2)
    assert row["fairness"]["mean"] == pytest.approx(((1 - 0.5) + (1 - 1.5)) / 2)
    assert row["losses"] == {"buyer": 2, "seller": 0}
    assert row["refused_rightly"] == 0
    assert row["misstated"] == {"buyer": 1, "seller": 0}
    assert row["ends"]["agreement"] == 3
    assert sum(row["ends"].values()) == 4
    assert set(row["ends"]) == set(ENDS.values())
    distances = [(1 - 0.75 * 0.81 - 0.25) / 2**0.5, np.hypot(-0.25, 0.25), 0.5**0.5]
    assert row["pareto_distance"]["mean"] == pytest.approx(np.mean(distances), abs=1e-6)


def test_a_pair_without_deals_has_no_fairness():
    games = {**GAMES, "end": "BSDF", "price": [None] * 4, "rounds": [1, 2, 3, 0]}
    row = cell(Pair("b", "s"), games, AT)
    assert row["fairness"] is None
    assert row["share"]["buyer"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert row["refused_rightly"] == 1
    assert row["invalid"] == {"buyer": 1, "seller": 0}


def test_the_distance_is_that_from_a_fine_frontier():
    grid = np.linspace(0, 1, 20_001)
    points = np.array([(0, 0), (0.3, 0.7), (0.5, 0.2), (-0.4, 1.4), (1.2, -0.6), (0.1, 0.05)])
    distances = [np.hypot(x - grid, y - (1 - grid)).min() for x, y in points]
    np.testing.assert_allclose(pareto_distance(*points.T), distances, atol=1e-4)
