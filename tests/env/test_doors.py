"""The doors of docs/hubs.md, used as printed by the newest version of each program.

`make doors` ends with a table: what the small model's games of the same seeds give at each door.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from functools import cache, partialmethod
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from env import get_task, rollout
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.players import get_policy
from sauda.pool import here
from sauda.records.store import REPOSITORY as ROOT
from sauda.records.store import load
from sauda.serve import game as served
from sauda.serve import leaderboard
from sauda.serve.observations import bazaar_view
from sauda.sessions.review import oracle
from tests.support.endpoint import server
from tests.support.entries import wire_actions
from tests.support.running import unavailable
from tests.support.site import Site, served_page, toy_models, without_tabs

pytestmark = [pytest.mark.nightly, pytest.mark.model]

PAGE = (ROOT / "docs" / "hubs.md").read_text(encoding="utf-8")
OPEN, SEEDS = "bazaar/open-3", range(50_000, 50_008)
TWICE = range(SEEDS.start, SEEDS.start + 2 * len(SEEDS))  # for evaluate and Inspect
PATIENCE = 3600.0  # seconds


def snippet(language: str, word: str) -> str:
    """The only block of the page in that language that has the word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    (block,) = (block for block in blocks if word in block)
    return block


@cache
def recorded() -> dict[int, Any]:
    """The episodes of the model in this process, by seed."""
    task = get_task(OPEN)
    policy = get_policy(task, "mini+settles")
    return {seed: rollout(task, policy, seed) for seed in TWICE}


def grades() -> dict[int, float]:
    return {seed: float(get_task(OPEN).grade(game.final)) for seed, game in recorded().items()}


def moves() -> dict[int, list[dict[str, Any]]]:
    """The model's moves as programs send them, by seed."""
    return {seed: list(wire_actions(recorded()[seed])) for seed in SEEDS}


ROWS: list[str] = []  # of the table: door, program, games, mean grade


def report(door: str, program: str, by_seed: dict[int, float], seeds: range = SEEDS) -> None:
    """Add a row to the table; what the door gave is what the game gives, to the last digit."""
    wanted = {seed: grades()[seed] for seed in seeds}
    mean = np.mean([by_seed[seed] for seed in SEEDS])
    same = sum(by_seed.get(seed) == grade for seed, grade in wanted.items())
    ROWS.append(f"| {door} | {program} | {len(by_seed)} | {same} | {mean:.6f} |")
    assert by_seed == wanted


@pytest.fixture(scope="module", autouse=True)
def table() -> Iterator[None]:
    yield
    head = f"| door | program | games of {OPEN} | equal | mean of the first {len(SEEDS)} |"
    head += "\n|---|---|---|---|---|"
    print("\n\n" + "\n".join([head, *ROWS]))


def installed(folder: Path, package: str) -> str:
    """A package of the environment in `folder`, with its version."""
    shown = subprocess.check_output([folder / "venv/bin/pip", "show", package], text=True)
    return f"{package} {re.search('^Version: (.+)$', shown, re.M)[1]}"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where `sauda serve-model` serves the small model."""
    with server({}) as (free, _):  # a port that was free a moment ago
        port = free.rpartition(":")[2]
    command = [sys.executable, "-m", *snippet("sh", "serve-model").split()[2:-1], port]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert "mini+settles at" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def page() -> Iterator[Site]:
    """A page whose next games, hidden ones too, are those of the seeds."""
    with pytest.MonkeyPatch.context() as patch, toy_models(), served_page(without_tabs) as site:
        for module, name in ((served, "draw_seed"), (leaderboard, "leaderboard_seed")):
            patch.setattr(module, name, count(SEEDS[0]).__next__)
        enter = partialmethod(leaderboard.Board.enter, games=len(SEEDS))
        patch.setattr(leaderboard.Board, "enter", enter)
        yield site


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


def test_evaluate_gives_the_grades_of_the_game():
    spec = EvaluationSpec((OPEN,), ("mini+settles",), "holdout", len(TWICE), "mini+settles")
    columns = evaluate(spec, here)["episodes"][OPEN]["mini+settles"]
    given = {seed: round(grade, 6) for seed, grade in grades().items()}  # as artifacts round them
    assert dict(zip(TWICE, columns["grade"], strict=True)) == given
    report("evaluate", "sauda", grades(), TWICE)


def scores_in(folder: Path) -> dict[int, dict[str, float]]:
    """The scores in the dumped log of Inspect, by seed."""
    samples = json.loads((folder / "log.json").read_text())["samples"]
    return {each["metadata"]["seed"]: each["scores"]["figures"]["value"] for each in samples}


def test_inspect_gives_the_grades_of_evaluate_and_makes_a_space_of_its_logs(door):
    dump = "inspect log dump logs/*.eval > log.json\n"
    lines = snippet("sh", "inspect eval").replace(f"games={len(SEEDS)}", f"games={len(TWICE)}")
    folder = door(lines + dump, "inspect")
    scores = scores_in(folder)
    assert all(
        {"words", "deal"} <= each.keys() and "regret" not in each for each in scores.values()
    )
    by_seed = {seed: each["grade"] for seed, each in scores.items()}
    report("Inspect", installed(folder, "inspect-ai"), by_seed, TWICE)
    assert (folder / "space" / "index.html").is_file()


def test_inspect_scores_regret_where_the_project_can_be_imported(door):
    install, *rest = snippet("sh", "inspect eval").splitlines(keepends=True)
    import_all = (
        f"printf '%s\\n' {ROOT} {np.__path__[0]}/.. > $(echo venv/lib/*/site-packages)/all.pth\n"
    )
    lines = "".join([install, import_all, *rest]).replace("games=8", "games=3")
    folder = door(f"{lines}inspect log dump logs/*.eval > log.json\n", "regret")
    for seed, each in scores_in(folder).items():
        assert each["regret"] == oracle(OPEN, seed).grade - each["grade"]


def test_verifiers_gives_the_grades_of_evaluate(door):
    folder = door(snippet("sh", "vf-eval sauda-games"), "verifiers")
    by_seed = {
        episode["task"]["data"]["seed"]: trace["rewards"]["grade"]["score"]
        for episode in episodes_in(folder)
        for trace in episode["traces"]
    }
    report("verifiers", installed(folder, "verifiers"), by_seed)


def episodes_in(folder: Path) -> Iterator[dict[str, Any]]:
    """The episodes that verifiers wrote."""
    (traces,) = folder.glob("outputs/*/traces.jsonl")
    yield from map(json.loads, traces.read_text().splitlines())


def play_on(table: dict[str, Any]) -> str:
    """What names a position of the recorded games."""
    prices = [[float(price) for price in table[side]] for side in ("asks", "bids")]
    return f"{table['item']['name']} {prices}"


def test_verifiers_own_openenv_taskset_plays_on_our_server(door, page):
    """The model's moves, from a server that knows them by the observation."""
    known = {
        play_on(bazaar_view(turn.observation)): action
        for seed, actions in moves().items()
        for turn, action in zip(recorded()[seed].trajectory("buyer"), actions, strict=True)
    }

    def move(body: dict[str, Any]) -> bytes:
        seen = json.loads(body["messages"][-1]["content"])["observation"]["bazaar"]
        delta = {"role": "assistant", "content": json.dumps(known[play_on(seen)])}
        row = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        row["choices"] = [{"index": 0, "delta": delta, "finish_reason": "stop"}]
        return f"data: {json.dumps(row)}\n\ndata: [DONE]\n\n".encode()

    resets = [f'{{ task = "{OPEN}", seed = {seed} }}' for seed in SEEDS]
    with server(move) as (model, requests):
        config = snippet("toml", "openenv").replace("http://127.0.0.1:7860", page.address)
        config = config.replace("http://127.0.0.1:8000", model)
        config = re.sub("(?m)^resets = .*$", f"resets = [{', '.join(resets)}]", config)
        lines = (
            'pip install "verifiers[openenv]" uv\n'
            f"cat > openenv.toml <<'END'\n{config}END\n"
            "export SAUDA_API_KEY=none\nvf-eval @ openenv.toml\n"
        )
        folder = door(lines, "openenv")
    by_seed = {
        episode["task"]["data"]["reset"]["seed"]: trace["rewards"]["openenv_reward"]["score"]
        for episode in episodes_in(folder)
        for trace in episode["traces"]
    }
    first = json.loads(requests[0][1]["messages"][-1]["content"])["observation"]
    assert first["briefing"] in first["system_prompt"]
    report("OpenEnv", f"its taskset of {installed(folder, 'verifiers')}", by_seed)


PLAY_BY_TOOLS = """
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def main():
    async with (
        streamable_http_client(sys.argv[1]) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        async def call(tool, **given):
            answer = await session.call_tool(tool, given)
            return answer.model_dump(by_alias=True)["structuredContent"]

        await session.initialize()
        for moves in json.load(sys.stdin).values():
            game = await call("new_game", task="bazaar/open-3")
            for move in moves:
                kind = move.pop("action_type")
                tool = "walk_away" if kind == "walk" else kind
                game = await call(tool, game_id=game["game_id"], **move)
            print(json.dumps(game["outcome"]))

asyncio.run(main())
"""


def test_the_tools_of_mcp_give_the_grades_of_evaluate(door, page):
    lines = (
        f"pip install mcp\ncat > moves.json <<'END'\n{json.dumps(moves())}\nEND\n"
        f"cat > play.py <<'END'{PLAY_BY_TOOLS}END\n"
        f"python play.py {page.address}/gradio_api/mcp < moves.json\n"
    )
    folder = door(lines, "mcp")
    outcomes = map(json.loads, (folder / "output.txt").read_text().splitlines())
    report("MCP", installed(folder, "mcp"), {each["seed"]: each["grade"] for each in outcomes})


def test_an_entry_of_the_leaderboard_has_the_grades_of_evaluate(door, page, address):
    enter = f"--url {page.address} --base-url {address}/v1 --model mini+settles --task {OPEN}"
    enter += " --name doors --yes"
    folder = door(f'pip install "./env"\nsauda-env enter {enter}\n', "leaderboard")
    *_, row = (folder / "output.txt").read_text().splitlines()
    entry = leaderboard.own_board().entry(json.loads(row)["entry"])
    by_seed = {game.seed: game.grade for game in leaderboard.own_board().games(entry)}
    report("leaderboard", f"enter of {installed(folder, 'sauda-env')}", by_seed)


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
        if "No solution found" in done.stderr:
            unavailable("the package index does not give inspect-ai")
        assert (done.returncode, "a dry run" in done.stdout) == (0, True), done.stderr
    logs = tmp_path / "hub" / "logs"
    assert (logs / "index.html").is_file()
    assert "\nsdk: static\n" in (logs / "README.md").read_text()
    listed = json.loads((logs / "logs" / "listing.json").read_text())
    files = ("evaluation/model-comparison.json", "evaluation/arena-model-comparison.json")
    rows = [row for file in files for row in load(file).data.rows]
    for number, row in enumerate(rows):
        log = listed[f"{number:03}.eval"]
        assert (log["task"], log["model"]) == (row.task, row.policy)


def test_every_block_of_the_page_is_run_by_a_test_above():
    assert len(re.findall(r"^```\w", PAGE, re.M)) == 7
