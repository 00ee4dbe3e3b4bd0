"""The tournament's artifact: every pair, and a changed digit of it is found."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
from sauda.evaluation.market.tournament import batch_sellers, games, report
from sauda.evaluation.market.tournament.games import columns
from sauda.evaluation.market.tournament.players import Pair
from sauda.evaluation.market.tournament.report import Config, models_again, tournament
from sauda.evaluation.market.tournament.scenarios import Scenarios
from sauda.evaluation.market.tournament.shown import chosen, episodes
from sauda.experiments.verify import verify, verify_models
from sauda.records.kinds import KINDS
from sauda.records.store import load, parsed, renew_checksums, save, write

FILE = "tournament.json"
TINY = Config(("linear", "naive", "null"), ("linear", "firm", "null:firm", "random"), 6, batch=4)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a small tournament; `null` is a language model that needs no weights."""
    root = tmp_path_factory.mktemp("artifacts")
    save(FILE, asdict(TINY), tournament(TINY, 1, root / "kept"), root)
    return root


@pytest.fixture
def changed(root: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Verifies a copy with `change` made to its content and a new checksum."""

    def check(change: Callable[[Any], None]) -> list[str]:
        content = json.loads((root / FILE).read_text(encoding="utf-8"))
        change(content["data"])
        write(tmp_path / FILE, json.dumps(content))
        renew_checksums([FILE], tmp_path)
        return verify(FILE, workers=1, root=tmp_path)

    return check


def test_every_buyer_meets_every_seller_on_the_same_scenarios(root):
    data = load(FILE, root).data
    pairs = {(cell.buyer, cell.seller) for cell in data.cells}
    assert pairs == {(buyer, seller) for buyer in TINY.buyers for seller in TINY.sellers}
    assert {cell.n for cell in data.cells} == {len(data.scenarios.seed)} == {6}
    seats = [(row.seat, row.player) for row in data.ranks]
    assert len(seats) == len(set(seats)) == 3 + 4
    assert {(row.seat, row.player) for row in data.exploitability} == set(seats)


def test_a_new_tournament_is_verified_without_faults(root):
    assert verify(FILE, workers=1, root=root) == []


def test_it_is_verified_without_the_engine_that_recorded_it(root, monkeypatch):
    def broken(*_):
        raise AssertionError("the batch engine must not check itself")

    monkeypatch.setattr(games, "play_batch", broken)
    monkeypatch.setattr(batch_sellers, "games_of", broken)
    batch_sellers.batch_games.cache_clear()
    assert verify(FILE, workers=1, root=root) == []


def test_a_price_that_was_not_paid_is_found(changed):
    def change(data):
        prices = data["games"]["linear"]["linear"]["price"]
        place = next(i for i, price in enumerate(prices) if price is not None)
        prices[place] += 1

    (place,) = changed(change)
    assert place.startswith("data.games.linear.linear.price[")


def test_a_rank_that_does_not_follow_is_found(changed):
    def change(data):
        data["ranks"][0]["rank"] += 1

    (place,) = changed(change)
    assert place.startswith("data.ranks[0].rank: recorded 2, played again 1")


def test_the_tables_of_a_models_games_are_computed_again(changed):
    """A change that spares the games with recorded replies is found in the cell of the pair."""

    def change(data):
        games = data["games"]["null"]["linear"]
        at = Scenarios.of(data["scenarios"]["seed"])
        spared = {game.index for game in chosen(games, at)}
        place = next(i for i in range(6) if i not in spared)
        games["misstated"]["buyer"] = [place]

    places = changed(change)
    assert places
    (number,) = {place.partition(".")[2].partition(".")[0] for place in places}
    assert number == f"cells[{Config.pairs(TINY).index(('null', 'linear'))}]"


def test_a_game_that_its_recorded_replies_do_not_give_is_found(changed):
    def change(data):
        data["games"]["null"]["linear"]["end"] = "DDDDDD"
        data["games"]["null"]["linear"]["rounds"] = [8] * 6

    places = changed(change)
    assert any(place.startswith("data.games.null.linear.end") for place in places)


def test_a_reply_that_was_not_given_is_found(changed):
    def change(data):
        data["replies"]["null"]["linear"][0][0]["text"] = '{"walk":true}'

    places = changed(change)
    assert any(place.startswith("data.games.null.linear.end") for place in places)


def test_a_game_with_too_few_recorded_replies_is_told(root):
    data = load(FILE, root).data
    (seed,) = data.scenarios.seed[:1]
    with pytest.raises(ValueError, match="more replies than are recorded"):
        episodes(Pair("null", "linear"), [seed], [[]])


def test_the_shown_games_of_a_model_come_out_of_their_replies(root):
    data = load(FILE, root).data.as_json()
    at = Scenarios.of(data["scenarios"]["seed"])
    games, replies = data["games"]["null"]["firm"], data["replies"]["null"]["firm"]
    shown = chosen(games, at)
    again = columns(episodes(Pair("null", "firm"), [game.seed for game in shown], replies))
    assert list(again["end"]) == [games["end"][game.index] for game in shown] == ["F"] * 3


def test_a_stopped_run_reads_the_batches_that_are_there(root, monkeypatch):
    kept = root / "kept"
    assert len(list(kept.iterdir())) == 2 * len(TINY.sellers)

    def broken(*_):
        raise AssertionError("these games are there already")

    monkeypatch.setattr(report, "play_models", broken)
    assert parsed("tournament/1", tournament(TINY, 1, kept)).as_json() == (
        load(FILE, root).data.as_json()
    )


def test_recorded_games_of_a_model_are_kept_unless_scenarios_or_model_differ(
    root, tmp_path, monkeypatch
):
    data = load(FILE, root).data.as_json()

    def broken(*_):
        raise AssertionError("these games are recorded")

    monkeypatch.setattr(report, "play_models", broken)
    again = tournament(TINY, 1, tmp_path, data)
    assert parsed("tournament/1", again).as_json() == data
    with pytest.raises(AssertionError, match="these games are recorded"):
        tournament(replace(TINY, scenarios=5), 1, tmp_path, data)
    monkeypatch.setattr(report, "weights", lambda pair: ["mini"])
    now = {"mini": {"sha256": "as recorded", "cpu": "avx2 amx_bf16"}}
    monkeypatch.setattr(report, "model_sources", lambda names, game: now)
    monkeypatch.setattr(report, "kept_games", broken)
    then = data | {"models": {"mini": {"sha256": "as recorded", "cpu": "avx2"}}}
    assert tournament(TINY, 1, tmp_path, then)["models"] == then["models"]
    then = data | {"models": {"mini": {"sha256": "of other weights", "cpu": "avx2"}}}
    with pytest.raises(AssertionError, match="these games are recorded"):
        tournament(TINY, 1, tmp_path, then)


def test_the_first_games_of_each_model_come_out_again(root):
    data = load(FILE, root).data.as_json()
    played = list(models_again(TINY, data))
    assert [pair.policy for pair in played] == [f"null against {name}" for name in TINY.sellers]
    assert all(pair.recorded == pair.again for pair in played)
    verdicts = list(verify_models(["tournament"], root))
    assert [(one.n, one.verdict, one.faults) for one in verdicts] == [
        (4, "to the last digit", [])
    ] * len(TINY.sellers)
    scripts = Config(("linear", "naive"), ("linear", "firm"), 6)
    with pytest.raises(ValueError, match="no language model plays"):
        list(models_again(scripts, data))


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
        Config(buyers, sellers).pairs()


def test_the_default_tournament_has_the_players_that_it_is_about():
    config = Config()
    assert config.scenarios >= 100
    assert {"pilot", "belief", "expert", "linear"} <= set(config.buyers)
    assert {"firm", "fair", "hasty", "bluffer", "null:friendly"} <= set(config.sellers)
    models = ["mini", "mini+roles-buyer", "mini+roles-seller", "mini+roles-generalist"]
    scripts = ["boulware", "linear", "conceder", "tit_for_tat", "random"]
    assert sorted(config.both()) == sorted(scripts + models)
    assert "mini+distill" in config.buyers
    config.pairs()


def test_the_command_prints_others_and_saves_nothing(capsys, monkeypatch):
    monkeypatch.setattr("sauda.commands.measurements.save_measured", None)
    call = ["tournament", "--buyers", "linear", "naive", "--sellers", "firm", "linear",
            "--scenarios", "4", "--workers", "1"]  # fmt: skip
    assert command_line.main(call) == 0
    printed = capsys.readouterr().out
    assert printed.count("strength") == 4
    assert "most is taken by" in printed


def test_the_command_says_which_sellers_there_are(capsys):
    assert command_line.main(["tournament", "--sellers", "nobody", "firm"]) == 2
    assert "no seller 'nobody' for the tournament; sellers are boulware" in capsys.readouterr().err


def test_verify_counts_the_games_that_it_plays_again(root):
    artifact = load(FILE, root)
    assert KINDS["tournament/1"].check.amount(artifact.config, artifact.data) == 3 * 4 * 6
