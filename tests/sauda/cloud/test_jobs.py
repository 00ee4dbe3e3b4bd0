"""Jobs of the Hub: the script, the machines that are asked for, a run that is kept and resumed."""

import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from huggingface_hub import HfApi, JobHardware
from huggingface_hub.errors import HfHubHTTPError

from sauda import __main__ as command
from sauda.cloud import CloudFault, jobs
from sauda.cloud.jobs import (
    FLAVORS,
    Job,
    ShardJobs,
    TrainingJob,
    choose_flavors,
    collect,
    cpu_flavors,
    flavor,
    submit,
)
from sauda.cloud.shards import Plan, merge, play_pieces
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.records.store import REPOSITORY as SOURCE
from sauda.train import STAGES
from sauda.train.common import STATE_FILE, checkpoints_in, last_checkpoint

ADDRESS, COMMIT = "https://example.org/me/sauda", "0" * 40
SECRET = "hf_not_to_be_seen"
HUB = {"results": "me/results", "source": ADDRESS, "revision": COMMIT}
TWO = (flavor("l4x1"), flavor("a10g-small"))
JOB = TrainingJob(stages=("sft",), model="mini", flavors=TWO, **HUB)
CONFIG = EvaluationSpec(("bazaar/open",), ("linear", "wait"), episodes=6, baseline="linear")
SHARDS = ShardJobs(
    plan=Plan(CONFIG, 3), shards=(1, 2, 3), flavors=cpu_flavors(["cpu-upgrade"]), **HUB
)
pytestmark = pytest.mark.xdist_group("model")


def shellcheck(text: str, *options: str) -> tuple[int, str]:
    """The code and the findings of shellcheck, which comes with the dev extra."""
    program = Path(sys.executable).with_name("shellcheck")
    run = subprocess.run([program, *options, "-"], input=text, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("stages", [("sft",), STAGES])
def test_the_scripts_pass_shellcheck(stages):
    job = replace(JOB, stages=stages)
    assert shellcheck(job.script()) == (0, "")
    here = replace(job, source="/a/tree", revision="", flavors=(), model="some/repository")
    assert shellcheck(here.script()) == (0, "")
    assert shellcheck(SHARDS.script(2)) == (0, "")


def test_flavors_are_those_of_the_hub_with_the_memory_the_cheapest_first():
    assert {f.name for f in FLAVORS} <= {hardware.value for hardware in JobHardware}
    fit = choose_flavors(30e9)
    assert [f.price for f in fit] == sorted(f.price for f in fit)
    assert set(fit) == {f for f in FLAVORS if f.device == "cuda" and f.memory >= 30}
    with pytest.raises(ValueError, match=r"needs 200 GB and the largest flavor, h200, has 141"):
        choose_flavors(200e9)
    with pytest.raises(ValueError, match="l4x1 has a GPU that nobody would use"):
        cpu_flavors(["cpu-upgrade", "l4x1"])


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


def hand_over(job: Job, hub: Hub, token: str = SECRET) -> list[str]:
    """What is said while the job is submitted."""
    said: list[str] = []
    submit(job, "a/name", job.script(), hub, token, said.append)
    return said


def test_a_job_is_handed_over_whole_and_its_token_as_a_secret_alone():
    hub = Hub()
    assert hand_over(JOB, hub) == ["job 7 on l4x1, $0.80/h: https://example.org/jobs/7"]
    (request,) = hub.requests
    assert (request["image"], request["name"]) == ("python:3.12", "a-name")
    assert request["command"] == ["bash", "-c", JOB.script()]
    assert (request["flavor"], request["timeout"], request["attempts"]) == ("l4x1", "6h", 2)
    assert request["secrets"] == {"HF_TOKEN": SECRET}
    assert SECRET not in JOB.script()


def test_where_a_flavor_is_refused_the_next_is_asked_for_and_else_each_reason_is_told():
    hub = Hub(l4x1=503)
    said = hand_over(JOB, hub)
    assert [request["flavor"] for request in hub.requests] == ["l4x1", "a10g-small"]
    assert said[0] == "refused l4x1: told 503"
    assert "on a10g-small, $1.00/h" in said[1]
    with pytest.raises(CloudFault, match=r"l4x1: told 400; a10g-small: told 503"):
        hand_over(JOB, Hub(l4x1=400, a10g_small=503))


@pytest.mark.parametrize("code", [401, 402, 403, 500])
def test_no_other_flavor_is_asked_for_where_it_would_not_help_or_could_cost_twice(code):
    hub = Hub(l4x1=code)
    with pytest.raises(HfHubHTTPError):
        hand_over(JOB, hub)
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
        hand_over(job, hub, token)
    assert not hub.requests


def local(folder: Path, kept: Path, every: int = 60) -> TrainingJob:
    """A toy's job on this machine, which uploads `every` so many seconds."""
    kept_in = f"file:{kept}"
    where = {"source": str(SOURCE), "folder": str(folder)}
    return TrainingJob(stages=("sft",), model="toy", results=kept_in, every=every, **where)


def started(job: TrainingJob, python: str | Path = sys.executable) -> subprocess.Popen:
    environment = {**os.environ, "SAUDA_PYTHON": str(python), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        ["bash", "-c", job.script()],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def running(folder: Path) -> list[str]:
    """The command lines of live processes that name `folder`."""
    lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
    return [line for line in lines if str(folder) in line]


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


FAKE = """#!/usr/bin/env bash
echo "$@" >> "$CALLS"
case "$*" in
*"shards play"*) mkdir -p "$parts"; echo '{}' > "$parts/plan.json"; exit "$PLAYED" ;;
*"jobs upload"*) echo . >> "$CALLS.uploads"; [ "$(wc -l < "$CALLS.uploads")" -gt "$REFUSED" ] ;;
esac
"""


def here(function, items):
    return ((item, function(item)) for item in items)


@pytest.mark.parametrize(
    ("played", "refused", "code", "uploads"),
    [(0, 0, 0, 1), (0, 2, 0, 3), (7, 1, 7, 2), (0, 9, 1, 5)],
)
def test_a_shard_is_kept_whatever_ended_it_and_a_refused_upload_is_repeated(
    played, refused, code, uploads, tmp_path
):
    """The job's Python and its pauses are stand-ins that note how they were called."""
    tools, calls = tmp_path / "tools", tmp_path / "calls"
    tools.mkdir()
    for name, text in (("python", FAKE), ("sleep", "#!/bin/sh\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    job = replace(SHARDS, source=str(tmp_path), revision="", folder=str(tmp_path / "work"))
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "SAUDA_PYTHON": str(tools / "python"),
        "CALLS": str(calls),
        "PLAYED": str(played),
        "REFUSED": str(refused),
        "parts": str(tmp_path / "work" / "shard-2-of-3"),
    }
    ended = subprocess.run(["bash", "-c", job.script(2)], env=environment, capture_output=True)
    assert ended.returncode == code, ended.stderr
    verbs = [" ".join(line.split()[2:4]) for line in calls.read_text().splitlines()]
    assert verbs == ["jobs download", "shards play", *["jobs upload"] * uploads]


def test_shards_that_come_back_from_the_results_merge_into_the_one_table(tmp_path):
    for shard in (1, 3):
        play_pieces(SHARDS.plan, tmp_path / "results" / f"shard-{shard}-of-3", here, [shard])
    results = f"file:{tmp_path / 'results'}"
    assert collect(results, 3, tmp_path / "parts") == [2]
    play_pieces(SHARDS.plan, tmp_path / "results" / "shard-2-of-3", here, [2])
    assert collect(results, 3, tmp_path / "parts") == []
    assert merge(tmp_path / "parts")[1] == evaluate(CONFIG, workers=1)


def test_a_dry_run_shows_the_jobs_with_their_cost_and_submits_nothing(monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_not_to_be_seen")
    arguments = ["--tasks", "bazaar/open", "--policies", "linear", "wait", "--episodes", "6"]
    arguments += ["--shards", "3", "--to", "me/results", "--dry-run"]
    arguments += ["--source", ADDRESS, "--revision", COMMIT]
    assert command.main(["shards", "submit", *arguments]) == 0
    out = capsys.readouterr().out
    assert "$0.36 at most: 3 jobs x 2 attempts x 2 h x $0.03/h" in out
    assert "\nplay --tasks bazaar/open --policies linear wait --split train --episodes 6" in out
    assert "flavors      cpu-upgrade" in out
    assert out.endswith(SHARDS.script(1))
    assert "hf_not_to_be_seen" not in out
    assert command.main(["shards", "submit", *arguments, "--shard", "4"]) == 2
    assert "numbered from 1 to 3; there is no 4" in capsys.readouterr().err


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
    jobs.upload(run_in(tmp_path, 3, torn=4), kept)
    shutil.rmtree(tmp_path / "sft" / "checkpoint-1")
    jobs.upload(tmp_path / "sft", kept)
    back = jobs.download("sft", kept, tmp_path / "elsewhere")
    assert sorted(p.name for p in back.glob("checkpoint-*")) == ["checkpoint-2", "checkpoint-3"]
    assert last_checkpoint(back).name == "checkpoint-3"
    assert [p.name for p in (tmp_path / "kept").iterdir()] == ["sft"]
    assert jobs.download("dpo", kept, tmp_path / "elsewhere") is None


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
    there = tmp_path / "there"  # made where it is missing
    assert jobs.download("sft", "me/results", there, hub) is None
    jobs.upload(run_in(tmp_path, 2), "me/results", hub)
    back = jobs.download("sft", "me/results", there, hub)
    assert last_checkpoint(back).name == "checkpoint-2"
    assert [p.name for p in there.iterdir()] == ["sft"]
