"""The tournament: figures and ranks that can be checked by hand, and an artifact that replays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import choix
import numpy as np
import pytest

import sauda.__main__ as command_line
from sauda.experiments import pairs, tournament
from sauda.experiments.pairs import ENDS, Pair, Scenarios, columns, replay_episodes
from sauda.experiments.tournament import (
    FILE,
    Entrants,
    Payoffs,
    bradley_terry,
    cell,
    choose_shown,
    comparisons,
    enter_models,
    exploitability,
    pareto_distance,
    ranks,
    replay_first_games,
    variance,
)
from sauda.experiments.verify import verify, verify_models
from sauda.records.store import load, new_artifact, renew_checksums, save, validate, write

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


def test_shares_sum_to_one_with_a_zopa_and_time_costs_the_buyer_its_gain_and_not_its_loss():
    won = Payoffs.of(GAMES, AT)
    np.testing.assert_allclose(won.share["buyer"], [0.75, -0.25, 0, -30 / 120])
    np.testing.assert_allclose(won.share["seller"], [0.25, 1.25, 0, 20 / 120])
    np.testing.assert_allclose(won.utility["buyer"], [0.75 * 0.81, -0.25, 0, -0.25])
    np.testing.assert_allclose(won.utility["seller"], won.share["seller"])


def test_the_row_of_a_pair_counts_what_went_wrong():
    row = cell(Pair("b", "s"), GAMES, AT)
    assert (row["n"], row["deal_rate"]["mean"], row["fair_deals"]) == (4, 0.75, 2)
    assert row["fairness"]["mean"] == pytest.approx(((1 - 0.5) + (1 - 1.5)) / 2)
    assert row["losses"] == {"buyer": 2, "seller": 0}
    assert row["refused_rightly"] == 0
    assert row["misstated"] == {"buyer": 1, "seller": 0}
    assert row["ends"] == dict.fromkeys(ENDS.values(), 0) | {"agreement": 3, "buyer walked": 1}
    distances = [(1 - 0.75 * 0.81 - 0.25) / 2**0.5, np.hypot(-0.25, 0.25), 0.5**0.5]
    assert row["pareto_distance"]["mean"] == pytest.approx(np.mean(distances), abs=1e-6)


def test_a_pair_without_deals_has_no_fairness():
    games = {**GAMES, "end": "BSDF", "price": [None] * 4, "rounds": [1, 2, 3, 0]}
    row = cell(Pair("b", "s"), games, AT)
    assert row["fairness"] is None
    assert row["share"]["buyer"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert (row["refused_rightly"], row["invalid"]) == (1, {"buyer": 1, "seller": 0})


def test_the_distance_is_that_from_a_fine_frontier():
    grid = np.linspace(0, 1, 20_001)
    points = np.array([(0, 0), (0.3, 0.7), (0.5, 0.2), (-0.4, 1.4), (1.2, -0.6), (0.1, 0.05)])
    distances = [np.hypot(x - grid, y - (1 - grid)).min() for x, y in points]
    np.testing.assert_allclose(pareto_distance(*points.T), distances, atol=1e-4)


# Ranks -------------------------------------------------------------------------------------------


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


def ranked(utility: np.ndarray, names: str) -> dict[str, int]:
    rows = ranks("buyer", names, comparisons(utility), {"utility": utility.mean(axis=1)})
    strengths = [row["strength"]["mean"] for row in rows]
    assert strengths == sorted(strengths, reverse=True)
    assert all(r["strength"]["low"] <= r["strength"]["mean"] <= r["strength"]["high"] for r in rows)
    return {row["player"]: row["rank"] for row in rows}


def test_players_share_a_rank_where_their_intervals_overlap():
    noise = np.random.default_rng(1).normal(size=(3, 2, 60))
    level = np.array([2.0, 0.0, 0.0])[:, None, None]
    assert ranked(noise + level, "abc") == {"a": 1, "b": 2, "c": 2}
    assert set(ranked(noise, "abc").values()) == {1}


def test_the_exploiter_is_chosen_on_other_scenarios_than_it_is_measured_on():
    # One player, two opponents: the first takes all in even scenarios and nothing in odd ones.
    theirs = np.array([[[1.0, 0.0] * 4, [0.6, 0.6] * 4]])
    (row,) = exploitability("seller", ["s"], ["lucky", "steady"], 1 - theirs, theirs)
    assert (row["by"], row["n"], row["chosen_on"]) == ("lucky", 4, 4)
    means = [row[name]["mean"] for name in ("taken", "usual", "more", "left")]
    assert means == pytest.approx([0, 0.3, -0.3, 1])


def test_the_parts_of_the_variance_are_those_of_an_additive_matrix():
    rows, columns = np.array([0.0, 1.0]), np.array([0.0, 2.0, 4.0])
    parts = variance(rows[:, None] + columns)
    assert parts["interaction"] == pytest.approx(0)
    assert parts["buyer"] == pytest.approx(0.25 / (0.25 + 8 / 3), abs=1e-6)
    assert sum(parts.values()) == pytest.approx(1, abs=1e-6)
    assert variance(np.ones((2, 2))) == {"buyer": 0.0, "seller": 0.0, "interaction": 0.0}


# The artifact ------------------------------------------------------------------------------------

TINY = {
    "buyers": ("linear", "naive", "null"),
    "sellers": ("linear", "firm", "null:firm", "random"),
    "scenarios": 6,
    "batch": 4,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a small tournament; `null` is a language model that needs no weights."""
    root = tmp_path_factory.mktemp("artifacts")
    save(FILE, TINY, tournament.tournament(**TINY, workers=1, folder=root / "kept"), root)
    return root


def test_every_buyer_meets_every_seller_on_the_same_scenarios(root):
    artifact = load(FILE, root)
    data = artifact.data
    pairs = {(cell.buyer, cell.seller) for cell in data.cells}
    assert pairs == {(buyer, seller) for buyer in TINY["buyers"] for seller in TINY["sellers"]}
    assert {cell.n for cell in data.cells} == {len(data.scenarios.seed)} == {6}
    seats = [(row.seat, row.player) for row in data.ranks]
    assert len(seats) == len(set(seats)) == 3 + 4
    assert {(row.seat, row.player) for row in data.exploitability} == set(seats)
    assert tournament.count_scripted(artifact.config, data) == 3 * 4 * 6


def test_it_is_verified_without_the_engine_that_recorded_it(root, monkeypatch):
    def broken(*_):
        raise AssertionError("the batch engine must not check itself")

    monkeypatch.setattr(pairs, "play_batch", broken)
    monkeypatch.setattr(pairs, "games_of", broken)
    pairs.batch_games.cache_clear()
    assert verify(FILE, workers=1, root=root) == []


def pay_more(data: Any) -> None:
    prices = data["games"]["linear"]["linear"]["price"]
    place = next(i for i, price in enumerate(prices) if price is not None)
    prices[place] += 1


def raise_a_rank(data: Any) -> None:
    data["ranks"][0]["rank"] += 1


def misstate(data: Any) -> None:
    """In a game of a model whose replies are not recorded: found in the cell of the pair."""
    games = data["games"]["null"]["linear"]
    spared = {game.index for game in choose_shown(games, Scenarios.of(data["scenarios"]["seed"]))}
    games["misstated"]["buyer"] = [next(i for i in range(6) if i not in spared)]


def end_otherwise(data: Any) -> None:
    data["games"]["null"]["linear"] |= {"end": "DDDDDD", "rounds": [8] * 6}


def reply_otherwise(data: Any) -> None:
    data["replies"]["null"]["linear"][0][0]["text"] = '{"walk":true}'


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (pay_more, "data.games.linear.linear.price["),
        (raise_a_rank, "data.ranks[0].rank: recorded 2, played again 1"),
        (misstate, "data.cells[8].misstated.buyer"),
        (end_otherwise, "data.games.null.linear.end"),
        (reply_otherwise, "data.games.null.linear.end"),
    ],
)
def test_a_change_is_found_by_its_place(
    root: Path, tmp_path: Path, change: Callable[[Any], None], place: str
):
    content = json.loads((root / FILE).read_text(encoding="utf-8"))
    change(content["data"])
    write(tmp_path / FILE, json.dumps(content))
    renew_checksums([FILE], tmp_path)
    assert any(fault.startswith(place) for fault in verify(FILE, workers=1, root=tmp_path))


def test_the_shown_games_of_a_model_come_out_of_their_replies(root):
    data = load(FILE, root).data.as_json()
    games, replies = (data[of]["null"]["firm"] for of in ("games", "replies"))
    shown = choose_shown(games, Scenarios.of(data["scenarios"]["seed"]))
    now = columns(replay_episodes(Pair("null", "firm"), [game.seed for game in shown], replies))
    assert list(now["end"]) == [games["end"][game.index] for game in shown] == ["F"] * 3


def broken(*_):
    raise AssertionError("these games are there already")


def test_a_stopped_run_reads_the_batches_that_are_there(root, monkeypatch):
    kept = root / "kept"
    assert len(list(kept.iterdir())) == 2 * len(TINY["sellers"])
    monkeypatch.setattr(tournament, "play_models", broken)
    resumed = tournament.tournament(**TINY, workers=1, folder=kept)
    assert new_artifact(FILE, TINY, resumed).data == load(FILE, root).data


def test_recorded_games_of_a_model_are_kept_unless_scenarios_or_model_differ(
    root, tmp_path, monkeypatch
):
    monkeypatch.setattr(tournament, "play_models", broken)
    kept = {"workers": 1, "keep": True, "root": root, "folder": tmp_path}
    now = tournament.tournament(**TINY, **kept)
    assert validate("tournament/1", now) == load(FILE, root).data
    with pytest.raises(AssertionError, match="are there already"):
        tournament.tournament(**TINY | {"scenarios": 5}, **kept)
    data = load(FILE, root).data.as_json()
    pair, at = Pair("null", "linear"), Scenarios.of(data["scenarios"]["seed"])
    now = {"mini": {"sha256": "as recorded", "cpu": "avx2 amx_bf16"}}
    monkeypatch.setattr(tournament, "weights", lambda pair: ["mini"])
    monkeypatch.setattr(tournament, "model_sources", lambda names, game: now)
    monkeypatch.setattr(tournament, "play_or_read", broken)
    then = data | {"models": {"mini": {"sha256": "as recorded", "cpu": "avx2"}}}
    _, rest = enter_models([pair], at, 4, tmp_path, then)
    assert rest["models"] == then["models"]
    then = data | {"models": {"mini": {"sha256": "of other weights", "cpu": "avx2"}}}
    with pytest.raises(AssertionError, match="are there already"):
        enter_models([pair], at, 4, tmp_path, then)


def test_the_first_games_of_each_model_come_out_again(root, tmp_path):
    played = list(replay_first_games(load(FILE, root)))
    assert [pair.policy for pair in played] == [f"null against {name}" for name in TINY["sellers"]]
    assert all(pair.recorded == pair.again for pair in played)
    verdicts = [(one.n, one.verdict, one.faults) for one in verify_models(["tournament"], root)]
    assert verdicts == [(4, "to the last digit", [])] * len(TINY["sellers"])
    scripts = {"buyers": ("linear", "naive"), "sellers": ("linear", "firm"), "scenarios": 3}
    made = save(FILE, scripts | {"batch": 4}, tournament.tournament(**scripts, workers=1), tmp_path)
    with pytest.raises(ValueError, match="no language model plays"):
        list(replay_first_games(made))


@pytest.mark.parametrize(
    ("buyers", "sellers", "fault"),
    [
        (("linear",), ("linear", "firm"), "at least two buyers and two sellers"),
        (("linear", "linear"), ("linear", "firm"), "once each"),
        (("linear", "firm"), ("linear", "firm"), "no policy 'firm'"),
        (("linear", "naive"), ("linear", "naive"), "no seller 'naive'"),
    ],
)
def test_a_player_that_cannot_take_its_seat_is_refused(buyers, sellers, fault):
    with pytest.raises(ValueError, match=fault):
        Entrants(buyers, sellers).pairs()


def test_the_players_of_the_artifact_can_take_their_seats():
    Entrants().pairs()


def test_the_command_prints_others_and_saves_nothing(capsys, monkeypatch):
    call = ["run", "tournament", "--buyers", "linear", "naive", "--sellers", "firm", "linear",
            "--scenarios", "4", "--workers", "1"]  # fmt: skip
    before = load(FILE).made
    assert command_line.main(call) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("not saved")
    assert "strength" in printed
    assert "taken" in printed
    assert load(FILE).made == before
