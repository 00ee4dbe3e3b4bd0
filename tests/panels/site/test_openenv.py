"""The OpenEnv environment on the page's own port: its clients, its validator, hostile callers.

`pytest tests/panels/site/test_openenv.py --full` runs the trials at full size.
"""

import asyncio
import itertools
import json
import logging
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import create_connection as open_connection
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from openenv.cli.__main__ import app as openenv_command
from openenv.core import GenericEnvClient
from schemathesis import GenerationMode
from typer.testing import CliRunner
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connected
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from env import TASKS
from sauda.__main__ import main as sauda_command
from sauda.games import DEFAULT_TASK
from sauda.records.store import ROOT
from sauda.serve.http import CAPACITY, ENTRIES_OF_ADDRESS
from sauda.serve.leaderboard import GAMES as GAMES_OF_AN_ENTRY
from sauda.serve.leaderboard import own_board, rules_of
from sauda.serve.limits import Limiter
from sauda.serve.openenv import SocketLimits
from tests.support.entries import as_a_person, played, played_on, wire_actions
from tests.support.running import output_of, run, unavailable
from tests.support.site import PATIENCE, Site

pytestmark = pytest.mark.slow

FORMER_CLIENT = Path(sys.prefix) / "openenv-core"  # openenv-core 0.3.0, installed by `make`
LEAKS = ("Traceback", 'File "', str(ROOT.parent), "http_server", "sauda.serve", "site-packages")
GAMES = ("bazaar/open-3", "arena/market_round")
NUMBERS = itertools.count(1)  # of names


def socket_of(site: Site) -> str:
    return site.address.replace("http", "ws", 1) + "/ws"


def ask(socket: Any, message: Any) -> dict[str, Any]:
    """The answer to one message."""
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    return json.loads(socket.recv(PATIENCE))


def until(holds: Callable[[], bool]) -> None:
    """Return once `holds()`; fails after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Clients and validator


PLAY = """
import json, sys
from openenv import GenericEnvClient
import openenv, importlib.metadata as metadata
address, seed, games = json.load(sys.stdin)
told = []
with GenericEnvClient(base_url=address).sync() as client:
    for task, actions in games.items():
        result = client.reset(task=task, seed=seed)
        for action in actions:
            result = client.step(action)
        grade = result.observation["outcome"]["grade"]
        told.append([result.done, grade, client.state()["step_count"]])
print(json.dumps([openenv.__file__, metadata.version("openenv-core"), told]))
"""


@pytest.mark.nightly
def test_the_former_client_openenv_core_plays_a_whole_episode(site):
    """It has the import name of its successor, so it runs in a process and folder of its own."""
    if not FORMER_CLIENT.is_dir():
        unavailable(f"openenv-core 0.3.0 is not in {FORMER_CLIENT}; `make` installs it there")
    episodes = [played(task_name, 7) for task_name in GAMES]
    games = {episode.task: list(wire_actions(episode)) for episode in episodes}
    environment = os.environ | {"PYTHONPATH": str(FORMER_CLIENT)}
    played_games = json.dumps([site.address, 7, games])
    shown = output_of(sys.executable, "-c", PLAY, input=played_games, env=environment)
    file, version, told = json.loads(shown)
    assert (Path(file).is_relative_to(FORMER_CLIENT), version) == (True, "0.3.0")
    assert told == [
        [True, TASKS[episode.task].grade(episode.final), len(games[episode.task])]
        for episode in episodes
    ]


def test_openenvs_validator_passes_the_running_page_in_all_six_criteria(site):
    done = CliRunner().invoke(openenv_command, ["validate", "--url", site.address, "--json"])
    report = json.loads(done.stdout)
    assert done.exit_code == 0, done.stdout
    assert report["summary"]["passed_count"] == report["summary"]["total_count"] == 6
    assert (report["standard_profile"], report["mode"]) == ("openenv-http/1.x", "simulation")


def test_openenvs_validator_passes_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT.parent)
    done = CliRunner().invoke(openenv_command, ["validate", ".", "--level", "static", "--json"])
    assert done.exit_code == 0, done.stdout
    assert json.loads(done.stdout)["verdict"] == "pass"


def tasks_of(site: Site, route: str, **body: Any) -> httpx.Response:
    return site.shared.post(f"/sauda/{route}", json=body)


def test_the_manifest_declares_what_is_served_and_the_task_routes_list_it(site):
    manifest = yaml.safe_load((ROOT.parent / "openenv.yaml").read_text(encoding="utf-8"))
    metadata = site.shared.get("/metadata").json()
    assert (manifest["name"], manifest["version"]) == (metadata["name"], metadata["version"])
    declared = manifest["validation"]["capabilities"]["declared_task_count"]
    assert list(declared) == [split["name"] for split in site.shared.get("/sauda/splits").json()]
    for split, count in declared.items():
        assert tasks_of(site, "num_tasks", split=split).json() == {"num_tasks": count}
    assert list(site.shared.get("/tasks").json()) == list(TASKS)
    assert site.shared.get("/list_environments").json() == ["sauda"]
    (task,) = tasks_of(site, "task_range", split="holdout", start=20, stop=21).json()["tasks"]
    assert tasks_of(site, "task", split="holdout", index=20).json() == {"task": task}
    assert tasks_of(site, "tasks", split="holdout").json()["tasks"][20] == task
    reset = site.shared.post("/reset", json={"split": "holdout", "index": 20}).json()
    assert reset["observation"]["task"] == task["task"]
    assert tasks_of(site, "num_tasks", split="test").status_code == 422
    assert tasks_of(site, "task", split="train", index=10**9).status_code == 400


# Plain HTTP


def test_an_episode_over_http_lives_under_the_id_that_reset_returned(site):
    def post(route: str, **body: Any) -> dict[str, Any]:
        answer = site.shared.post(route, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    episode, career = played("classic/career_10", 7), {"task": "classic/career_10", "seed": 7}
    mine, other = (
        {"episode_id": post("/reset", **career)["observation"]["metadata"]["episode_id"]}
        for _ in range(2)
    )
    for action in wire_actions(episode):
        assert site.shared.get("/score", params=mine).json()["score"] is None
        last = post("/step", action=action, **mine)
    assert last["done"]
    assert site.shared.get("/score", params=mine).json() == {
        "task": "classic/career_10",
        "score": TASKS["classic/career_10"].grade(episode.final),
        "episodes_completed": 10,
        "total_episodes": 10,
        "success": last["observation"]["outcome"]["success"],
    }
    assert site.shared.get("/state", params=other).json()["step_count"] == 0


def test_people_behind_one_address_who_name_the_same_id_have_an_episode_each(site):
    """The name begins the id, so that a log still tells the episodes apart; alone it opens none."""
    ids = []
    for seed in (11, 12):
        answer = site.shared.post("/reset", json={"seed": seed, "episode_id": "my-episode"}).json()
        ids.append(answer["observation"]["metadata"]["episode_id"])
    assert all(drawn.startswith("my-episode") for drawn in ids)
    states = [site.shared.get("/state", params={"episode_id": each}).json() for each in ids]
    assert [(state["seed"], state["episode_id"]) for state in states] == list(
        zip((11, 12), ids, strict=True)
    )
    walk = {"episode_id": "my-episode", "action": {"action_type": "walk"}}
    guesses = [
        site.shared.get("/state", params={"episode_id": "my-episode"}),
        site.shared.post("/step", json=walk),
    ]
    for answer in guesses:
        assert (answer.status_code, "reset starts one" in answer.json()["detail"]) == (404, True)


def test_the_route_of_mcp_has_no_tool_that_resets_or_steps(site):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert site.shared.post("/mcp", json=call).json()["result"] == {"tools": []}
    for method in ("openenv/session/create", "tools/call"):
        assert "error" in site.shared.post("/mcp", json=call | {"method": method}).json()
    with pytest.raises(InvalidStatus), connect(socket_of(site).replace("/ws", "/mcp")):
        pass


def test_a_trainer_whose_model_blocks_its_loop_keeps_its_session(site, monkeypatch):
    """As long as it may be idle; here a hundredth of that. The web server reads it per socket."""
    config = site.blocks.server.config
    for name in ("ws_ping_interval", "ws_ping_timeout"):
        monkeypatch.setattr(config, name, getattr(config, name) / 100)
    assert config.ws_ping_timeout >= SocketLimits().idle_seconds / 100

    async def train() -> None:
        async with connected(socket_of(site), ping_interval=None) as socket:
            await socket.send('{"type": "reset", "data": {}}')
            await socket.recv()
            time.sleep(1)  # a model that generates; no ping is answered
            await socket.send('{"type": "step", "data": {"action_type": "walk"}}')
            assert json.loads(await socket.recv())["data"]["done"]

    run(train())


# Hostile callers


WRONG_FIELDS = [  # what is wrong, and what its field takes
    ({"action_type": "offer", "price": "500"}, "price", "number"),
    ({"action_type": "offer", "price": math.nan}, "price", "finite number"),
    ({"action_type": "offer", "price": []}, "price", "number"),
    ({"action_type": "walk", "odd": 10**30}, "odd", "has action_type, "),
    ({"action_type": "walk", "message": "x" * 3000}, "message", "2000 characters"),
    ({"action_type": "../../etc/passwd"}, "action_type", "'offer'"),
    ({"price": 500, "self": None}, "action_type", "required"),
]


@pytest.mark.parametrize("task", GAMES)
def test_a_malformed_action_is_told_its_field_and_the_episode_goes_on(site, caplog, task):
    """As a client of OpenEnv sees it, whose program an error would end."""
    with GenericEnvClient(base_url=site.address).sync() as client:
        before = client.reset(task=task, seed=2)
        for action, field, expected in WRONG_FIELDS:
            result = client.step(action)
            assert f"{field}: " in result.observation["error"]
            assert expected in result.observation["error"]
            assert not any(leak in str(result.observation) for leak in (*LEAKS, "passwd", "xxx"))
            game = task.partition("/")[0]
            assert result.observation[game] == before.observation[game]
            assert not result.done
        assert client.state()["step_count"] == len(WRONG_FIELDS)
        (*_, last) = (client.step(action) for action in wire_actions(played(task, 2)))
    assert last.done
    assert last.observation["outcome"]["grade"] == TASKS[task].grade(played(task, 2).final)
    assert "Traceback" not in caplog.text


@pytest.mark.nightly
def test_no_call_of_the_document_ends_in_an_error_of_the_server(site, request):
    """Calls that fit the OpenAPI document and calls that do not, by schemathesis."""
    schema = schemathesis.openapi.from_url(f"{site.address}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert {"/reset", "/step", "/state", "/score", "/tasks", "/schema", "/metadata"} <= {
        operation.path for operation in operations
    }
    seen: Counter[int] = Counter()

    def tried(operation: Any, mode: GenerationMode, number: int) -> None:
        place = {"env_name": "sauda"} if operation.path_parameters else None

        @hypothesis.seed(number)
        @settings(
            max_examples=5, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(mode, path_parameters=place))
        def send(case: Any) -> None:
            answer = case.call(timeout=PATIENCE)
            seen[answer.status_code] += 1
            assert answer.status_code < 500, (case, answer.text)
            assert not any(leak in answer.text for leak in LEAKS), answer.text

        send()

    for number in range(20 if request.config.getoption("--full") else 2):
        for operation in operations:
            has_input = operation.body or operation.query
            for mode in GenerationMode if has_input else [GenerationMode.POSITIVE]:
                tried(operation, mode, number)
    assert min(seen[200], seen[422]) > seen.total() // 20


def test_bodies_and_messages_that_are_too_large_are_refused(site):
    large = {"episode_id": "x" * SocketLimits().frame_bytes}
    assert site.shared.post("/reset", json=large).status_code == 413
    with connect(socket_of(site)) as socket:
        answer = ask(socket, {"type": "reset", "data": large})
        assert answer["data"]["message"] == "A message has at most 64 KiB."
        assert ask(socket, {"type": "state"})["type"] == "state"
    with connect(socket_of(site)) as socket, pytest.raises(ConnectionClosed):
        ask(socket, "x" * 2**20)


def test_the_page_itself_opens_a_socket_and_one_of_another_site_or_under_a_foreign_name_none(site):
    with connect(socket_of(site), additional_headers={"origin": site.address}) as socket:
        assert ask(socket, {"type": "state"})["type"] == "state"
    foreign = {"origin": "https://evil.example"}
    assert site.shared.get("/schema", headers=foreign).status_code == 403
    with pytest.raises(InvalidStatus, match="403"):
        connect(socket_of(site), additional_headers=foreign)
    request = (  # as of a browser where evil.example leads to this machine
        "GET /ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
        "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    host, port = site.address.removeprefix("http://").split(":")
    with open_connection((host, int(port)), timeout=PATIENCE) as wire:
        wire.sendall(request.encode())
        assert b" 403 " in wire.recv(4096).splitlines()[0]


# Leaderboard


@pytest.fixture(autouse=True)
def fresh_hour(site) -> None:
    """Nobody has entered the leaderboard within the hour."""
    site.served.sockets.app.state.entries = Limiter(ENTRIES_OF_ADDRESS, seconds=3600.0)


def entered(site: Site, **claims: str) -> httpx.Response:
    agent = {"name": f"test {next(NUMBERS)}", "task": DEFAULT_TASK}
    return site.shared.post("/leaderboard/enter", json=agent, headers=claims)


def test_the_entry_of_the_documentation_runs_as_it_stands(site, capsys):
    """It plays all its games over `/ws`; its record is verified by the command, as documented."""
    text = (ROOT.parent / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code.replace("http://127.0.0.1:7860", site.address), {})
    shown = capsys.readouterr().out
    entry = re.search(r"'entry': '(\w+)'", shown).group(1)
    row = site.shared.get("/leaderboard").json()["entries"][0]
    assert row["entry"] == entry
    assert row["agent_name"].startswith("rising bids ")
    assert row["low"] <= row["score"] <= row["high"]
    assert sum(row["ends"].values()) == row["episodes_completed"] == GAMES_OF_AN_ENTRY
    record = own_board().storage.file.with_name("record.json")
    record.write_text(site.shared.get("/leaderboard/games", params={"entry": entry}).text)
    for file in (record, own_board().storage.file):
        assert sauda_command(["leaderboard", "--verify", str(file)]) == 0
        assert f"ok   {entry} rising bids" in capsys.readouterr().out
    changed = json.loads(record.read_text())
    changed["games"][0]["grade"] = 1.0
    record.write_text(json.dumps(changed))
    assert sauda_command(["leaderboard", "--verify", str(record)]) == 1
    assert f"FAIL {entry}" in capsys.readouterr().out


def test_an_entry_over_http_hides_its_seed_its_token_and_its_games(site, caplog):
    caplog.set_level(logging.DEBUG)
    ticket = entered(site).json()
    first = site.shared.post("/reset", json={"entry": ticket["token"]}).json()
    mine = {"episode_id": first["observation"]["metadata"]["episode_id"]}
    assert first["observation"]["metadata"]["entry"] == {"game": 1, "games": GAMES_OF_AN_ENTRY}
    walk = {"action": {"action_type": "walk"}} | mine
    last = site.shared.post("/step", json=walk).json()
    state = site.shared.get("/state", params=mine).json()
    assert last["done"]
    assert last["observation"]["outcome"]["seed"] is state["seed"] is None
    games = site.shared.get("/leaderboard/games", params={"entry": ticket["entry"]})
    assert games.status_code == 404
    paths = ("/", "/health", "/config", "/openapi.json", "/leaderboard")
    told = [site.shared.get(path).text for path in paths]
    told += [json.dumps([first, last, state]), caplog.text]
    assert ticket["entry"] not in told[4]
    seeds = [seed for (seed,) in own_board().storage.rows("SELECT seed FROM games")]
    assert len(seeds) >= GAMES_OF_AN_ENTRY
    assert not any(secret in text for text in told for secret in (ticket["token"], *seeds))


def test_a_caller_enters_a_few_times_an_hour_whatever_its_headers_claim(site):
    statuses = [
        entered(site, **{"x-forwarded-for": f"10.0.0.{i}", "x-real-ip": f"10.0.1.{i}",
                         "forwarded": f"for=10.0.2.{i}"}).status_code
        for i in range(ENTRIES_OF_ADDRESS + 1)
    ]  # fmt: skip
    assert statuses == [200] * ENTRIES_OF_ADDRESS + [429]
    assert "try again in 60 min" in entered(site).json()["detail"]


def test_a_name_that_is_taken_is_refused_and_costs_none_of_the_hours_entries(site):
    agent = {"name": "taken twice", "task": "bazaar/open-3"}
    assert site.shared.post("/leaderboard/enter", json=agent).status_code == 200
    for name in ["TAKEN twice", "taken-tvvice"] * ENTRIES_OF_ADDRESS:
        answer = site.shared.post("/leaderboard/enter", json=agent | {"name": name})
        assert (answer.status_code, "choose another" in answer.text) == (422, True)
    assert entered(site).status_code == 200


def test_people_and_agents_are_listed_apart(site):
    board = own_board()
    ticket = board.enter("Asha", DEFAULT_TASK, rules_of(DEFAULT_TASK), 1)
    list(played_on(ticket.token))
    as_a_person(board, ticket)
    for people in (True, False):
        rows = site.shared.get("/leaderboard", params={"people": people}).json()["entries"]
        assert (ticket.entry in {row["entry"] for row in rows}) == people
        assert all(row["seconds_per_move"] > 0 for row in rows)


def test_an_entry_is_taken_back_by_its_token_over_http(site):
    ticket = entered(site).json()
    list(played_on(ticket["token"]))
    before = site.shared.get("/leaderboard").json()["withdrawn"]
    for token, status in (("x", 404), (ticket["entry"], 404), (ticket["token"], 200)):
        answer = site.shared.post("/leaderboard/withdraw", json={"token": token})
        assert answer.status_code == status, answer.text
    assert own_board().storage.rows("SELECT * FROM games WHERE entry = ?", (ticket["entry"],)) == []
    assert site.shared.get("/leaderboard").json()["withdrawn"] == before + 1
    again = site.shared.post("/reset", json={"entry": ticket["token"]})
    assert "no entry has this token" in again.json()["detail"]


def test_an_entry_that_cannot_be_is_refused_with_a_sentence(site):
    def status(**body: Any) -> int:
        answer = site.shared.post("/leaderboard/enter", json=body)
        assert not any(leak in answer.text for leak in LEAKS), answer.text
        return answer.status_code

    assert status(name="x" * SocketLimits().frame_bytes) == 413
    for wrong in ({"name": "../../etc/passwd"}, {"name": 7}, {"task": "classic/single_deal"},
                  {"seed": 7}):  # fmt: skip
        assert status(**{"name": "a"} | wrong) == 422
    for entry, refusal in (("' OR 1=1 --", 422), ("%00", 422), ("0" * 16, 404)):
        answer = site.shared.get("/leaderboard/games", params={"entry": entry})
        assert answer.status_code == refusal
    for path in ("/leaderboard/../etc", "/leaderboard/leaderboard.sqlite", "/leaderboard%2f..%2fx"):
        assert site.shared.get(path).status_code == 404
    file = own_board().storage.file
    assert site.shared.get(f"/gradio_api/file={file}").status_code in (403, 404)


# Many at once


async def told(socket: ClientConnection, kind: str, data: Any) -> dict[str, Any]:
    await socket.send(json.dumps({"type": kind, "data": data}))
    return json.loads(await socket.recv())["data"]


@pytest.fixture
def nobody(site) -> Iterator[None]:
    """No session is open before the test and after it."""
    yield until(lambda: not site.served.sockets.sessions.total)
    until(lambda: not site.served.sockets.sessions.total)
    until(lambda: not site.served.sockets.app.state.server.active_sessions)


def test_one_session_more_than_there_is_room_for_is_refused_and_a_lost_client_makes_room(
    site, nobody
):
    async def crowd() -> None:
        sockets = [await connected(socket_of(site)) for _ in range(CAPACITY)]
        for socket in sockets:
            await socket.send('{"type": "state"}')
            assert json.loads(await socket.recv())["type"] == "state"
        async with connected(socket_of(site)) as refused:
            answer = json.loads(await refused.recv())["data"]
            assert answer["code"] == "CAPACITY_REACHED"
            assert answer["max_sessions"] == CAPACITY
            with pytest.raises(ConnectionClosed):
                await refused.recv()
        sockets.pop().transport.abort()  # gone without a word
        deadline = time.monotonic() + PATIENCE
        while site.served.sockets.app.state.server.active_sessions >= CAPACITY:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        async with connected(socket_of(site)) as next_one:
            assert "observation" in await told(next_one, "reset", {})
        for socket in sockets:
            await socket.close()

    run(crowd())


def test_a_page_that_is_about_to_end_opens_no_session_and_takes_no_new_call(site):
    site.served.is_open = False
    try:
        with pytest.raises(InvalidStatus, match="403"), connect(socket_of(site)):
            pass
        for path in ("/reset", "/gradio_api/call/play"):
            answer = site.shared.post(path, json={"data": []})
            assert answer.status_code == 503
            assert answer.json()["error"].startswith("The page is being restarted")
        assert site.shared.get("/").status_code == 200
    finally:
        site.served.is_open = True
