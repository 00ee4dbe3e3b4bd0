"""What is handed to the Hub: jobs that train and evaluate, runs that are kept there, the page."""

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
from typing import ClassVar

import httpx
import psutil
import pytest
from huggingface_hub import HfApi, JobHardware
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import httpx as hub_http

from sauda import __main__ as command
from sauda.cloud import CloudFault, jobs, space
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
from sauda.cloud.space import MOST_FILE, Staged, import_faults, stage, staging_faults
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.records.store import REPOSITORY
from sauda.train import STAGES
from sauda.train.common import STATE_FILE, checkpoints_in, last_checkpoint
from tests.support.cases import cases

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


SPACE, OID = "me/sauda", "c0ffee"


class Hub:
    """Takes what HfApi takes; `script` has, by method, what its next calls raise or return."""

    RETURNS: ClassVar = {
        "run_job": SimpleNamespace(id="7", url="https://example.org/jobs/7"),
        "create_repo": None,
        "upload_folder": SimpleNamespace(oid=OID),
        "wait_for_space": SimpleNamespace(stage="RUNNING", raw={"sha": OID}),
        "fetch_space_logs": ["Collecting gradio\n", "no space left"],
        "space_info": SimpleNamespace(host="https://me-sauda.hf.space"),
    }

    def __init__(self, **script: list) -> None:
        self.script, self.calls = script, []

    def __getattr__(self, name):
        def call(*arguments, **named):
            inspect.signature(getattr(HfApi, name)).bind(self, *arguments, **named)
            self.calls.append((name, named))
            return self.answer(name, named)

        return call

    def answer(self, method, named):
        line = self.script[method].pop(0) if self.script.get(method) else self.RETURNS[method]
        if isinstance(line, Exception):
            raise line
        return line

    def named(self, name: str) -> list[dict]:
        return [named for called, named in self.calls if called == name]


class Repository(Hub):
    """A repository of results in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def answer(self, method, named):
        if method == "create_repo":
            assert named["private"]
            self.folder.mkdir(exist_ok=True)
        elif method == "upload_folder":
            assert named["delete_patterns"] == ["*"]
            place = self.folder / named["path_in_repo"]
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(named["folder_path"], place)
        else:
            shutil.copytree(self.folder, named["local_dir"], dirs_exist_ok=True)


def refusal(code: int) -> HfHubHTTPError:
    response = SimpleNamespace(headers={}, request=None, status_code=code)
    return HfHubHTTPError("refused", response=response, server_message=f"told {code}")


def hand_over(job: Job, hub: Hub, token: str = SECRET) -> list[str]:
    """What is said while the job is submitted."""
    said: list[str] = []
    submit(job, "a/name", job.script(), hub, token, said.append)
    return said


def test_a_job_is_handed_over_whole_and_its_token_as_a_secret_alone():
    hub = Hub()
    assert hand_over(JOB, hub) == ["job 7 on l4x1, $0.80/h: https://example.org/jobs/7"]
    (request,) = hub.named("run_job")
    assert (request["image"], request["name"]) == ("python:3.12", "a-name")
    assert request["command"] == ["bash", "-c", JOB.script()]
    assert (request["flavor"], request["timeout"], request["attempts"]) == ("l4x1", "6h", 2)
    assert request["secrets"] == {"HF_TOKEN": SECRET}
    assert SECRET not in JOB.script()


def test_where_a_flavor_is_refused_the_next_is_asked_for_and_else_each_reason_is_told():
    hub = Hub(run_job=[refusal(503)])
    said = hand_over(JOB, hub)
    assert [request["flavor"] for request in hub.named("run_job")] == ["l4x1", "a10g-small"]
    assert said[0] == "refused l4x1: told 503"
    assert "on a10g-small, $1.00/h" in said[1]
    with pytest.raises(CloudFault, match=r"l4x1: told 400; a10g-small: told 503"):
        hand_over(JOB, Hub(run_job=[refusal(400), refusal(503)]))
    for code in (401, 402, 403, 500):  # it would not help, or could cost twice
        hub = Hub(run_job=[refusal(code)])
        with pytest.raises(HfHubHTTPError):
            hand_over(JOB, hub)
        assert len(hub.calls) == 1


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
    assert not hub.calls


def local(folder: Path, kept: Path, every: int = 60) -> TrainingJob:
    """A toy's job on this machine, which uploads `every` so many seconds."""
    kept_in = f"file:{kept}"
    where = {"source": str(REPOSITORY), "folder": str(folder)}
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


@pytest.mark.parametrize("on_hub", [False, True])
def test_an_uploaded_run_can_be_resumed(on_hub, tmp_path):
    kept = tmp_path / "kept"
    place = ("me/results", Repository(kept)) if on_hub else (f"file:{kept}", None)
    there = tmp_path / "elsewhere"  # made where it is missing
    assert jobs.download("sft", place[0], there, place[1]) is None
    jobs.upload(run_in(tmp_path, 3, torn=4), *place)
    shutil.rmtree(tmp_path / "sft" / "checkpoint-1")
    jobs.upload(tmp_path / "sft", *place)
    back = jobs.download("sft", place[0], there, place[1])
    assert sorted(p.name for p in back.glob("checkpoint-*")) == ["checkpoint-2", "checkpoint-3"]
    assert last_checkpoint(back).name == "checkpoint-3"
    assert [p.name for p in (*kept.iterdir(), *there.iterdir())] == ["sft", "sft"]


# The page on a Space -----------------------------------------------------------------------------

TOKEN = "hf_" + "a1" * 17  # put together here, so that no file holds it
FILES = {
    "README.md": '---\ntitle: S\nsdk: gradio\nsdk_version: 6.31.0\npython_version: "3.12"\n'
    "app_file: app.py\n---\n# S\n",
    "requirements.txt": "gradio==6.31.0  # a comment\n",
    "app.py": "import json\nfrom part import tool\n",
    "part/__init__.py": "",
    "part/tool.py": "",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small page that has no fault."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_committed_page_has_no_fault_and_leaves_its_tests_behind(tmp_path):
    staged = stage(tmp_path)
    assert staging_faults(staged.folder) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("tests", ".ci")) == []
    assert {"app.py", "README.md", "requirements.txt"} <= {path.name for path in tmp_path.iterdir()}
    head = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    assert staged.commit == subprocess.run(head, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("file", "old", "new", "fault"), cases("space_faults.csv", "staged"))
def test_each_fault_is_named_in_one_line_that_repeats_no_secret(folder, file, old, new, fault):
    assert staging_faults(folder) == []
    text = (folder / file).read_text()
    assert old in text
    new = new.format(token=TOKEN, large="#" * (MOST_FILE + 1))
    (folder / file).write_text(text.replace(old, new, 1))
    found = staging_faults(folder)
    assert any(fault in line for line in found), found
    assert not any(TOKEN in line or "secret1" in line for line in found)


def test_the_app_loads_in_a_fresh_environment_or_what_it_lacks_is_named(folder):
    assert import_faults(folder, sys.executable, []) == []
    (folder / "app.py").write_text("import trainer_kit\n")
    (fault,) = import_faults(folder, sys.executable, [])
    assert fault == "importing app: ModuleNotFoundError: No module named 'trainer_kit'"


def deploy(hub: Hub) -> str:
    return space.upload(Staged(Path("/staged"), "a" * 40, 0), SPACE, hub)


def test_the_folder_replaces_the_space_whose_former_commit_is_waited_out(monkeypatch):
    monkeypatch.setattr("sauda.cloud.space.POLL", 0.001)
    before = SimpleNamespace(stage="RUNNING", raw={"sha": "before"})
    hub = Hub(wait_for_space=[before, before])
    assert deploy(hub) == "https://me-sauda.hf.space"
    assert [name for name, _ in hub.calls] == [
        "create_repo", "upload_folder", *["wait_for_space"] * 3, "space_info",
    ]  # fmt: skip
    (sent,) = hub.named("upload_folder")
    assert sent["delete_patterns"] == "*"
    assert sent["commit_message"] == f"Deploy {'a' * 40}"
    assert hub.named("create_repo")[0]["space_sdk"] == "gradio"


def test_a_space_that_does_not_build_is_told_with_the_end_of_its_log():
    failed = SimpleNamespace(stage="BUILD_ERROR", raw={"sha": OID})
    hub = Hub(wait_for_space=[failed])
    with pytest.raises(CloudFault, match=r"stage BUILD_ERROR(.|\n)*no space left"):
        deploy(hub)
    assert hub.named("fetch_space_logs")[0]["build"]
    with pytest.raises(CloudFault, match="does not run the commit c0ffee"):
        deploy(Hub(wait_for_space=[TimeoutError()]))


def test_a_dry_run_stages_and_checks_and_asks_nobody(capsys, monkeypatch):
    def refuse(*arguments, **more):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(hub_http.Client, "send", refuse)
    monkeypatch.setattr(httpx.Client, "send", refuse)
    assert command.main(["deploy", "--space", SPACE, "--dry-run", "--skip-imports"]) == 0
    out = capsys.readouterr().out
    assert "ok   front matter, sizes, secrets, versions" in out
    assert "skip imports: no fresh environment was made" in out
    assert f"a dry run: nothing was uploaded to {SPACE}" in out
