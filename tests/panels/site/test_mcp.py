"""MCP on the page's own port: a real client plays both games, and limits hold."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client

from panels.artifacts import ADDRESS, PROGRAMS
from sauda.serve.limits import MOST_EPISODES
from sauda.serve.openenv import SocketLimits
from tests.support.running import run, unavailable
from tests.support.site import Site, served_page, toy_models, without_tabs

pytestmark = pytest.mark.slow
PATH = "/gradio_api/mcp"
HEADERS = {"accept": "application/json, text/event-stream"}

NEWEST = Path(sys.prefix) / "mcp-newest"  # today's client, installed by `make`


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A page without tabs behind the page's own guard."""
    with toy_models(), served_page(without_tabs) as page:
        yield page


async def told(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers to a call that it takes."""
    answer = await session.call_tool(tool, arguments)
    assert not answer.isError, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structuredContent
    return answer.structuredContent


@pytest.mark.parametrize(("task", "seat"), [("bazaar/open-3", "buyer"), ("bazaar/sell", "seller")])
def test_a_fresh_agent_haggles_in_each_seat_and_learns_only_then_what_was_hidden(site, task, seat):
    async def visit() -> None:
        async with (
            streamable_http_client(f"{site.address}{PATH}/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            game = await told(session, "new_game", task=task)
            here, own = {"game_id": game["game_id"]}, game["bazaar"]["own"]["reservation"]
            assert game["seat"] == seat
            if not game["over"]:
                game = await told(session, "offer", price=own, message="My last price.", **here)
            while not game["over"]:
                game = await told(session, "walk_away", message="Then not.", **here)
            review = await told(session, "review_game", **here)
            assert review["outcome"] == game["outcome"]
            (limits,) = review["limits"]
            assert limits[seat] == own
            (deal,) = game["bazaar"]["past"]
            if deal["price"] is not None:
                assert limits["seller"] <= deal["price"] <= limits["buyer"]
            known = review["oracle"]  # which solves the open market alone
            assert -1 <= known["grade"] <= 1 if task == "bazaar/open-3" else known is None

    run(visit())


with_both_packages = pytest.mark.parametrize("newest", [False, True], ids=["pinned", "newest"])


def output_of(newest: bool, program: str, *arguments: str) -> str:
    """What a program prints in a process in which the newest package stands before the pinned."""
    if newest and not NEWEST.is_dir():
        unavailable(f"mcp 2 is not in {NEWEST}; `make` installs it there")
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | ({"PYTHONPATH": str(NEWEST)} if newest else {}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@with_both_packages
def test_the_printed_client_runs_with_the_pinned_package_and_with_the_newest(site, newest):
    (agent,) = (each.text for each in PROGRAMS if each.elem_id == "api-agent")
    program = agent.replace(ADDRESS, f"{site.address}/")
    version = "from importlib.metadata import version\nprint(version('mcp'))\n"
    used, review = output_of(newest, version + program).split("\n", 1)
    assert used.startswith("2." if newest else "1.")
    assert "'policy': 'you'" in review


VIEWS = """
import asyncio, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client as http

async def main():
    async with http(sys.argv[1]) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).model_dump(by_alias=True)["tools"]
        for uri in {tool["_meta"]["ui"]["resourceUri"] for tool in tools if tool["_meta"]}:
            read = await session.read_resource(uri)
            (view,) = read.model_dump(by_alias=True)["contents"]
            print(uri, view["mimeType"], view["_meta"]["ui"], len(view["text"]))
        try:
            await session.read_resource("ui://sauda/other")
        except Exception as error:
            print(error)

asyncio.run(main())
"""


@with_both_packages
def test_a_client_with_mcp_apps_finds_the_view_of_each_game(site, newest):
    lines = output_of(newest, VIEWS, site.address + PATH).splitlines()
    *views, refused = sorted(lines, key=lambda line: not line.startswith("ui:"))
    assert [view.split()[0] for view in sorted(views)] == ["ui://sauda/arena", "ui://sauda/table"]
    assert all("text/html;profile=mcp-app {'prefersBorder': True}" in view for view in views)
    assert "the views are ui://sauda/table and ui://sauda/arena" in refused


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", f"{PATH}/sse", f"{PATH}/http/"])
def test_an_agent_that_comes_to_another_address_is_told_the_right_one(site, path):
    """By its client, which shows an answer of JSON-RPC and no body of another status."""

    async def visit() -> None:
        async with (
            streamable_http_client(site.address + path) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            with pytest.raises(McpError, match=f"{PATH} of this page, over streamable HTTP"):
                await session.initialize()

    run(visit())
    answer = site.shared.get(path, headers={"accept": "text/event-stream"})  # of the older protocol
    assert (answer.status_code, f"{PATH} of" in answer.json()["error"]) == (404, True)


def test_a_page_under_a_path_of_a_proxy_names_its_parts_below_it(monkeypatch):
    """The proxy takes the path off, so a request comes without it."""
    monkeypatch.setenv("GRADIO_ROOT_PATH", "/bargains")
    with toy_models(), served_page(without_tabs) as page:
        for path in ("/config", "/"):
            told = page.shared.get(path, headers={"host": "example.localhost"}).text
            assert '"root":"http://example.localhost/bargains"' in told.replace('": "', '":"')
        assert page.shared.get("/health").status_code == 200
        assert post(page, call("list_tasks", {})).status_code == 200


def post(site: Site, body: Any, **headers: str) -> Any:
    content = body if isinstance(body, str | bytes) else json.dumps(body)
    kind = {"content-type": "application/json"}
    return site.shared.post(PATH, content=content, headers=HEADERS | kind | headers)


def call(tool: Any, arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_messages_that_are_too_large_or_come_from_another_site_are_refused(site):
    large = call("offer", {"game_id": "x" * SocketLimits().frame_bytes})
    assert post(site, large).status_code == 413
    assert post(site, call("list_tasks", {}), origin="https://evil.example").status_code == 403
    assert post(site, call("list_tasks", {}), origin=site.address).status_code == 200
    for method in ("GET", "DELETE"):
        answer = site.shared.request(method, PATH, headers=HEADERS)
        assert (answer.status_code, "MCP" in answer.json()["error"]) == (405, True)


MALFORMED = [
    "", "{", "[]", "null", '{"jsonrpc": "2.0"}', '{"a": NaN}', b"\xff\xfe", "[" * 5000,
    {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": {}, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1, "method": "reset", "params": {}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
    call(None, {}), call("new_game", []), call("new_game", {"task": "../../etc/passwd"}),
    call("offer", {"game_id": "x", "price": "NaN"}), call("offer", {"odd": 1}),
]  # fmt: skip


def test_a_message_that_cannot_be_right_is_answered_with_a_fault_of_the_caller(site, caplog):
    for body in MALFORMED:
        answer = post(site, body)
        assert answer.status_code < 500, body
        if answer.status_code == 200:
            found = answer.json()
            assert "error" in found or found["result"]["isError"], body
        for leak in ("Traceback", 'File "', "site-packages", "sauda.serve", "passwd"):
            assert leak not in answer.text, body
    assert "Traceback" not in caplog.text


def test_health_counts_the_games(site):
    before = site.shared.get("/health").json()["mcp"]["games"]
    assert post(site, call("new_game", {})).status_code == 200
    assert site.shared.get("/health").json()["mcp"] == {"games": before + 1, "most": MOST_EPISODES}
