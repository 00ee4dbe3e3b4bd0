"""Recorded games: before and after training, by rule; every pair of players in a tournament."""

import re
from pathlib import Path

import numpy as np
import pytest

from sauda.experiments.episodes import SIDES, before_after, choose
from sauda.experiments.tournament import (
    PAIR_TASK,
    Pair,
    Scenarios,
    choose_shown,
    columns,
    exploitability,
    payoffs,
    play_pair,
    scenario_seeds,
)
from sauda.experiments.verify import verify
from sauda.games.transcript import from_json
from sauda.records.seeds import SPLITS, deal_at, is_unseen_listing
from sauda.records.store import Artifact, load, save
from tests.support.measured import PLAYERS
from tests.support.models import GARBAGE

# Before and after ---------------------------------------------------------------------------------

FILE = before_after.file
TASK = "bazaar/open"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A root with an artifact of two canned players, the first of whom forfeits some games."""
    root = tmp_path_factory.mktemp("artifacts")
    config = {"before": "shaky", "after": "high", "tasks": (TASK, "bazaar/rushed")}
    config |= {"episodes": 7, "batch": 3}
    save(FILE, config, before_after(**config, seat=PLAYERS.__getitem__), root)
    return root


@pytest.fixture
def artifact(root) -> Artifact:
    return load(FILE, root)


YES, NO = True, False


@pytest.mark.parametrize(
    ("gains", "zopa", "deals", "picks"),
    [
        ([0.1, 0.5, -0.2, 0.3, 0.0], None, None, (11, 12, 10, 13)),
        ([0.4, 0.1, 0.3, 0.2], None, None, (10, 11, 13, 12)),  # the lower of two neighbours
        ([0.2, 0.2, 0.2, 0.2], None, None, (10, 10, 11, 12)),  # all equal: by seed
        ([0.5], None, None, (10, 10, 10, 10)),
        ([n / 20 for n in range(21)], None, None, (30, 12, 20, 28)),
        # the best ends in a deal, percentiles are of games with a ZOPA
        ([0.9, 0.3, 0.2, 0.1], [NO, YES, YES, YES], [NO, NO, YES, YES], (12, 13, 12, 12)),
        ([0.3, 0.1], [NO, NO], [YES, YES], (10,)),
    ],
)
def test_games_are_chosen_by_the_gain_and_then_the_lowest_seed(gains, zopa, deals, picks):
    n, after = len(gains), [0.1 + gain for gain in gains]
    chosen = choose(range(10, 10 + n), [0.1] * n, after, zopa or [YES] * n, deals or [YES] * n)
    assert chosen == dict(zip(("best", "10th", "50th", "90th"), picks, strict=False))


def test_differences_that_are_equal_but_for_rounding_tie():
    assert 0.3 - 0.2 != 0.4 - 0.3
    picks = choose((5, 6), (0.2, 0.3), (0.3, 0.4), (YES, YES), (YES, YES))
    assert set(picks.values()) == {5}


def test_the_data_shows_the_games_of_the_rule_and_each_move_of_the_model_has_its_reply(artifact):
    first = artifact.data.tasks[0]
    assert first.acts == {"before": {}, "after": {"tea": len(first.seeds)}}
    for row in artifact.data.as_json()["tasks"]:
        picks = choose(row["seeds"], *(row[name] for name in ("before", "after", "zopa", "deals")))
        assert {pair["why"]: pair["seed"] for pair in row["chosen"]} == picks
        for pair in row["chosen"]:
            at = row["seeds"].index(pair["seed"])
            assert [pair[side]["grade"] for side in SIDES] == [row[side][at] for side in SIDES]
            for game in (pair[side] for side in SIDES):
                assert from_json(game).seed == pair["seed"]
                own = [move for move in game["moves"] if move["agent"] == "buyer"]
                assert len(game["replies"]) == len(own)
                assert (own[-1]["action"] == "forfeit") == (game["replies"][-1] == GARBAGE)


def test_the_artifact_comes_out_again_and_a_changed_reply_is_found_by_its_move(root, tmp_path):
    assert verify(FILE, root=root) == []
    recorded = load(FILE, root)
    data = recorded.data.as_json()
    data["tasks"][0]["chosen"][0]["after"]["replies"][0] = '{"offer":1}'
    save(FILE, recorded.config, data, tmp_path)
    faults = verify(FILE, root=tmp_path)
    assert any(re.match(r".*\.after\.moves\[1\]\.price: recorded", fault) for fault in faults)


# The tournament -----------------------------------------------------------------------------------

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


def test_games_with_a_zopa_are_shown_from_the_best_to_the_worst_and_none_where_there_is_none():
    shown = choose_shown(GAMES, AT)
    assert {game.seed for game in shown} <= {1, 2, 3}
    assert {shown[0].seed, shown[-1].seed} <= {1, 2}  # the most and the least of the surplus
    assert choose_shown(GAMES, AT.model_copy(update={"buyer": [50] * 4})) == []


def test_the_exploiter_is_chosen_on_other_scenarios_than_it_is_measured_on():
    # One player, two opponents: the first takes all in even scenarios and nothing in odd ones.
    theirs = np.array([[[1.0, 0.0] * 4, [0.6, 0.6] * 4]])
    (row,) = exploitability("seller", ["s"], ["lucky", "steady"], theirs)
    assert (row["by"], row["n"]) == ("lucky", 4)
    means = [row[name]["mean"] for name in ("taken", "usual", "more")]
    assert means == pytest.approx([0, 0.3, -0.3])


def test_the_artifact_is_replayed_and_a_change_is_found_by_its_place(tmp_path):
    recorded = load("tournament.json")
    data = recorded.data.as_json()
    data["games"]["linear"]["linear"]["rounds"][0] += 1
    data["ranks"][-1]["rank"] -= 1
    save("tournament.json", recorded.config, data, tmp_path)
    one, other = verify("tournament.json", root=tmp_path)
    assert one.startswith("data.games.linear.linear.rounds[0]: recorded")
    assert other.startswith("data.ranks[")
