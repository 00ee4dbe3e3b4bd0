"""The model comparison: batched play equals single games, stopped runs resume, counts are right."""

import json
from dataclasses import replace

import numpy as np
import pytest

from env import get_task, rollout
from sauda.evaluation.batches import first
from sauda.evaluation.evaluate import play_cell
from sauda.evaluation.models import comparison
from sauda.evaluation.models.config import ArenaConfig, Config, Part
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import episode_columns
from sauda.llm.registry import player_spec
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Reply
from sauda.llm.wrappers import WRAPPERS
from sauda.records.store import parsed

SEEDS = range(50_000, 50_008)
OPEN = get_task("bazaar/open")


class Canned:
    """Writes 45 percent, or 2 % more than its last bid; garbage where its seed says so."""

    garbage_every = 7

    def __call__(self, messages, seed, schema=None):
        if seed % self.garbage_every == 0:
            return Reply("hm", "canned", 1, "stop")
        bids = [json.loads(m["content"])["offer"] for m in messages if m["role"] == "assistant"]
        last = bids[-1] if bids else 43
        return Reply(json.dumps({"offer": last + 2}), "canned", 5, "object")

    def batch(self, chats, seeds, schemas):
        return [self(*request) for request in zip(chats, seeds, schemas, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", [None, *WRAPPERS])
def test_games_in_step_are_the_games_played_alone(wrapper):
    player = PlayerSpec(Canned(), wrapper=wrapper and WRAPPERS[wrapper])
    columns = comparison.play_model(OPEN, player, SEEDS)
    alone = [rollout(OPEN, player.policy(BAZAAR), seed) for seed in SEEDS]
    shared = episode_columns(OPEN, alone)
    assert {name: columns[name] for name in shared} == shared
    assert columns["moves"] == [len(e.trajectory("buyer")) for e in alone]


def test_the_columns_are_those_of_an_evaluation():
    task = get_task("classic/career_10")
    learner = PlayerSpec(Canned()).policy(BAZAAR)
    played = [rollout(task, learner, seed) for seed in range(3)]
    assert (
        episode_columns(task, played).keys() == play_cell("", task.name, "linear", range(2)).keys()
    )


@pytest.mark.slow
def test_a_forfeit_is_counted_as_one_and_ends_its_game_alone():
    columns = comparison.play_model(OPEN, PlayerSpec(Canned()), SEEDS)
    assert sum(columns["invalid_replies"]) == columns["end"].count("F") > 0
    assert set(columns["end"]) != {"F"}
    assert all(tokens > 0 for tokens in columns["tokens"])


@pytest.mark.slow
def test_what_the_wrapper_changed_is_counted():
    columns = comparison.play_model(OPEN, player_spec("null+steering"), SEEDS)
    assert columns["changed"] == columns["invalid_replies"] == columns["moves"]
    assert "F" not in columns["end"]


PLAYED = ("null", "null+steering", "null+honest", "linear", "belief")
CONFIG = Config(
    (
        Part(("bazaar/open", "bazaar/rushed"), PLAYED, 4),
        Part(("classic/single_deal",), ("null", "linear"), 2),
    ),
    batch=3,
    baseline="null",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict:
    """The data of a whole run, as it is read again."""
    whole = comparison.compare_models(CONFIG, tmp_path_factory.mktemp("whole"))
    return json.loads(json.dumps(whole))


@pytest.mark.slow
def test_the_data_is_of_its_kind_and_comes_out_again(data):
    parsed("model_comparison/3", data)
    assert comparison.again(CONFIG, data) == data
    assert [row["policy"] for row in data["rows"][:5]] == list(PLAYED)
    assert [row["n"] for row in data["rows"]] == [4] * 10 + [2] * 2


@pytest.mark.nightly
def test_a_stopped_run_goes_on_where_it_was(data, tmp_path, monkeypatch):
    played = []
    play = comparison.play_model

    def stops(task, player, seeds):
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(seeds)
        return play(task, player, seeds)

    parts = tmp_path / "parts"
    monkeypatch.setattr(comparison, "play_model", stops)
    with pytest.raises(KeyboardInterrupt):
        comparison.compare_models(CONFIG, parts)
    assert len(list(parts.iterdir())) == 3
    monkeypatch.setattr(comparison, "play_model", play)
    before = {file: file.stat().st_mtime_ns for file in parts.iterdir()}
    assert json.loads(json.dumps(comparison.compare_models(CONFIG, parts))) == data
    assert {file: file.stat().st_mtime_ns for file in before} == before


@pytest.mark.nightly
def test_recorded_games_are_kept_while_their_model_is_the_same():
    config = Config((Part(("bazaar/open",), ("mini", "linear"), len(SEEDS)),))
    model = {"sha256": "a", "sampling": {"temperature": 0.7}, "prompt": "p", "cpu": "avx2"}
    columns = comparison.play_model(OPEN, PlayerSpec(Canned()), SEEDS)
    episodes = {"bazaar/open": {"mini": columns}}
    recorded = {"episodes": episodes, "rows": [], "models": {"mini": model}}
    kept = comparison.kept_episodes(config, {"mini": model}, recorded)
    assert kept == {("bazaar/open", "mini"): columns}
    assert comparison.kept_episodes(config, {"mini": model | {"cpu": ""}}, recorded) == kept
    for change in ({"sha256": "b"}, {"sampling": {"temperature": 0.2}}, {"prompt": "q"}):
        assert comparison.kept_episodes(config, {"mini": model | change}, recorded) == {}
    longer = replace(config, parts=(Part(("bazaar/open",), ("mini",), len(SEEDS) + 1),), batch=3)
    kept = comparison.kept_episodes(longer, {"mini": model}, recorded)
    assert kept == {("bazaar/open", "mini"): first(columns, 6)}  # whole batches alone


def test_games_of_a_model_are_kept_new_or_both():
    episodes = {
        ("a", name): {"grade": [0.0] * 4} for name in ("mini", "mini+sft", "null", "linear")
    }
    kept = {("a", "mini"): {"grade": [0.0] * 4}, ("a", "mini+sft"): {"grade": [0.0] * 2}}
    assert list(comparison.played_on(episodes | {("b", "mini"): {"grade": [0.0]}}, kept)) == [
        ("mini", True, False), ("mini+sft", True, True), ("mini", False, True),
    ]  # fmt: skip


@pytest.mark.nightly
def test_a_script_is_kept_while_its_code_is_the_same_and_only_new_seeds_are_played(data, tmp_path):
    linear = ("bazaar/open", "linear")
    recorded = json.loads(json.dumps(data))
    recorded["episodes"]["bazaar/open"]["linear"]["grade"][0] = 0.123
    kept = comparison.kept_episodes(CONFIG, data["models"], recorded)
    assert kept[linear]["grade"][0] == 0.123
    longer = replace(CONFIG, parts=(Part(("bazaar/open",), PLAYED, 6),))
    again = comparison.compare_models(longer, tmp_path, recorded)
    grades = again["episodes"]["bazaar/open"]["linear"]["grade"]
    assert grades[0] == 0.123
    assert (
        grades[1:]
        == comparison.compare_models(longer, tmp_path)["episodes"]["bazaar/open"]["linear"][
            "grade"
        ][1:]
    )
    next(row for row in recorded["rows"] if row["policy"] == "linear")["hashes"]["policy"] = "0"
    assert linear not in comparison.kept_episodes(CONFIG, data["models"], recorded)


@pytest.mark.slow
def test_rows_and_models_carry_their_hashes(data):
    hashes = [row["hashes"]["policy"] for row in data["rows"] if row["task"] == "bazaar/open"]
    assert len(set(hashes)) == len(PLAYED)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts": (Part(("bazaar/open",), ("null",), 0),)},
        {"batch": 0},
        {"baseline": "mini"},
        {"parts": (Part(("bazaar/open",), ("null", "mini+x"), 2),)},
        {"parts": (*CONFIG.parts, Part(("bazaar/open",), ("wait",), 9))},
    ],
)
def test_a_ladder_that_cannot_be_is_refused(wrong):
    from dataclasses import replace

    with pytest.raises(ValueError, match=r"episode|batch|played|no model"):
        replace(CONFIG, **wrong).cells()


@pytest.mark.slow
def test_each_stages_first_batch_is_played_again(data, monkeypatch):
    monkeypatch.setattr(Config, "stages", ("null", "null+steering"))
    bare, steered = comparison.stages_again(CONFIG, data, ["bazaar/rushed"])
    assert (bare.policy, steered.policy) == Config.stages
    for pair in (bare, steered):
        assert len(pair.again["grade"]) == CONFIG.batch
        assert pair.recorded == pair.again
    with pytest.raises(ValueError, match="no model was played on 'bazaar/x'; tasks are bazaar"):
        list(comparison.stages_again(CONFIG, data, ["bazaar/x"]))


# The arena


@pytest.mark.slow
def test_the_comparison_of_labs_is_of_its_kind_and_comes_out_again(tmp_path, monkeypatch):
    config = ArenaConfig(stages=("null",), policies=("planner", "wait"), episodes=5, batch=3)
    data = json.loads(json.dumps(comparison.compare_models(config, tmp_path)))
    parsed("arena_model_comparison/3", data)
    assert comparison.again(config, data) == data
    rows = {row["policy"]: row for row in data["rows"]}
    assert rows["null"]["invalid_replies"] == rows["null"]["actions"] > 0 == rows["null"]["valid"]
    assert rows["planner"]["grade"]["mean"] > rows["wait"]["grade"]["mean"]
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(kept) == 2
    assert json.loads(json.dumps(comparison.compare_models(config, tmp_path))) == data
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == kept


def test_a_stage_gain_is_the_mean_difference_on_the_same_seeds(tmp_path):
    config = ArenaConfig(stages=("wait", "planner"), policies=(), episodes=6)
    data = comparison.compare_models(config, tmp_path)
    (gain,) = data["stage_gains"]
    grades = [np.array(data["episodes"][name]["grade"]) for name in ("planner", "wait")]
    assert gain["n"] == 6
    assert gain["difference"] == pytest.approx((grades[0] - grades[1]).mean(), abs=1e-6)


def test_a_stage_is_compared_with_its_rivals_on_the_seeds_that_both_played(tmp_path):
    config = ArenaConfig(stages=("wait", "planner"), policies=("autarky", "random"), episodes=6)
    data = comparison.compare_models(config, tmp_path)
    (row,) = [row for row in data["rivalries"] if row["rival"] == "autarky"]
    ours, theirs = (np.array(data["episodes"][name]["grade"]) for name in ("planner", "autarky"))
    assert (row["policy"], row["n"]) == ("planner", 6)
    assert row["difference"] == pytest.approx((ours - theirs).mean(), abs=1e-6)
    assert {row["rival"] for row in data["rivalries"]} == {"autarky"}  # and not with itself


def test_a_strange_name_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(ValueError, match="model policy"):
        comparison.compare_models(ArenaConfig(stages=("mini+nobody",)), tmp_path)
    with pytest.raises(ValueError, match="at least 1"):
        comparison.compare_models(ArenaConfig(episodes=0), tmp_path)
