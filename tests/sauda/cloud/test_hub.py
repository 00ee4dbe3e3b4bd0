"""What is handed to the Hub: jobs that train and evaluate, and the page."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock, create_autospec

import httpx
import psutil
import pytest
from huggingface_hub import HfApi, JobHardware
from huggingface_hub.utils import httpx as hub_http

from sauda import __main__ as command
from sauda.cloud import CloudFault, space
from sauda.cloud.jobs import FLAVORS, USUAL, Job, flavor, shard_job, submit, training_job
from sauda.cloud.space import MOST_FILE, Staged, import_faults, stage, staging_faults
from sauda.records.store import REPOSITORY
from sauda.train import STAGES
from sauda.train.common import STATE_FILE, checkpoints_in, last_checkpoint
from tests.support.cases import cases

ADDRESS, COMMIT = "https://example.org/me/sauda", "0" * 40
SECRET = "hf_not_to_be_seen"
HUB = {"bucket": "me/results", "source": ADDRESS, "revision": COMMIT, "timeout": "2h"}
JOB = training_job(("sft",), "mini", "l4x1", **HUB)
WHAT = ["--tasks", "bazaar/open-3", "--policies", "linear", "wait", "--episodes", "6"]
SHARD = shard_job(WHAT, 2, 3, flavor=flavor("cpu-upgrade"), **HUB)
pytestmark = pytest.mark.xdist_group("model")


@pytest.mark.parametrize("job", [JOB, training_job(STAGES, "some/one", "l4x1", **HUB), SHARD])
def test_the_scripts_pass_shellcheck(job):
    program = [Path(sys.executable).with_name("shellcheck"), "-"]  # of the dev extra
    run = subprocess.run(program, input=job.script, capture_output=True, text=True)
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


def test_flavors_are_those_of_the_hub_and_a_model_of_another_has_to_name_one():
    names = {f.name for f in FLAVORS}
    assert {*USUAL.values()} <= names <= {hardware.value for hardware in JobHardware}
    with pytest.raises(ValueError, match="no machine is known for 'some/one'"):
        training_job(("sft",), "some/one", None, **HUB)


SPACE, OID = "me/sauda", "c0ffee"


def hub(*spaces: object) -> Mock:
    """Takes what HfApi takes; `spaces` are what its first looks at a Space return or raise."""
    api = create_autospec(HfApi, instance=True)
    api.run_job.return_value = SimpleNamespace(id="7", url="https://example.org/jobs/7")
    api.upload_folder.return_value = SimpleNamespace(oid=OID)
    running = SimpleNamespace(stage="RUNNING", raw={"sha": OID})
    api.wait_for_space.side_effect = chain(spaces, repeat(running))
    api.fetch_space_logs.return_value = ["Collecting gradio\n", "no space left"]
    api.space_info.return_value = SimpleNamespace(host="https://me-sauda.hf.space")
    return api


def test_a_job_is_handed_over_whole_and_its_token_as_a_secret_alone():
    api = hub()
    assert submit(replace(JOB, name="a/name"), api, SECRET).id == "7"
    request = api.run_job.call_args.kwargs
    assert (request["image"], request["name"]) == ("python:3.12", "a-name")
    assert request["command"] == ["bash", "-c", JOB.script]
    assert (request["flavor"], request["timeout"], request["attempts"]) == ("l4x1", "2h", 2)
    assert request["secrets"] == {"HF_TOKEN": SECRET}
    assert api.create_bucket.call_args.kwargs["private"]
    assert SECRET not in JOB.script
    api = hub()
    with pytest.raises(ValueError, match="needs a token that may write"):
        submit(JOB, api, "")
    assert not api.method_calls


def running(folder: Path) -> list[str]:
    """The command lines of live processes that name `folder`."""
    lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
    return [line for line in lines if str(folder) in line]


# Stand-ins for what a job finds on its machine. The bucket is a folder; the Python trains, with a
# child beside it, by checkpoints without a network in them: it waits after the second one, and ends
# at the fourth where it goes on with a run. A shard has its chunks and ends as it is told to.
TOOLS = {
    "git": """#!/bin/sh
[ "$1" != clone ] || mkdir -p sauda/artifacts/training
[ "$1" != clone ] || echo {} > sauda/artifacts/training/sft.json
""",
    "pip": "#!/bin/sh\n",
    "sleep": "#!/bin/sh\nexec /bin/sleep 0.2\n",
    "hf": """#!/bin/bash
echo "${@:1:2}" "${@: -2}" >> "$CALLS"
from=${*: -2:1} to=${*: -1}
from=${from/hf:\\/\\/buckets/$BUCKETS} to=${to/hf:\\/\\/buckets/$BUCKETS}
[ -d "$from" ] || exit 0
mkdir -p "$to"
case " $* " in *" --delete "*) rm -rf "$to" ;; esac
mkdir -p "$to"
cp -r "$from/." "$to"
exit "${REFUSED:-0}"
""",
    "python": f"""#!{sys.executable}
import os, subprocess, sys, time
from pathlib import Path

command = sys.argv[3:5]
if command[:1] == ["evaluate"]:
    Path("parts", "piece.json").write_text("1")
    sys.exit(int(os.environ["PLAYED"]))
if "train" not in command:
    sys.exit(0)
run, goes_on = Path(sys.argv[sys.argv.index("--out") + 1]).absolute(), "--resume" in sys.argv
child = subprocess.Popen([sys.executable, "-c", "input()", str(run)], stdin=subprocess.PIPE)
begun = len(list(run.glob("checkpoint-*")))
(run / "run.json").write_text("{{}}")
for step in range(begun + 1, 5 if goes_on else 3):
    (run / f"checkpoint-{{step}}").mkdir()
    (run / f"checkpoint-{{step}}" / "{STATE_FILE}").write_text("{{}}")
if not goes_on:
    time.sleep(600)
child.communicate(b"\\n")
""",
}


@pytest.fixture
def start(tmp_path):
    """Starts a job's script in a folder of its own, with TOOLS; the bucket is tmp_path/me."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in TOOLS.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def begin(job: Job, place: str, **more: str) -> subprocess.Popen:
        (tmp_path / place).mkdir()
        environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "BUCKETS": str(tmp_path),
            "CALLS": str(tmp_path / "calls"),
        }
        return subprocess.Popen(
            ["bash", "-c", job.script],
            cwd=tmp_path / place,
            env=environment | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return begin


def test_a_job_that_is_ended_leaves_nothing_running_and_the_next_finishes_its_stage(
    start, tmp_path
):
    kept = tmp_path / "me" / "results" / "runs" / "sft"
    first = start(JOB, "one")
    while not (kept / "checkpoint-2" / STATE_FILE).exists():  # kept while it trains
        assert first.poll() is None, first.stdout.read()
        time.sleep(0.1)
    assert len(running(tmp_path)) >= 2  # what trains, and its child
    first.send_signal(signal.SIGTERM)
    out, _ = first.communicate(timeout=60)
    assert first.returncode == 143, out
    assert "resuming" not in out
    assert not running(tmp_path)
    assert last_checkpoint(kept).name == "checkpoint-2"

    second = start(JOB, "two")
    out, _ = second.communicate(timeout=60)
    assert second.returncode == 0, out
    assert "resuming the run of sft" in out
    assert sorted(checkpoints_in(kept)) == [1, 2, 3, 4]
    assert (kept / "training" / "sft.json").exists()
    assert not running(tmp_path)


@pytest.mark.parametrize(("played", "refused", "code"), [(0, 0, 0), (7, 0, 7), (0, 9, 1)])
def test_a_shard_is_kept_whatever_ended_it_and_says_where_it_could_not_be(
    played, refused, code, start, tmp_path
):
    ended = start(SHARD, "place", PLAYED=str(played), REFUSED=str(refused))
    out, _ = ended.communicate(timeout=60)
    assert ended.returncode == code, out
    assert (tmp_path / "me" / "results" / "parts" / "piece.json").exists()
    upload = "buckets sync parts hf://buckets/me/results/parts"
    first, *later = (tmp_path / "calls").read_text().splitlines()
    assert first == "buckets sync hf://buckets/me/results/parts parts"
    assert {*later} == {upload}  # a busy machine uploads while it plays, too


def test_a_dry_run_shows_the_jobs_with_their_cost_and_submits_nothing(monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_not_to_be_seen")
    arguments = ["--tasks", "bazaar/open-3", "--policies", "linear", "wait", "--episodes", "6"]
    arguments += ["--shards", "3", "--to", "me/results", "--dry-run"]
    arguments += ["--source", ADDRESS, "--revision", COMMIT]
    assert command.main(["jobs", "evaluate", *arguments]) == 0
    out = capsys.readouterr().out
    assert "$0.36 at most: 3 jobs x 2 attempts x 2 h x $0.03/h" in out
    assert "--tasks bazaar/open-3 --policies linear wait --split train --episodes 6" in out
    assert "flavor       cpu-upgrade" in out
    assert out.endswith("--shard 1/3\n")
    assert "hf_not_to_be_seen" not in out


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


def deploy(api: Mock) -> str:
    return space.upload(Staged(Path("/staged"), "a" * 40, 0), SPACE, api)


def test_the_folder_replaces_the_space_whose_former_commit_is_waited_out(monkeypatch):
    monkeypatch.setattr("sauda.cloud.space.POLL", 0.001)
    before = SimpleNamespace(stage="RUNNING", raw={"sha": "before"})
    api = hub(before, before)
    assert deploy(api) == "https://me-sauda.hf.space"
    assert api.wait_for_space.call_count == 3
    sent = api.upload_folder.call_args.kwargs
    assert sent["delete_patterns"] == "*"
    assert sent["commit_message"] == f"Deploy {'a' * 40}"
    assert api.create_repo.call_args.kwargs["space_sdk"] == "gradio"


def test_a_space_that_does_not_build_is_told_with_the_end_of_its_log():
    api = hub(SimpleNamespace(stage="BUILD_ERROR", raw={"sha": OID}))
    with pytest.raises(CloudFault, match=r"stage BUILD_ERROR(.|\n)*no space left"):
        deploy(api)
    assert api.fetch_space_logs.call_args.kwargs["build"]
    with pytest.raises(CloudFault, match="does not run the commit c0ffee"):
        deploy(hub(TimeoutError()))


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
