"""An evaluation as jobs of the Hub: the request, the script of a shard, what comes back."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sauda import __main__ as command
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.scale.fanout import Fanout, chosen_flavors, collect, script, submit
from sauda.scale.pieces.shards import Plan, merged, play

CONFIG = EvaluationSpec(("bazaar/open",), ("linear", "wait"), episodes=6, baseline="linear")
PLAN = Plan(CONFIG, 3)
ADDRESS, COMMIT = "https://example.org/me/sauda", "0" * 40
FANOUT = Fanout(PLAN, (1, 2, 3), "me/results", ADDRESS, COMMIT)
FAKE = """#!/usr/bin/env bash
echo "$@" >> "$CALLS"
case "$*" in
*"shards play"*) mkdir -p "$parts"; echo '{}' > "$parts/plan.json"; exit "$PLAYED" ;;
*"jobs upload"*) echo . >> "$CALLS.uploads"; [ "$(wc -l < "$CALLS.uploads")" -gt "$REFUSED" ] ;;
esac
"""


def here(function, items):
    return ((item, function(item)) for item in items)


def test_the_script_of_a_shard_passes_shellcheck():
    program = Path(sys.executable).with_name("shellcheck")
    run = subprocess.run([program, "-"], input=script(FANOUT, 2), capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")
    assert script(FANOUT, 2).endswith(
        "\nplay --tasks bazaar/open --policies linear wait --split train --episodes 6 "
        "--baseline linear --shards 3 --shard 2\n"
    )


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
    job = replace(FANOUT, source=str(tmp_path), revision="", folder=str(tmp_path / "work"))
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "SAUDA_PYTHON": str(tools / "python"),
        "CALLS": str(calls),
        "PLAYED": str(played),
        "REFUSED": str(refused),
        "parts": str(tmp_path / "work" / "shard-2-of-3"),
    }
    ended = subprocess.run(["bash", "-c", script(job, 2)], env=environment, capture_output=True)
    assert ended.returncode == code, ended.stderr
    verbs = [" ".join(line.split()[2:4]) for line in calls.read_text().splitlines()]
    assert verbs == ["jobs download", "shards play", *["jobs upload"] * uploads]


def test_shards_that_come_back_from_the_results_merge_into_the_one_table(tmp_path):
    for shard in (1, 3):
        play(PLAN, tmp_path / "results" / f"shard-{shard}-of-3", here, [shard])
    results = f"file:{tmp_path / 'results'}"
    assert collect(results, 3, tmp_path / "parts") == [2]
    play(PLAN, tmp_path / "results" / "shard-2-of-3", here, [2])
    assert collect(results, 3, tmp_path / "parts") == []
    assert merged(tmp_path / "parts")[1] == evaluate(CONFIG, workers=1)


def test_each_shard_is_a_job_of_its_own_on_a_machine_without_a_gpu():
    asked = []

    class Api:
        def run_job(self, **request):
            asked.append(request)
            return SimpleNamespace(id=len(asked), url="https://example.org/job")

    said = []
    submit(FANOUT, Api(), "token", said.append)
    assert [request["name"] for request in asked] == [f"sauda-shard-{i}-of-3" for i in (1, 2, 3)]
    assert {request["flavor"] for request in asked} == {"cpu-upgrade"}
    assert [request["command"][2] for request in asked] == [script(FANOUT, i) for i in (1, 2, 3)]
    assert said[0] == "job 1 on cpu-upgrade, $0.03/h: https://example.org/job"
    with pytest.raises(ValueError, match="l4x1 has a GPU that nobody would use"):
        chosen_flavors(["cpu-upgrade", "l4x1"])


def test_a_dry_run_shows_the_jobs_with_their_cost_and_submits_nothing(monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_not_to_be_seen")
    arguments = ["--tasks", "bazaar/open", "--policies", "linear", "wait", "--episodes", "6"]
    arguments += ["--baseline", "linear", "--shards", "3", "--to", "me/results", "--dry-run"]
    arguments += ["--source", ADDRESS, "--revision", COMMIT]
    assert command.main(["shards", "submit", *arguments]) == 0
    out = capsys.readouterr().out
    assert "$0.36 at most: 3 jobs x 2 attempts x 2 h x $0.03/h" in out
    assert out.endswith(script(FANOUT, 1))
    assert "hf_not_to_be_seen" not in out
    assert command.main(["shards", "submit", *arguments, "--shard", "4"]) == 2
    assert "numbered from 1 to 3; there is no 4" in capsys.readouterr().err
