"""The nine contrasts of roles: by hand on small shares, and on what is recorded."""

import numpy as np
import pytest

from sauda.evaluation.language.contrasts import (
    ADAPTERS,
    contrasts,
    of_role_play,
    of_tournament,
    verdict,
)
from sauda.records.store import load

BUYER, SELLER, GENERALIST = ADAPTERS
N = 30


def shares(**more: float) -> dict:
    """Equal shares of all four models against two opponents, and `more` of a model in a seat."""
    noise = np.random.default_rng(0).normal(size=(2, N))
    gains = {
        (player, seat): more.get(f"{player.rpartition('-')[2]}_{seat}", 0.0)
        for player in ("mini", *ADAPTERS)
        for seat in ("buyer", "seller")
    }
    return {at: {"a": noise[0] + gain, "b": noise[1] + gain} for at, gain in gains.items()}


def by_pair(rows) -> dict:
    return {(row.player, row.beside, row.seat): row for row in rows}


def test_there_are_nine_and_each_is_the_mean_difference_of_its_two_players():
    rows = contrasts(shares(buyer_buyer=0.3, buyer_seller=0.1, generalist_buyer=0.2))
    means = {at: round(row.difference.mean, 6) for at, row in by_pair(rows).items()}
    assert means == {
        (BUYER, "mini", "buyer"): 0.3,
        (BUYER, "mini", "seller"): 0.1,
        (SELLER, "mini", "buyer"): 0,
        (SELLER, "mini", "seller"): 0,
        (GENERALIST, "mini", "buyer"): 0.2,
        (GENERALIST, "mini", "seller"): 0,
        (BUYER, GENERALIST, "buyer"): 0.1,
        (SELLER, GENERALIST, "seller"): 0,
        ("on role", "off role", "both"): 0.1,  # (0.3 - 0) and (0 - 0.1), pooled
    }


def test_a_difference_in_every_scenario_is_shown_after_the_correction_and_none_is_not():
    rows = by_pair(contrasts(shares(buyer_buyer=0.3)))
    sure = rows[BUYER, "mini", "buyer"]
    assert (sure.n, sure.opponents, sure.is_shown) == (N, 2, True)
    assert sure.p == pytest.approx(2 / 10_001)
    assert sure.adjusted == pytest.approx(9 * sure.p)
    equal = rows[SELLER, "mini", "seller"]
    assert (equal.p, equal.adjusted, equal.is_shown) == (1, 1, False)


def test_only_opponents_that_both_met_count():
    played = shares(buyer_buyer=0.3)
    played["mini", "buyer"].pop("b")
    played[BUYER, "buyer"]["b"] = np.full(N, 9.0)
    row = by_pair(contrasts(played))[BUYER, "mini", "buyer"]
    assert (row.opponents, round(row.difference.mean, 6)) == (1, 0.3)


def test_without_one_of_the_players_there_is_no_family():
    played = shares()
    del played[GENERALIST, "seller"]
    assert contrasts(played) == []


def test_the_sentence_names_what_is_shown_with_n_and_interval_or_the_largest():
    some = verdict(contrasts(shares(buyer_buyer=0.3)), str)
    assert some.startswith("3 of 9 contrasts show a difference in share at 5% after correction")
    assert f"n = {N} scenarios: {BUYER} less mini, buying, +0.300 [+0.300, +0.300];" in some
    assert f"{BUYER} is not shown to be equivalent to {GENERALIST}, buying" in some
    assert f"{SELLER} is equivalent to {GENERALIST}, selling." in some
    none = verdict(contrasts(shares()), str)
    assert none.startswith("none of 9 contrasts shows")
    assert "the largest is" in none


def test_the_contrasts_of_the_recorded_tournament_are_differences_of_its_cells():
    data = load("tournament.json").data
    rows = by_pair(of_tournament(data))
    assert len(rows) == 9
    for (player, beside, seat), row in rows.items():
        if seat == "both":
            continue
        mine, theirs = (
            [getattr(c.share, seat).mean for c in data.cells if getattr(c, seat) == name]
            for name in (player, beside)
        )
        assert row.opponents == len(mine)
        assert row.difference.mean == pytest.approx(np.mean(mine) - np.mean(theirs), abs=2e-6)


def test_the_contrasts_of_the_recorded_role_play_are_differences_of_its_rows():
    data = load("role_play.json").data
    share = {(row.model, row.seat): row.share.mean for row in data.rows}
    rows = by_pair(of_role_play(data))
    assert len(rows) == 9
    for (player, beside, seat), row in rows.items():
        if seat != "both":
            expected = share[player, seat] - share[beside, seat]
            assert row.difference.mean == pytest.approx(expected, abs=2e-6)
