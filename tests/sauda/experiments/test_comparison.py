"""The model comparison: batched play equals single games, stopped runs resume, counts are right;
which games before and after training are recorded and shown.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from env import get_task, rollout
from sauda.experiments import comparison
from sauda.experiments.comparison import Grid, compare_models, in_arena, in_bazaar
from sauda.experiments.episodes import before_after, choose
from sauda.experiments.verify import replay_stages, verify
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import episode_columns
from sauda.games.transcript import from_json
from sauda.llm.turn import PlayerSpec
from sauda.llm.wrappers import WRAPPERS
from sauda.played import Cell, Store, hashes, play_model, take_first
from sauda.players import player_spec
from sauda.records.schemas.episodes import SIDES
from sauda.records.store import Artifact, load, new_artifact, save
from tests.support.measured import PLAYERS
from tests.support.models import GARBAGE, bids

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


# Games before and after training


# Before and after ---------------------------------------------------------------------------------

FILE = before_after.file
TASK = "bazaar/open-3"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A root with an artifact of two canned players, the first of whom forfeits some games."""
    root = tmp_path_factory.mktemp("artifacts")
    config = {"before": "shaky", "after": "high", "tasks": (TASK, "bazaar/mute-3")}
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
