"""What the Hub reads: folders that keep its documented rules and agree with the games on record."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from huggingface_hub import metadata_load

from env import TASKS, get_task, new_chat, rollout
from sauda.__main__ import main as sauda_command
from sauda.llm.model import ADAPTERS
from sauda.players import scripts_of
from sauda.records.seeds import SPLITS
from sauda.records.store import load, sha256

pytestmark = pytest.mark.slow


def content(file: Path) -> dict:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "dataset"
    ordered = ["publish", "dataset", "--folder", str(folder), "--space", "me/sauda", "--seeds", "1"]
    assert sauda_command(ordered) == 0
    return folder


def test_the_data_set_is_an_environment_and_a_benchmark_by_the_hubs_rules(dataset):
    configs = {
        row["config_name"]: row["data_files"]
        for row in metadata_load(dataset / "README.md")["configs"]
    }
    for files in configs.values():
        assert all((dataset / file["path"]).is_file() for file in files)
    splits = [file["split"] for file in configs["tasks"]]
    manifest, benchmark = content(dataset / "environment.yaml"), content(dataset / "eval.yaml")
    assert manifest["spec_version"] == "hf-rl-env-0.1"
    assert len({each["id"] for each in manifest["environments"]}) == len(TASKS)
    for each in manifest["environments"]:
        assert each["config_name"] in configs
        assert each["splits"] == splits
        assert each["frameworks"]["openenv"]["space_id"] == "me/sauda"
    assert benchmark["name"]
    assert benchmark["evaluation_framework"] == "inspect-ai"
    for each in benchmark["tasks"]:
        assert each["id"] in {each["id"] for each in manifest["environments"]}
        assert (each["config"], each["split"]) == ("tasks", "holdout")


def test_a_row_of_a_task_asks_what_the_game_asks(dataset):
    for split in SPLITS:
        rows = pd.read_parquet(dataset / "tasks" / f"{split}.parquet")
        assert list(rows["task"]) == list(TASKS)
        for row in rows.to_dict("records"):
            info = json.loads(row["info"])
            asked = new_chat(get_task(info["game"]), info["seed"]).messages()
            assert list(row["prompt"]) == asked
            assert info["seed"] in SPLITS[split]


def test_a_recorded_game_can_be_played_again_from_its_row(dataset):
    for split in SPLITS:
        rows = pd.read_parquet(dataset / "games" / f"{split}.parquet")
        assert rows["seed"].isin(SPLITS[split]).all()
        for name in ("classic/career_10", "bazaar/open-3", "arena/single_trade"):
            task = get_task(name)
            scripts, played = scripts_of(task), rows[rows["task"] == name]
            row = played[played["policy"].isin(scripts) & (played["seed"] % 50_000 == 2)].iloc[0]
            again = rollout(task, scripts[row["policy"]], int(row["seed"]))
            assert round(task.grade(again.final), 6) == row["grade"]


def test_a_model_goes_with_its_results_and_where_they_come_from(tmp_path, capsys):
    ordered = ["publish", "model", "talks", "--folder", str(tmp_path), "--dataset", "me/games"]
    assert sauda_command(ordered) == 0
    assert "a dry run" in capsys.readouterr().out
    weights = "adapter_model.safetensors"
    assert sha256(tmp_path / weights) == sha256(ADAPTERS / "talks" / weights)
    assert metadata_load(tmp_path / "README.md")["datasets"] == ["me/games"]
    data = load("evaluation/model-comparison.json").data
    grades = {row.task: row.grade.mean for row in data.rows if row.policy == "mini+talks"}
    results = content(tmp_path / ".eval_results" / "sauda.yaml")
    assert {row["dataset"]["task_id"]: row["value"] for row in results} == {
        name.replace("/", "_"): grade for name, grade in grades.items()
    }
    for row in results:
        assert row["dataset"]["id"] == "me/games"
        assert row["source"]["url"].startswith("https://")
        assert "n = " in row["notes"]


@pytest.mark.parametrize(
    ("adapter", "held", "words"),
    [
        ("nobody", [], "adapters are "),
        ("roles-buyer", [], "no recorded games"),
        ("sft", ["mine.txt"], "name a new folder"),
    ],
)
def test_an_unmeasured_adapter_and_a_folder_that_holds_something_are_refused(
    adapter, held, words, tmp_path, capsys
):
    for name in held:
        (tmp_path / name).touch()
    ordered = ["publish", "model", adapter, "--folder", str(tmp_path), "--dataset", "me/games"]
    assert sauda_command(ordered) != 0
    assert words in capsys.readouterr().err
