"""The doors of docs/hubs.md, used as printed by the newest version of each program.

`pytest -n 0 -s -m nightly tests/env/test_doors.py` prints a line a door: its games and mean grade.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn

from env import get_task, rollout
from sauda.players import get_policy
from sauda.records.store import REPOSITORY as ROOT
from sauda.serve.game import SentAction
from sauda.serve.http import openenv_app
from sauda.serve.leaderboard import replay_game
from sauda.serve.openenv import SaudaEnvironment
from tests.support.endpoint import server
from tests.support.running import unavailable
from tests.support.served_games import wire_actions

pytestmark = [pytest.mark.nightly, pytest.mark.model]

PAGE = (ROOT / "docs" / "hubs.md").read_text(encoding="utf-8")
OPEN, SEEDS = "bazaar/open", range(50_000, 50_020)
LOADS_WITHIN, PATIENCE = 300.0, 3600.0  # seconds


def snippet(language: str, word: str) -> str:
    """The only block of the page in that language that has the word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    (block,) = (block for block in blocks if word in block)
    return block


@cache
def recorded() -> dict[int, Any]:
    """The episodes of the model in this process, by seed: what `sauda evaluate` plays."""
    task = get_task(OPEN)
    policy = get_policy(task, "sauda-mini")
    return {seed: rollout(task, policy, seed) for seed in SEEDS}


def grades() -> dict[int, float]:
    return {seed: float(get_task(OPEN).grade(game.final)) for seed, game in recorded().items()}


def report(door: str, by_seed: dict[int, float]) -> dict[int, float]:
    """Print what a door gave; returns it."""
    print(f"\n{door:12} {OPEN} n={len(by_seed)} mean grade {np.mean(list(by_seed.values())):.6f}")
    return by_seed


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where `sauda serve-model` serves the small model."""
    with server({}) as (free, _):  # a port that was free a moment ago
        port = free.rpartition(":")[2]
    command = [sys.executable, "-m", *snippet("sh", "serve-model").split()[2:-1], port]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert "sauda-mini at" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


Run = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def door(tmp_path_factory, address) -> Run:
    """Runs the lines of a snippet in an environment of its own; returns the folder it ran in."""

    def run(lines: str, name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT / "env", folder / "env", ignore=ignored)
        venv.create(folder / "venv", with_pip=True)
        path = f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {n: v for n, v in os.environ.items() if not n.startswith("SAUDA")}
        install, *rest = lines.replace("http://127.0.0.1:8000", address).splitlines(keepends=True)
        how = {"cwd": folder, "env": environment | {"PATH": path, "COLUMNS": "200"}, "text": True}
        got = subprocess.run(["bash", "-ec", install], **how, capture_output=True, check=False)
        if got.returncode and "No matching distribution" in got.stderr:
            unavailable(f"the package index does not give what {install.strip()} asks for")
        assert got.returncode == 0, got.stderr
        how |= {"capture_output": True, "timeout": PATIENCE}
        done = subprocess.run(["bash", "-ec", "".join(rest)], **how, check=False)
        assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
        (folder / "output.txt").write_text(done.stdout)
        return folder

    return run


def test_a_client_of_the_protocol_plays_the_recorded_game(address, capsys):
    exec(snippet("python", "new_chat").replace("http://127.0.0.1:8000", address), {})
    shown = capsys.readouterr().out
    assert f"'grade': {grades()[50_001]}," in shown


def test_inspect_gives_the_grades_of_evaluate_and_makes_a_space_of_its_logs(door):
    dump = "inspect log dump logs/*.eval > log.json\n"
    folder = door(snippet("sh", "inspect eval") + dump, "inspect")
    log = json.loads((folder / "log.json").read_text())
    by_seed = {
        sample["metadata"]["seed"]: sample["scores"]["figures"]["value"]["grade"]
        for sample in log["samples"]
    }
    assert report("inspect", by_seed) == report("evaluate", grades())
    assert (folder / "space" / "index.html").is_file()


def test_verifiers_gives_the_grades_of_evaluate(door):
    folder = door(snippet("sh", "vf-eval sauda-games"), "verifiers")
    (traces,) = folder.glob("outputs/*/traces.jsonl")
    episodes = map(json.loads, traces.read_text().splitlines())
    by_seed = {
        episode["task"]["data"]["seed"]: trace["rewards"]["grade"]["score"]
        for episode in episodes
        for trace in episode["traces"]
    }
    assert report("verifiers", by_seed) == grades()


def test_the_same_moves_have_the_same_grades_over_openenv_and_on_the_leaderboard():
    over_openenv, ranked = {}, {}
    for seed, game in recorded().items():
        served, actions = SaudaEnvironment(), list(wire_actions(game))
        served.reset(task=OPEN, seed=seed)
        *_, last = [served.step(SentAction.model_validate(action)) for action in actions]
        over_openenv[seed] = last.reward
        ranked[seed] = replay_game(OPEN, seed, actions).grade
    assert report("OpenEnv", over_openenv) == report("leaderboard", ranked) == grades()


def bid(body: dict[str, Any]) -> bytes:
    """What a model answers, in a stream, to an observation: it raises its bid and walks last."""
    table = json.loads(body["messages"][-1]["content"])["observation"]["bazaar"]
    price = int((0.5 + 0.05 * table["round"]) * table["own"]["reservation"])
    walks = table["round"] + 1 >= table["rounds"]
    action = {"action_type": "walk"} if walks else {"action_type": "offer", "price": price}
    row = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"role": "assistant", "content": json.dumps(action)}
    choices = [{"index": 0, "delta": delta, "finish_reason": "stop"}]
    return f"data: {json.dumps(row | {'choices': choices})}\n\ndata: [DONE]\n\n".encode()


def test_verifiers_own_openenv_taskset_plays_on_our_server(door):
    with server({}) as (free, _):
        port = int(free.rpartition(":")[2])
    page = uvicorn.Server(uvicorn.Config(openenv_app(), port=port, log_level="warning"))
    threading.Thread(target=page.run, daemon=True).start()
    while not page.started:
        time.sleep(0.05)
    with server(bid) as (model, requests):
        config = snippet("toml", "openenv").replace("127.0.0.1:7860", f"127.0.0.1:{port}")
        config = config.replace("http://127.0.0.1:8000", model)
        lines = (
            'pip install "verifiers[openenv]" uv\n'
            f"cat > openenv.toml <<'END'\n{config}END\n"
            "export SAUDA_API_KEY=none\nvf-eval @ openenv.toml\n"
        )
        folder = door(lines, "openenv")
    page.should_exit = True
    (traces,) = folder.glob("outputs/*/traces.jsonl")
    rewards = [
        trace["rewards"]["openenv_reward"]["score"]
        for line in traces.read_text().splitlines()
        for trace in json.loads(line)["traces"]
    ]
    assert len(rewards) == 2
    first = json.loads(requests[0][1]["messages"][-1]["content"])["observation"]
    assert first["briefing"] in first["system_prompt"]
    assert any(rewards)


def test_negmas_negotiators_play_to_the_end_and_their_page_tells_what_they_win(door):
    folder = door(snippet("sh", "negmas_buyers"), "negmas")
    rows = (folder / "output.txt").read_text().splitlines()
    for name, figure in re.findall(r"(Conceder|Linear|Boulware)\s([\d.]+ ± [\d.]+)", PAGE):
        assert any(name.lower() in row and row.endswith(f"n=100 grade {figure}") for row in rows)


def test_the_hubs_folders_are_written_as_the_page_says(tmp_path):
    lines = snippet("sh", "publish").replace("runs/hub", str(tmp_path / "hub"))
    for line in lines.replace("OWNER/NAME", "me/games").splitlines():
        command = line.replace("python", sys.executable, 1)
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, "a dry run" in done.stdout) == (0, True), done.stderr
