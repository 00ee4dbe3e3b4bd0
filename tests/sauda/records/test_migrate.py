"""Migrating renames keys and files, proves that it can be undone, and changes nothing else."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sauda.records.kinds import ArtifactError
from sauda.records.migrate import STEPS, Step, migrate, renamed, undone
from sauda.records.seal import broken, sealed
from sauda.records.store import ROOT, dumps, load, write

pytestmark = pytest.mark.slow

SPEED = {"label": "reply", "unit": "s", "n": 1, "middle": 0.5, "samples": [0.5, 1]}
OLD = {"machine": {"label": "kept"}, "speeds": [SPEED], "ratios": [], "left_out": []}
CONFIG = {"at_once": 3}
STEP = Step(
    "bench/1",
    "bench/2",
    {"speeds": "figures", "speeds.label": "name", "speeds.middle": "median"},
    {"at_once": "batch_size"},
    {"speed.json": "bench.json"},
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with a sealed file of the kind before."""
    put(tmp_path, OLD)
    return tmp_path


def put(root: Path, data: Any, config: Any = CONFIG) -> None:
    content = {"kind": "bench/1", "origin": "measured", "made": {"command": "bench"}}
    content |= {"config": config, "data": data}
    write(root / "speed.json", json.dumps(sealed(content)))


def test_a_file_gets_its_new_keys_its_new_name_and_a_seal_that_holds(old):
    assert migrate("speed.json", old, (STEP,)) == "bench.json"
    assert [path.name for path in old.iterdir()] == ["bench.json"]
    content = json.loads((old / "bench.json").read_text(encoding="utf-8"))
    assert broken(content) == []
    assert content["kind"] == "bench/2"
    assert content["config"] == {"batch_size": 3}
    assert content["data"] == {
        "machine": {"label": "kept"},
        "figures": [{"name": "reply", "unit": "s", "n": 1, "median": 0.5, "samples": [0.5, 1]}],
        "ratios": [],
        "left_out": [],
    }
    assert content["made"]["command"] == "bench"
    assert [note["kind"] for note in content["made"]["migrated"]] == ["bench/1"]
    assert load("bench.json", old).data.figures[0].median == 0.5


def test_a_file_of_its_newest_kind_is_left_alone(old):
    migrate("speed.json", old, (STEP,))
    text = (old / "bench.json").read_text(encoding="utf-8")
    assert migrate("bench.json", old, (STEP,)) is None
    assert (old / "bench.json").read_text(encoding="utf-8") == text


def test_a_file_that_was_changed_or_has_no_seal_is_refused(old):
    content = json.loads((old / "speed.json").read_text(encoding="utf-8"))
    content["data"]["speeds"][0]["middle"] = 0.4
    write(old / "speed.json", json.dumps(content))
    with pytest.raises(ArtifactError, match=r"not as it was sealed: data\.speeds"):
        migrate("speed.json", old, (STEP,))
    del content["made"]["seal"]
    write(old / "speed.json", json.dumps(content))
    with pytest.raises(ArtifactError, match="there is no seal"):
        migrate("speed.json", old, (STEP,))


@pytest.mark.parametrize(
    "data",
    [OLD | {"figures": []}, OLD | {"speeds": [SPEED | {"median": 0.5}]}],
)
def test_a_new_key_beside_an_old_one_of_that_name_is_refused(tmp_path, data):
    put(tmp_path, data)
    with pytest.raises(ArtifactError, match="the old keys do not come back"):
        migrate("speed.json", tmp_path, (STEP,))


def test_a_result_that_is_not_of_its_kind_is_refused_and_nothing_is_written(tmp_path):
    put(tmp_path, {key: value for key, value in OLD.items() if key != "machine"})
    before = (tmp_path / "speed.json").read_bytes()
    with pytest.raises(ValueError, match=r"data\.machine: field required"):
        migrate("speed.json", tmp_path, (STEP,))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_any_key_of_a_mapping_may_stand_between():
    names = {"models.*.tokens": "max_new_tokens"}
    old = {"models": {"a.b": {"tokens": 1}, "c": {"tokens": 2}}, "tokens": 3}
    new = {"models": {"a.b": {"max_new_tokens": 1}, "c": {"max_new_tokens": 2}}, "tokens": 3}
    assert renamed(old, names) == new
    assert renamed(new, undone(names)) == old


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.before)
def test_committed_files_go_back_to_the_old_keys_and_forth_again(step: Step):
    for file in ROOT.rglob("*.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.get("kind") != step.after:
            continue
        for part, names in (("data", step.data), ("config", step.config)):
            back = renamed(content[part], undone(names))
            assert dumps(renamed(back, names)) == dumps(content[part])


def test_a_batch_is_counted_in_batches_of_one_device_where_the_step_says_so(tmp_path):
    names = {"at_once": "per_device_train_batch_size", "batch": "gradient_accumulation_steps"}
    step = replace(STEP, config=names, by_device=True)
    put(tmp_path, OLD, {"batch": 8, "at_once": 2})
    migrate("speed.json", tmp_path, (step,))
    assert load("bench.json", tmp_path).config == {
        "gradient_accumulation_steps": 4,
        "per_device_train_batch_size": 2,
    }
    put(tmp_path, OLD, {"batch": 8, "at_once": 3})
    with pytest.raises(ArtifactError, match="a batch of 8 is no multiple of 3"):
        migrate("speed.json", tmp_path, (step,))
