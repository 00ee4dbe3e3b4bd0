"""The model comparison: batched play equals single games, stopped runs resume, counts are right."""

import json
from dataclasses import replace

import numpy as np
import pytest

from env import get_task, rollout
from sauda.experiments import comparison
from sauda.experiments.comparison import Grid, compare_models, in_arena, in_bazaar
from sauda.experiments.verify import replay_stages
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import episode_columns
from sauda.llm.turn import PlayerSpec
from sauda.llm.wrappers import WRAPPERS
from sauda.played import Cell, Store, hashes, play_model, take_first
from sauda.players import player_spec
from sauda.records.store import load, new_artifact
from tests.support.models import bids

SEEDS = range(50_000, 50_008)
OPEN = get_task("bazaar/open-3")


CANNED = bids(45, step=2, garbage=7)


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", [None, *WRAPPERS])
def test_games_in_step_are_the_games_played_alone(wrapper):
    player = PlayerSpec(CANNED, wrapper=wrapper and WRAPPERS[wrapper])
    columns = play_model(OPEN, player, SEEDS)
    alone = [rollout(OPEN, player.policy(BAZAAR), seed) for seed in SEEDS]
    shared = episode_columns(OPEN, alone)
    assert {name: columns[name] for name in shared} == shared
    assert columns["moves"] == [len(e.trajectory("buyer")) for e in alone]


@pytest.mark.slow
def test_what_a_model_and_its_wrapper_did_is_counted():
    columns = play_model(OPEN, PlayerSpec(CANNED), SEEDS)
    assert sum(columns["invalid_replies"]) == columns["end"].count("F") > 0
    assert set(columns["end"]) != {"F"}
    assert all(tokens > 0 for tokens in columns["tokens"])
    columns = play_model(OPEN, player_spec("null+steering"), SEEDS)
    assert columns["changed"] == columns["invalid_replies"] == columns["moves"]
    assert "F" not in columns["end"]


PLAYED = ("null", "null+steering", "null+honest", "linear", "listener")
GRIDS = (
    Grid(("bazaar/open-3", "bazaar/mute-3"), PLAYED, 4),
    Grid(("classic/single_deal",), ("null", "linear"), 2),
)
TINY = in_bazaar(GRIDS, batch=3, baseline="null")
LABS = in_arena(
    (
        Grid(("arena/single_trade", "arena/market_round"), ("broker", "autarky"), 5),
        Grid(("arena/market_round",), ("null",), 4),
    ),
    batch=3,
)


def run(compared, folder, recorded=None) -> dict:
    """The data of a whole run, as it is read again."""
    return json.loads(json.dumps(compare_models(compared, Store(folder), recorded)))


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict:
    return run(TINY, tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_the_data_is_of_its_kind_and_comes_out_again(data):
    replayed = comparison.replay(new_artifact(TINY.file, TINY.config, data), 1, None)
    assert replayed | {"models": data["models"]} == data
    assert [row["policy"] for row in data["rows"][:5]] == list(PLAYED)
    assert [row["n"] for row in data["rows"]] == [4] * 10 + [2] * 2
    hashes = [row["hashes"]["policy"] for row in data["rows"] if row["task"] == "bazaar/open-3"]
    assert len(set(hashes)) == len(PLAYED)


@pytest.mark.slow
def test_the_comparison_of_labs_comes_out_again_and_plays_no_batch_twice(tmp_path, monkeypatch):
    data = run(LABS, tmp_path)
    replayed = comparison.replay(new_artifact(LABS.file, LABS.config, data), 1, None)
    assert replayed | {"models": data["models"]} == data
    rows = {row["policy"]: row for row in data["rows"]}
    assert [*data["worlds"]] == [*data["episodes"]] == ["arena/single_trade", "arena/market_round"]
    assert rows["null"]["invalid_replies"] == rows["null"]["actions"] > 0 == rows["null"]["valid"]
    monkeypatch.setattr("sauda.played.play_columns", None)
    assert run(LABS, tmp_path) == data


MODEL = {"sha256": "a", "sampling": {"temperature": 0.7}, "prompt": "p", "cpu": "avx2"}


@pytest.fixture(scope="module")
def of_model() -> dict:
    """Games of a model and what an artifact records of them."""
    cell = Cell("bazaar/open-3", "mini+honest")
    columns = play_model(OPEN, PlayerSpec(CANNED), SEEDS)
    row = {"task": cell.task, "policy": cell.policy, "hashes": hashes(cell)}
    episodes = {cell.task: {cell.policy: columns}}
    return {"episodes": episodes, "rows": [row], "models": {"mini": MODEL}}


def load_unchanged(recorded: dict, games: int = len(SEEDS), **change) -> dict:
    """What is kept of recorded games where today's model differs by a `change`."""
    grid = Grid(("bazaar/open-3",), ("mini+honest",), games)
    compared = in_bazaar((grid,), batch=3, baseline="mini+honest")
    return comparison.load_kept(compared, {"mini": MODEL | change}, recorded)


def test_recorded_games_are_kept_while_their_model_is_the_same(of_model):
    cell, columns = ("bazaar/open-3", "mini+honest"), of_model["episodes"]["bazaar/open-3"]
    assert (
        load_unchanged(of_model)
        == load_unchanged(of_model, cpu="")
        == {cell: columns["mini+honest"]}
    )
    for change in ({"sha256": "b"}, {"sampling": {"temperature": 0.2}}):
        assert load_unchanged(of_model, **change) == {}
    whole_batches = take_first(columns["mini+honest"], 6)
    assert load_unchanged(of_model, len(SEEDS) + 1) == {cell: whole_batches}


@pytest.mark.parametrize("part", ["task", "opponents", "policy"])
def test_no_game_of_another_task_opponent_or_wrapper_is_kept(of_model, part):
    (row,) = of_model["rows"]
    changed = of_model | {"rows": [row | {"hashes": row["hashes"] | {part: "0" * 12}}]}
    assert load_unchanged(changed) == {}


@pytest.mark.nightly
def test_a_script_is_kept_while_its_code_is_the_same_and_only_new_seeds_are_played(data, tmp_path):
    def grades(recorded: dict) -> list[float]:
        return recorded["episodes"]["bazaar/open-3"]["linear"]["grade"]

    recorded = json.loads(json.dumps(data))
    grades(recorded)[0] = 0.123
    longer = in_bazaar((Grid(("bazaar/open-3",), PLAYED, 6),), 3, "null")
    again = grades(run(longer, tmp_path, recorded))
    assert again == [0.123, *grades(run(longer, tmp_path))[1:]]


@pytest.mark.parametrize("compared", [in_bazaar(), in_arena()], ids=lambda one: one.game.name)
def test_the_defaults_of_a_comparison_are_the_settings_of_its_artifact(compared):
    assert json.loads(json.dumps(compared.config)) == load(compared.file).config


@pytest.mark.parametrize(
    "wrong", [{"baseline": "mini"}, {"grids": (*GRIDS, Grid(("bazaar/open-3",), ("wait",), 9))}]
)
def test_a_comparison_that_cannot_be_is_refused_before_anything_is_played(wrong, tmp_path):
    with pytest.raises(ValueError, match="must be played on all"):
        compare_models(replace(TINY, **wrong), Store(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_each_stages_first_batch_is_played_again(data):
    stages = ("null", "null+steering")
    compared = replace(TINY, stages=stages)
    pairs = list(replay_stages(compared, data, "bazaar/mute-3"))
    assert tuple(pair.cell.policy for pair in pairs) == stages
    for pair in pairs:
        assert len(pair.replayed["grade"]) == TINY.batch
        assert pair.recorded == pair.replayed
    with pytest.raises(ValueError, match="no model was played on 'bazaar/x'; tasks are bazaar"):
        list(replay_stages(compared, data, "bazaar/x"))


def test_gains_and_rivalries_are_mean_differences_on_the_same_seeds(tmp_path):
    task = "arena/market_round"
    compared = in_arena((Grid((task,), ("wait", "broker", "autarky", "random"), 6),))
    compared = replace(compared, stages=("wait", "broker"), parents={"broker": "wait"})
    data = compare_models(compared, Store(tmp_path))
    grades = {name: np.array(columns["grade"]) for name, columns in data["episodes"][task].items()}
    (gain,) = data["stage_gains"]
    (rivalry,) = data["rivalries"]  # with a rival that was played, and not with itself
    assert (gain["after"], gain["before"], gain["n"]) == ("broker", "wait", 6)
    assert (rivalry["policy"], rivalry["rival"], rivalry["n"]) == ("broker", "autarky", 6)
    for row, other in ((gain, "wait"), (rivalry, "autarky")):
        assert row["difference"] == pytest.approx(
            (grades["broker"] - grades[other]).mean(), abs=1e-6
        )
