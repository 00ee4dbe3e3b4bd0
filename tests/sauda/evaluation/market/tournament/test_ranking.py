"""Ranks: the library's strengths, ties by overlapping intervals, opponents chosen out of sample."""

import choix
import numpy as np
import pytest

from sauda.evaluation.market.tournament.ranking import (
    bradley_terry,
    comparisons,
    exploitability,
    ranks,
    variance,
)


def wins_of(k: int, seed: int) -> np.ndarray:
    """Wins of k players that all met each other, some more often."""
    wins = np.random.default_rng(seed).integers(1, 30, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


@pytest.mark.parametrize("k", [2, 5, 13])
def test_the_strengths_are_those_of_choix(k):
    wins = wins_of(k, seed=k)
    ours = bradley_terry(wins, penalty=1e-9)
    np.testing.assert_allclose(ours, choix.ilsr_pairwise_dense(wins), atol=1e-6)


def test_the_penalty_is_that_of_choix():
    wins = wins_of(4, seed=7)
    games = [(i, j) for i in range(4) for j in range(4) for _ in range(int(wins[i, j]))]
    theirs = choix.opt_pairwise(4, games, alpha=0.5)
    np.testing.assert_allclose(bradley_terry(wins, penalty=0.5), theirs, atol=1e-4)


def test_half_wins_count_as_ties_and_a_player_that_only_loses_stays_finite():
    assert bradley_terry(np.array([[0, 5.5], [5.5, 0]])) == pytest.approx([0, 0])
    beaten = bradley_terry(np.array([[0, 10, 20], [10, 0, 20], [0, 0, 0]]))
    assert np.isfinite(beaten).all()
    assert beaten[2] < beaten[0] - 5
    assert beaten.sum() == pytest.approx(0, abs=1e-9)


def test_players_are_compared_in_the_same_scenario_against_the_same_opponent():
    utility = np.array([[[0.5, 0.0]], [[0.2, 0.0]], [[0.9, -0.1]]])  # 3 players, 1 opponent, 2
    first, second = comparisons(utility)
    np.testing.assert_array_equal(first, [[0, 1, 0], [0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(second, [[0, 0.5, 1], [0.5, 0, 1], [0, 0, 0]])


def test_an_advantage_of_an_opponent_or_scenario_changes_no_rank():
    rng = np.random.default_rng(0)
    utility = rng.normal(size=(4, 3, 50)) + np.arange(4)[:, None, None]
    shifted = utility + 5 * rng.normal(size=(1, 3, 50))
    np.testing.assert_array_equal(comparisons(utility), comparisons(shifted))


def ranked(utility: np.ndarray, names: str) -> dict[str, int]:
    rows = ranks("buyer", names, comparisons(utility), {"utility": utility.mean(axis=1)})
    strengths = [row["strength"]["mean"] for row in rows]
    assert strengths == sorted(strengths, reverse=True)
    assert all(r["strength"]["low"] <= r["strength"]["mean"] <= r["strength"]["high"] for r in rows)
    return {row["player"]: row["rank"] for row in rows}


def test_players_share_a_rank_where_their_intervals_overlap():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(3, 2, 60))
    level = np.array([2.0, 0.0, 0.0])[:, None, None]
    assert ranked(noise + level, "abc") == {"a": 1, "b": 2, "c": 2}
    assert set(ranked(noise, "abc").values()) == {1}


def test_the_exploiter_is_chosen_on_other_scenarios_than_it_is_measured_on():
    # One player, two opponents: the first takes all in even scenarios and nothing in odd ones.
    theirs = np.array([[[1.0, 0.0] * 4, [0.6, 0.6] * 4]])
    (row,) = exploitability("seller", ["s"], ["lucky", "steady"], 1 - theirs, theirs)
    assert (row["by"], row["n"], row["chosen_on"]) == ("lucky", 4, 4)
    assert row["taken"]["mean"] == 0
    assert row["usual"]["mean"] == pytest.approx(0.3)
    assert row["more"]["mean"] == pytest.approx(-0.3)
    assert row["left"]["mean"] == 1


def test_the_parts_of_the_variance_are_those_of_an_additive_matrix():
    rows, columns = np.array([0.0, 1.0]), np.array([0.0, 2.0, 4.0])
    parts = variance(rows[:, None] + columns)
    assert parts["interaction"] == pytest.approx(0)
    assert parts["buyer"] == pytest.approx(0.25 / (0.25 + 8 / 3), abs=1e-6)
    assert sum(parts.values()) == pytest.approx(1, abs=1e-6)
    assert variance(np.ones((2, 2))) == {"buyer": 0.0, "seller": 0.0, "interaction": 0.0}
