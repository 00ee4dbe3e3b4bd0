"""What the stages share: options, a run's folder, a run that is killed, what the artifact is."""

import json
import random
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sauda.__main__ import main
from sauda.commands.train import read_settings
from sauda.experiments.verify import verify
from sauda.llm.model import TRAINED, CannotLoad, load
from sauda.records.kinds import FILES, ArtifactError, entry
from sauda.records.store import REPOSITORY, ROOT, DamagedFile
from sauda.records.store import load as load_artifact
from sauda.train import STAGES, common, settings_of, sft
from sauda.train.common import Stopped
from sauda.train.grpo import GRPOSettings
from sauda.train.selector import SelectorSettings
from tests.support.cases import cases

pytestmark = pytest.mark.xdist_group("model")
TOY = sft.SFTSettings(
    per_device_train_batch_size=4, num_train_epochs=1, model="toy", rows=26, save_steps=2,
    acceptance_prompts=3, eval_games=1, teacher="sauda.policies.bazaar:linear",
)  # fmt: skip
NOT_REPEATABLE = ("seconds", "step_time", "memory", "hardware", "origin", "resumed")


def settings(stage, *arguments):
    """The settings that `python -m sauda train` makes of its arguments."""
    return read_settings(stage, arguments)[0]


@pytest.mark.parametrize("stage", [*STAGES, "roles"])
def test_every_setting_of_a_stage_is_an_option_with_its_default(stage):
    first, *_ = settings_of(stage).values()
    assert settings(stage) == first()


def test_options_are_read_in_both_spellings_and_the_game_decides_the_defaults(capsys):
    assert settings("sft", "--game", "arena") == sft.ArenaSFTSettings()
    both = ("--max-steps", "2", "--per_device_train_batch_size", "1")
    assert settings("sft", *both) == sft.SFTSettings(max_steps=2, per_device_train_batch_size=1)
    assert settings("grpo", "--model", "toy", "--max-steps", "9").max_steps == 9
    mixed = ("bazaar/open-3", "classic/single_deal")
    assert settings("grpo", "--tasks", *mixed) == GRPOSettings(tasks=mixed)
    for refused in (("dpo", "--game", "arena"), ("sft", "--epochs", "1")):
        with pytest.raises((SystemExit, ValueError)):
            settings(*refused)
    assert "invalid choice: 'arena'" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "reason"), cases("train_refused.csv", "train"))
def test_a_run_that_cannot_be_is_one_sentence_and_no_run(
    options, reason, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.json").write_text('{"text": "hello"}\n')
    assert main(["train", *options.split(), "--out", "run"]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert reason in sentence
    assert not (tmp_path / "run").exists()


KINDS = ("training_run/1", "role_run/1")
RUNS = [e for e in FILES if e.kind in KINDS and " train " in e.command and (ROOT / e.file).exists()]


@pytest.mark.parametrize("known", RUNS)
def test_a_committed_run_is_the_one_that_its_registered_command_makes(known):
    """A setting added later has its default, and one that is gone had no other."""
    stage, *options = shlex.split(known.command.removeprefix("python -m sauda train "))
    made, recorded = settings(stage, *options), load_artifact(known.file).config
    now = json.loads(json.dumps(asdict(made)))
    names = (recorded.keys() & now.keys()) - {"threads", "minutes"}  # of the machine
    assert {name: recorded[name] for name in names} == {name: now[name] for name in names}
    assert known.file == f"training/{made.name}.json"


def test_the_defaults_of_the_selector_are_the_settings_of_its_published_run():
    recorded = load_artifact("training/selector.json").settings()
    assert recorded == asdict(SelectorSettings())


@pytest.mark.parametrize("name", ["sft-seed2", "sft-arena-8b", "roles-opener-deal_or_no_deal"])
def test_a_run_of_ones_own_has_a_kind_by_its_name(name):
    kind = "role_run/1" if name.startswith("roles") else "training_run/1"
    assert entry(f"training/{name}.json").kind == kind
    with pytest.raises(ArtifactError, match="no artifact"):
        entry(f"training/un{name}.json")


def test_a_run_is_resumed_with_other_threads_and_with_nothing_else_changed(tmp_path):
    common.keep_settings(tmp_path, {"max_steps": 8}, resume=False)
    common.keep_settings(tmp_path, {"max_steps": 4, "threads": 1}, resume=False)  # none began
    common.keep_settings(tmp_path, {"max_steps": 4, "threads": 2}, resume=True)
    with pytest.raises(Stopped, match="started with another max_steps"):
        common.keep_settings(tmp_path, {"max_steps": 8, "threads": 1}, resume=True)
    with pytest.raises(Stopped, match="no run in"):
        common.keep_settings(tmp_path / "none", {}, resume=True)
    (tmp_path / "run.json").write_text('{"seed": 1,\n "steps": }')
    with pytest.raises(DamagedFile, match=r"run\.json is damaged: line 2, column 11"):
        common.keep_settings(tmp_path, {}, resume=True)


def test_a_new_run_learns_from_no_rows_that_other_settings_made(tmp_path):
    common.keep_settings(tmp_path, {"first_seed": 0, "threads": 1}, resume=False)
    (tmp_path / "rows.jsonl").write_text("")
    common.keep_settings(tmp_path, {"first_seed": 0, "threads": 2}, resume=False)
    with pytest.raises(Stopped, match=r"rows in .* are of a run with another first_seed"):
        common.keep_settings(tmp_path, {"first_seed": 9, "threads": 2}, resume=False)


@pytest.mark.parametrize("name", ["math:none", "nowhere:at_all", "math:pi"])
def test_what_is_no_function_is_no_part_of_ones_own(name):
    with pytest.raises(ValueError, match=f"expected module:function, and '{name}'"):
        common.named_object(name)


def test_a_checkpoint_without_its_last_file_does_not_count(tmp_path):
    assert common.last_checkpoint(tmp_path) is None
    for step, state in ((2, "{}"), (4, "{}"), (10, None), (12, '{"global_st')):
        (folder := tmp_path / f"checkpoint-{step}").mkdir()
        if state:
            (folder / common.STATE_FILE).write_text(state)
    assert common.last_checkpoint(tmp_path).name == "checkpoint-4"
    with pytest.raises(Stopped, match="there is a run"):
        common.keep_settings(tmp_path, {}, resume=False)
    with pytest.raises(Stopped, match=r"loss is nan at step 3; .*checkpoint-4 is kept"):
        common.check_finite({"loss": float("nan")}, 3, tmp_path)


def repeatable(value: Any) -> Any:
    """A run's data without what is another in every run: times, memory, machine."""
    if isinstance(value, dict):
        return {k: repeatable(v) for k, v in value.items() if k not in NOT_REPEATABLE}
    return [repeatable(each) for each in value] if isinstance(value, list) else value


@pytest.mark.nightly
@pytest.mark.model
def test_a_run_ends_after_its_minutes_with_what_it_has(tmp_path):
    brief = replace(TOY, minutes=1e-6)
    data = sft.train(brief, tmp_path)
    assert [row["step"] for row in data["log"]] == [1]
    assert data["rows"]["rows"] == brief.per_device_train_batch_size  # of those that were made
    assert data["rows"]["tokens"]["all"] == data["num_tokens"]
    assert [row["step"] for row in data["checkpoint_evaluations"]] == [1]
    again = sft.train(brief, tmp_path, resume=True)  # it has had them
    assert repeatable(again) == repeatable(data)


@pytest.mark.nightly
@pytest.mark.model
def test_a_run_can_be_verified_and_its_adapter_knows_its_base(tmp_path):
    data = sft.train(TOY, folder := tmp_path)
    assert [row["step"] for row in data["checkpoint_evaluations"]] == [2, 4, 6, 7]
    again = sft.train(TOY, folder, resume=True)  # there is nothing left to train
    assert repeatable(again) == repeatable(data)
    assert verify("training/sft-toy.json", root=folder) == []
    adapter = folder / "adapters" / "sft-toy"
    record = json.loads((adapter / TRAINED).read_text())
    (adapter / TRAINED).write_text(json.dumps(record | {"base_sha256": "0" * 64}))
    with pytest.raises(CannotLoad, match="was trained on weights 0000"):
        load(f"{folder / 'base'}+{adapter}")


def start_training(folder: Path, stage: str, *options: str) -> subprocess.Popen:
    """A process that trains a toy in a folder, or resumes the run that is there."""
    resume = ["--resume"] if (folder / "run.json").exists() else []
    command = [sys.executable, "-m", "sauda", "train", stage, "--model", "toy", *options]
    return subprocess.Popen(
        [*command, "--out", str(folder), *resume],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


STAGES_WITH_KILLS = {  # the steps after which a run is killed, and its options
    "sft": ((3, 8, 12, 17, 23), ["--rows", "104", "--per-device-train-batch-size", "4"]),
    "grpo": ((1, 2), []),
    "dpo": ((1, 2), []),
    "roles": ((1, 5), ["--gradient-accumulation-steps", "1"]),
}


@pytest.mark.nightly
@pytest.mark.model
@pytest.mark.parametrize("stage", STAGES_WITH_KILLS)
def test_a_run_killed_again_and_again_ends_equal_to_an_unbroken_one(stage, tmp_path):
    """By `kill -9` at any moment after a checkpoint has begun to be written."""
    steps, options = STAGES_WITH_KILLS[stage]
    cut = tmp_path / "cut"
    options = [*options, "--save-steps", "1"]
    if stage != "roles":
        options += ["--eval-games", "0"]
    moments = random.Random(stage)
    for step in steps:
        child = start_training(cut, stage, *options)
        while max(common.checkpoints_in(cut), default=0) < step:
            assert child.poll() is None, f"it ended by itself with {child.returncode}"
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.1))
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    if stage == "sft":  # a job's next attempt finds the folder elsewhere
        cut = cut.rename(tmp_path / "moved")
    for folder in (cut, tmp_path / "whole"):
        assert start_training(folder, stage, *options).wait() == 0
    (file,) = (tmp_path / "whole" / "training").glob("*.json")
    killed, whole = (
        json.loads((folder / "training" / file.name).read_text())["data"]
        for folder in (cut, tmp_path / "whole")
    )
    assert killed["resumed"]
    assert repeatable(killed) == repeatable(whole)


@pytest.mark.nightly
@pytest.mark.model
def test_a_run_on_the_hub_is_brought_back_and_sends_every_checkpoint(tmp_path, monkeypatch):
    asked = []

    def bring(repository, local_dir):
        asked.append(repository)
        common.keep_settings(local_dir, made | {"begins with": None}, resume=False)

    monkeypatch.setattr("huggingface_hub.snapshot_download", bring)
    on_hub = replace(TOY, push_to_hub=True, hub_model_id="me/sft")
    made = asdict(on_hub)
    arguments = common.training_arguments(common.start_run(on_hub, tmp_path, resume=True))
    assert asked == ["me/sft"]
    assert (arguments["push_to_hub"], arguments["hub_strategy"]) == (True, "all_checkpoints")


def test_an_adapter_that_fails_its_check_is_refused_and_not_published(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "ADAPTERS", tmp_path / "adapters")
    weights = SimpleNamespace(origin="here", sha256="0" * 64)
    base = SimpleNamespace(name="mini", weights=weights, precision="bf16")
    run = common.Run(sft.SFTSettings(), tmp_path, base)
    step = {"step": 1, "num_tokens": 3, "seconds": 1.0, "loss": 2.0}
    state = SimpleNamespace(log_history=[{"begun": 0, "hardware": {}}, step])
    failed = {"acceptance": {"passed": False, "valid": 0.5, "faults": []}}
    with pytest.raises(Stopped, match=r"refused the adapter: valid 0\.500"):
        common.save_run(run, SimpleNamespace(state=state), failed)
    assert json.loads((tmp_path / "refused.json").read_text())["log"] == [step]
    assert not (tmp_path / "adapters").exists()
