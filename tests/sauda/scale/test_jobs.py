"""Jobs: the script, the machines that are asked for, a run that is kept and gone on with."""

import inspect
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import HfApi, JobHardwareInfo
from huggingface_hub.errors import HfHubHTTPError

from sauda import __main__ as command
from sauda.records.provenance import REPOSITORY as SOURCE
from sauda.scale import kept_runs
from sauda.scale.hardware import FLAVORS, Flavor, fitting, flavor, from_hub, memory_needed
from sauda.scale.job import Job, script, submit
from sauda.scale.request import NoMachine
from sauda.train import STAGES
from sauda.train.common import STATE_FILE, checkpoints_in, last_checkpoint, run_name
from sauda.train.model import PARAMETERS

ADDRESS = "https://example.org/me/sauda"
SECRET = "hf_not_to_be_seen"
TWO = (flavor("l4x1"), flavor("a10g-small"))
JOB = Job(("sft",), "mini", "me/results", ADDRESS, "0" * 40, TWO)
pytestmark = pytest.mark.xdist_group("model")


def shellcheck(text: str, *options: str) -> tuple[int, str]:
    """The code and the findings of shellcheck, which comes with the dev extra."""
    program = Path(sys.executable).with_name("shellcheck")
    run = subprocess.run([program, *options, "-"], input=text, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("model", [*PARAMETERS, "some/repository"])
@pytest.mark.parametrize("stages", [*((stage,) for stage in STAGES), STAGES])
def test_the_script_passes_shellcheck(stages, model):
    job = replace(JOB, stages=stages, model=model)
    assert shellcheck(script(job)) == (0, "")
    assert shellcheck(script(replace(job, source="/a/tree", revision="", flavors=()))) == (0, "")


def test_names_reach_the_script_as_they_are_and_none_is_run(tmp_path):
    odd = [
        "a b",
        "it's",
        'say "no"',
        f"$(touch {tmp_path}/ran)",
        f"`touch {tmp_path}/ran`",
        "x\n#y",
    ]
    for name in odd:
        job = replace(
            JOB, model=name, source=f"/{name}", folder=f"/{name}", results=f"file:/{name}"
        )
        text = script(job)
        # SC2016 asks whether a $(...) in single quotes is meant not to run: it is
        assert shellcheck(text, "--exclude=SC2016") == (0, "")
        settings = text[: text.index("\nset -")]
        command_line = 'printf "%s\\0" "$model" "$source" "$work" "$results"'
        read = subprocess.run(
            ["bash", "-c", f"{settings}\n{command_line}"], capture_output=True, text=True
        )
        assert read.stdout.split("\0")[:-1] == [name, f"/{name}", f"/{name}", f"file:/{name}"]
        last = text.rstrip("\n").rpartition("train sft ")[2]
        named = subprocess.run(["bash", "-c", f"printf %s {last}"], capture_output=True, text=True)
        assert named.stdout == run_name("sft", name)
    assert not (tmp_path / "ran").exists()


def test_a_stage_goes_on_from_the_one_before_it_in_the_same_job():
    text = script(replace(JOB, stages=STAGES, model="8b"))
    assert text.splitlines()[-4:] == [
        "train sft sft-8b",
        'train distill distill-8b --init-adapter "$work/runs/sft/adapter"',
        'train grpo grpo-8b --init-adapter "$work/runs/sft/adapter"',
        'train dpo dpo-8b --init-adapter "$work/runs/grpo/adapter"',
    ]
    assert script(replace(JOB, stages=("dpo",))).endswith("\ntrain dpo dpo\n")


def test_flavors_are_those_with_the_memory_the_cheapest_first():
    for needed, device in itertools.product((1e9, 23e9, 30e9, 90e9), ("cpu", "cuda")):
        fit = fitting(needed, device)
        assert [f.price for f in fit] == sorted(f.price for f in fit)
        assert set(fit) == {f for f in FLAVORS if f.device == device and f.memory * 1e9 >= needed}
    with pytest.raises(ValueError, match=r"needs 200 GB and the largest flavor, h200, has 141"):
        fitting(200e9)


def test_every_flavor_is_one_that_the_hub_rents_out():
    from huggingface_hub import JobHardware

    assert {f.name for f in FLAVORS} <= {hardware.value for hardware in JobHardware}


def test_memory_follows_the_precision_and_the_stages_that_hold_a_player_beside_the_learner():
    sft, both, nf4 = (
        memory_needed("8b", "cuda", precision, stages)
        for precision, stages in (("bf16", ["sft"]), ("bf16", ["sft", "grpo"]), ("nf4", STAGES))
    )
    assert fitting(sft)[0].name == "l40sx1"
    assert fitting(both)[0].name == "a100-large"
    assert both == pytest.approx(1.5 * sft)
    assert fitting(nf4)[0].name == "l4x1"
    assert memory_needed("toy", "cpu", "bf16") == memory_needed("toy", "cpu", "nf4") < 1e9


class Listing:
    """The Hub's list of machines, as its API answers."""

    def list_jobs_hardware(self):
        gpu = {"type": "gpu", "manufacturer": "Nvidia"}
        l4 = gpu | {"model": "L4", "quantity": "1", "vram": "24 GB"}
        machines = (
            ("cpu-basic", "16 GB", None, 0.01 / 60, "minute"),
            (
                "t4-small",
                "15 GB",
                gpu | {"model": "T4", "quantity": "1", "vram": "16 GB"},
                0.1,
                "hour",
            ),
            ("l4x1", "30 GB", l4, 0.80 / 60, "minute"),
            ("l4x4", "186 GB", l4 | {"quantity": "4", "vram": "96 GB"}, 3.80 / 60, "minute"),
            ("giant", "2 TB", l4 | {"model": "X1", "vram": "1 TB"}, 9.0, "hour"),
        )
        return [
            JobHardwareInfo(
                name=name, prettyName=name, cpu="2 vCPU", ram=ram, accelerator=accelerator,
                unitCostMicroUSD=0, unitCostUSD=cost, unitLabel=unit,
            )
            for name, ram, accelerator, cost, unit in machines
        ]  # fmt: skip


def test_a_submission_chooses_among_the_machines_that_the_hub_lists_with_one_gpu_and_bf16():
    assert from_hub(Listing()) == (
        Flavor("cpu-basic", "cpu", 16, 0.01),
        Flavor("l4x1", "cuda", 24, 0.80),
        Flavor("giant", "cuda", 1000, 9.0),
    )


class Hub:
    """What the Hub answers, a flavor: a code of refusal, or a job. It takes what `HfApi` takes."""

    def __init__(self, **codes: int) -> None:
        self.codes, self.requests = codes, []

    def run_job(self, **arguments):
        inspect.signature(HfApi.run_job).bind(self, **arguments)
        self.requests.append(arguments)
        if code := self.codes.get(arguments["flavor"].replace("-", "_")):
            response = SimpleNamespace(headers={}, request=None, status_code=code)
            raise HfHubHTTPError("refused", response=response, server_message=f"told {code}")
        return SimpleNamespace(id="7", url="https://example.org/jobs/7")


def test_a_job_is_handed_over_whole_and_its_token_as_a_secret_alone():
    hub, lines = Hub(), []
    assert submit(JOB, hub, SECRET, lines.append).id == "7"
    (request,) = hub.requests
    assert request["image"] == JOB.image
    assert request["command"] == ["bash", "-c", script(JOB)]
    assert request["flavor"] == "l4x1"
    assert (request["timeout"], request["attempts"]) == ("6h", 2)
    assert request["secrets"] == {"HF_TOKEN": SECRET}
    assert SECRET not in script(JOB)
    assert lines == ["job 7 on l4x1, $0.80/h: https://example.org/jobs/7"]


def test_where_a_flavor_is_refused_the_next_is_asked_for():
    hub, lines = Hub(l4x1=503), []
    submit(JOB, hub, SECRET, lines.append)
    assert [request["flavor"] for request in hub.requests] == ["l4x1", "a10g-small"]
    assert lines[0] == "refused l4x1: told 503"
    assert "on a10g-small, $1.00/h" in lines[1]


def test_where_every_flavor_is_refused_each_reason_is_told():
    with pytest.raises(NoMachine, match=r"l4x1: told 400; a10g-small: told 503"):
        submit(JOB, Hub(l4x1=400, a10g_small=503), SECRET, print)


@pytest.mark.parametrize("code", [401, 402, 403, 500])
def test_no_other_flavor_is_asked_for_where_it_would_not_help_or_could_cost_twice(code):
    hub = Hub(l4x1=code)
    with pytest.raises(HfHubHTTPError):
        submit(JOB, hub, SECRET, print)
    assert len(hub.requests) == 1


@pytest.mark.parametrize(
    ("job", "token", "fault"),
    [
        (JOB, "", "needs a token that may write"),
        (replace(JOB, source="/a/tree"), SECRET, "cannot reach the folder /a/tree"),
        (replace(JOB, results="file:/kept"), SECRET, "cannot reach file:/kept"),
    ],
)
def test_a_job_that_could_not_run_on_the_hub_is_refused_before_it_is_sent(job, token, fault):
    hub = Hub()
    with pytest.raises(ValueError, match=fault):
        submit(job, hub, token, print)
    assert not hub.requests


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["walk"], "no stage 'walk'; stages are sft, distill, grpo, dpo, or all"),
        (["sft", "--flavor", "abacus"], "no flavor 'abacus'; flavors are cpu-basic"),
        (["sft", "--flavor", "cpu-basic", "l4x1"], "all with a GPU or all without"),
        (["sft", "--flavor", "l4x1", "--model", "8b"], "needs 32 GB and l4x1 has 24"),
        (["sft", "--timeout", "soon"], "such as 90m; not 'soon'"),
        (["sft", "--timeout", "0h"], "such as 90m; not '0h'"),
        (["sft", "--attempts", "0"], "1 attempt or more; not 0"),
        (["sft", "--model", "some/model"], "no size is known of 'some/model'"),
        (["sft", "--revision", "main"], "the hash of a commit by --revision; not 'main'"),
        (["sft", "--to", "nowhere"], "OWNER/NAME or a folder file:PATH; not 'nowhere'"),
        (["sft", "--source", f"https://me:{SECRET}@example.org/x"], "give one without"),
    ],
)
def test_a_mistake_in_the_arguments_is_reported_in_one_sentence(arguments, fault, capsys):
    usual = ["jobs", "train", "--dry-run", "--to", "me/results", "--source", ADDRESS]
    assert command.main([*usual, *arguments]) == 2
    out, error = capsys.readouterr()
    assert fault in error
    assert error.count("\n") == 1
    assert out == ""
    assert SECRET not in error


def test_a_dry_run_shows_the_job_and_of_its_secrets_the_names(monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", SECRET)
    arguments = ["jobs", "train", "sft", "--dry-run", "--to", "me/results", "--source", ADDRESS]
    assert command.main([*arguments, "--revision", "0" * 40]) == 0
    out = capsys.readouterr().out
    assert SECRET not in out
    assert "HF_TOKEN" in out
    assert "l4x1 (24 GB, $0.80/h), else a10g-small (24 GB, $1.00/h)" in out
    assert "6h, 2 attempts at most" in out
    assert out.endswith(script(replace(JOB, flavors=fitting(1e9))))


def test_a_real_submission_without_a_token_says_what_it_wants(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    assert command.main(["jobs", "train", "sft", "--to", "me/results", "--source", ADDRESS]) == 2
    assert "needs a token that may write" in capsys.readouterr().err


def run_in(folder: Path, steps: int, torn: int = 0) -> Path:
    """A run's folder with a whole checkpoint at each of `steps`, and a half one at `torn`."""
    run = folder / "sft"
    run.mkdir(parents=True)
    for step in [*range(1, steps + 1), *([torn] if torn else [])]:
        checkpoint = run / f"checkpoint-{step}"
        checkpoint.mkdir()
        (checkpoint / STATE_FILE).write_text("{}" if step != torn else "{")
    (run / "run.json").write_text("{}")
    return run


def test_an_uploaded_run_can_be_resumed(tmp_path):
    kept = f"file:{tmp_path / 'kept'}"
    kept_runs.upload(run_in(tmp_path, 3, torn=4), kept)
    shutil.rmtree(tmp_path / "sft" / "checkpoint-1")
    kept_runs.upload(tmp_path / "sft", kept)
    back = kept_runs.download("sft", kept, tmp_path / "elsewhere")
    assert sorted(p.name for p in back.glob("checkpoint-*")) == ["checkpoint-2", "checkpoint-3"]
    assert last_checkpoint(back).name == "checkpoint-3"
    assert [p.name for p in (tmp_path / "kept").iterdir()] == ["sft"]
    assert kept_runs.download("dpo", kept, tmp_path / "elsewhere") is None


def test_a_run_is_found_where_an_upload_was_killed_as_it_was_replaced(tmp_path):
    run_in(tmp_path / "kept", 2).rename(tmp_path / "kept" / ".sft.before")
    back = kept_runs.download("sft", f"file:{tmp_path / 'kept'}", tmp_path)
    assert last_checkpoint(back).name == "checkpoint-2"


class Repository:
    """A repository of results; it takes what `HfApi` takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create_repo(self, *arguments, **named):
        inspect.signature(HfApi.create_repo).bind(self, *arguments, **named)
        assert named["private"]
        self.folder.mkdir(exist_ok=True)

    def upload_folder(self, **arguments):
        inspect.signature(HfApi.upload_folder).bind(self, **arguments)
        assert arguments["delete_patterns"] == ["*"]
        shutil.rmtree(self.folder / arguments["path_in_repo"], ignore_errors=True)
        shutil.copytree(arguments["folder_path"], self.folder / arguments["path_in_repo"])

    def snapshot_download(self, *arguments, local_dir, allow_patterns):
        named = {"local_dir": local_dir, "allow_patterns": allow_patterns}
        inspect.signature(HfApi.snapshot_download).bind(self, *arguments, **named)
        shutil.copytree(self.folder, local_dir, dirs_exist_ok=True)


def test_a_run_comes_back_from_a_repository(tmp_path):
    hub = Repository(tmp_path / "hub")
    (there := tmp_path / "there").mkdir()
    assert kept_runs.download("sft", "me/results", there, hub) is None
    kept_runs.upload(run_in(tmp_path, 2), "me/results", hub)
    back = kept_runs.download("sft", "me/results", there, hub)
    assert last_checkpoint(back).name == "checkpoint-2"
    assert [p.name for p in there.iterdir()] == ["sft"]


def local(folder: Path, kept: Path, every: int = 60) -> Job:
    """A toy's job on this machine, which uploads `every` so many seconds."""
    kept_in = f"file:{kept}"
    return Job(("sft",), "toy", kept_in, str(SOURCE), folder=str(folder), every=every)


def started(job: Job, python: str | Path = sys.executable) -> subprocess.Popen:
    environment = {**os.environ, "SAUDA_PYTHON": str(python), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        ["bash", "-c", script(job)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def running(folder: Path) -> list[str]:
    """The command lines of live processes that name `folder`."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        if str(folder) in line:
            lines.append(line)
    return lines


# A Python whose training has checkpoints without a network in them and a child beside it. It waits
# after the second checkpoint, and ends at the fourth where it goes on with a run.
PYTHON = f"""#!{sys.executable}
import json, os, subprocess, sys, time
from pathlib import Path

if sys.argv[1:4] != ["-m", "sauda", "train"]:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
sys.path.insert(0, os.getcwd())
from sauda.train.common import STATE_FILE, checkpoints_in

run, goes_on = Path(sys.argv[sys.argv.index("--out") + 1]), "--resume" in sys.argv
child = subprocess.Popen([sys.executable, "-c", "input()", str(run)], stdin=subprocess.PIPE)
begun = max(checkpoints_in(run), default=0)
run.mkdir(parents=True, exist_ok=True)
(run / "run.json").write_text("{{}}")
for step in range(begun + 1, 5 if goes_on else 3):
    checkpoint = run / f"checkpoint-{{step}}"
    checkpoint.mkdir()
    (checkpoint / STATE_FILE).write_text("{{}}")
if not goes_on:
    time.sleep(600)
child.communicate(b"\\n")
"""


@pytest.mark.nightly
def test_a_job_that_is_ended_leaves_nothing_running_and_the_next_finishes_its_stage(tmp_path):
    python, kept = tmp_path / "python", tmp_path / "it's kept" / "sft"
    python.write_text(PYTHON)
    python.chmod(0o755)
    first = started(local(tmp_path / "one", kept.parent, every=1), python)
    run = tmp_path / "one" / "runs" / "sft"
    while not ((kept / "run.json").exists() and (run / "checkpoint-2" / STATE_FILE).exists()):
        assert first.poll() is None, first.stdout.read()
        time.sleep(0.1)
    assert len(running(run)) >= 2  # what trains, and its child
    first.send_signal(signal.SIGTERM)
    out, _ = first.communicate(timeout=120)
    assert first.returncode == 143, out
    assert "resuming" not in out
    assert not running(tmp_path)
    assert last_checkpoint(kept).name == "checkpoint-2"

    second = started(local(tmp_path / "two", kept.parent), python)
    out, _ = second.communicate(timeout=120)
    assert second.returncode == 0, out
    assert "resuming the run of sft" in out
    assert sorted(checkpoints_in(kept)) == [1, 2, 3, 4]
    assert not running(tmp_path)


@pytest.mark.model
def test_a_stage_that_fails_is_kept_and_its_code_is_the_jobs(tmp_path):
    run = run_in(tmp_path / "one" / "runs", 0)  # of another stage altogether: it cannot be resumed
    (run / "run.json").write_text('{"model": "another"}')
    job = started(local(tmp_path / "one", tmp_path / "kept"))
    out, _ = job.communicate(timeout=300)
    assert job.returncode == 2, out
    assert "was started with another" in out
    assert (tmp_path / "kept" / "sft" / "run.json").read_text() == '{"model": "another"}'
    assert not running(tmp_path)


@pytest.mark.model
def test_the_command_runs_the_script_here_with_this_python(tmp_path):
    run_in(tmp_path / "runs", 0)
    arguments = ["--model", "toy", "--local", "--folder", str(tmp_path), "--to", "file:kept"]
    ended = subprocess.run(
        [sys.executable, "-m", "sauda", "jobs", "train", "sft", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 2, ended.stderr
    assert "was started with another" in ended.stderr
    assert (tmp_path / "kept" / "sft" / "run.json").exists()
    assert not (tmp_path / "venv").exists()
