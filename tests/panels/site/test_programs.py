"""Programs on the page's own port: `sauda-env enter` plays an entry; agents play by MCP."""

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector, Request

import pytest
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client

from env import enter
from panels.artifacts import ADDRESS, PROGRAMS
from sauda.serve.limits import MOST_EPISODES
from sauda.serve.openenv import SocketLimits
from tests.support.endpoint import openai, server
from tests.support.running import output_of, run, unavailable
from tests.support.site import Site, served_page, toy_models, without_tabs

pytestmark = pytest.mark.slow
KEY = "sk-0123456789-secret"
WALKS = openai('I leave. {"walk": true} Good bye!')


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with toy_models(), served_page(without_tabs) as page:
        page.served.sockets.app.state.entries.of_address = 100
        yield page


@pytest.fixture
def sent(monkeypatch) -> list[Request]:
    """Every request of the command, which waits for nobody and has its key in the environment."""
    requests, opened = [], OpenerDirector.open

    def open_noted(self, request, *more, **options):
        requests.append(request)
        return opened(self, request, *more, **options)

    monkeypatch.setattr(OpenerDirector, "open", open_noted)
    monkeypatch.setattr(enter, "WAITS", (0.01, 0.01, 0.01))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return requests


def enter_at(site: Site, provider: str, name: str, *more: str) -> int:
    where = ["--url", site.address, "--base-url", f"{provider}/v1", "--model", "m"]
    return enter.main(["enter", *where, "--name", name, "--task", "bazaar/people", *more])


def test_one_command_enters_a_model_and_its_key_goes_to_its_provider_alone(site, sent, capsys):
    with server(WALKS) as (provider, asked):
        assert enter_at(site, provider, "walker", "--yes", "--price", "1", "2") == 0
    told = capsys.readouterr().out
    assert re.match(r"About \d+ calls, [\d,]+ tokens read, [\d,]+ written, 0.\d\d in money", told)
    assert "game 50 of 50: walkaway" in told
    assert "450 tokens read, 350 written, 0.00 in money" in told
    assert json.loads(told.splitlines()[-1])["total_episodes"] == 50
    assert len(asked) == 50
    assert {authorization for _, _, authorization in asked} == {f"Bearer {KEY}"}
    to_page = [each for each in sent if each.full_url.startswith(site.address)]
    assert len(to_page) > 50
    for request in to_page:
        assert KEY not in f"{request.full_url} {request.header_items()} {request.data}"
    assert KEY not in told


FAULTS = [  # what the provider answers, and what is said of it
    (401, "does not take the key \\(status 401\\)"),
    (404, "has no such address or model"),
    (500, "fails \\(status 500\\)"),
    (429, "has had too many calls for now"),
    ("close", "does not answer"),
    (b"<html>", "answers no JSON"),
    (b"[]", "answers no JSON object"),
    ({"choices": []}, "holds no message"),
    (openai(""), "three times without words \\(it ended by stop\\)"),
]


@pytest.mark.parametrize(("fault", "sentence"), FAULTS)
def test_what_stops_an_entry_is_told_and_the_same_command_with_its_token_goes_on(
    site, sent, capsys, fault, sentence
):
    with server(WALKS, WALKS, fault) as (provider, asked):
        assert enter_at(site, provider, f"stopped {FAULTS.index((fault, sentence))}", "--yes") == 1
        calls = len(asked)
    told = capsys.readouterr()
    assert re.search(f"Stopped: .*{sentence}", told.err)
    assert "Nothing is lost." in told.err
    assert KEY not in told.out + told.err
    assert calls == (6 if fault in (429, 500, "close") else 5 if fault == openai("") else 3)
    token = re.search(r"--token=(\S+)", told.out)[1]
    with server(WALKS) as (provider, asked):
        assert enter_at(site, provider, "", f"--token={token}") == 0
    assert len(asked) == 48


@pytest.mark.parametrize("url", ["ftp://a.b", "http://a:port", "http://a b", "http://a:99999", "a"])
def test_what_is_no_address_is_said_before_a_call(url, capsys):
    with pytest.raises(SystemExit):
        enter.main(["enter", "--url", url, "--base-url", "http://a", "--model", "m", "--name", "a"])
    assert "is no address that begins with https://" in capsys.readouterr().err


def test_a_page_without_a_leaderboard_is_told(sent, capsys):
    with server({"calls": 1}) as (page, _):
        spec = ["--url", page, "--base-url", page, "--model", "m", "--token", "a"]
        assert enter.main(["enter", *spec]) == 1
    assert "answers as no leaderboard ('error')" in capsys.readouterr().err


def test_a_fault_that_passes_costs_nothing(site, sent, capsys):
    with server(429, 503, WALKS) as (provider, asked):
        assert enter_at(site, provider, "patient", "--yes") == 0
    assert len(asked) == 52
    assert "again in 0.01 s" in capsys.readouterr().err


def test_a_key_follows_no_redirect_and_is_not_quoted(site, sent, capsys):
    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(307)
            self.send_header("Location", f"{other}/v1/chat/completions")
            self.end_headers()
            self.wfile.write(f"moved, {self.headers['Authorization']}".encode())

        def log_message(self, *_):
            pass

    with server(WALKS) as (other, asked):
        moved = HTTPServer(("127.0.0.1", 0), Elsewhere)
        threading.Thread(target=moved.handle_request, daemon=True).start()
        assert enter_at(site, f"http://127.0.0.1:{moved.server_port}", "moved", "--yes") == 1
        moved.server_close()
    assert asked == []
    told = capsys.readouterr()
    assert "refuses the call (status 307)" in told.err
    assert KEY not in told.err


def test_nothing_is_entered_without_a_yes(site, sent, capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "no")
    with server(WALKS) as (provider, asked):
        assert enter_at(site, provider, "hesitant") == 0
    assert asked == []
    assert [each.full_url.split("?")[0] for each in sent] == [f"{site.address}/leaderboard/typical"]


# MCP on the page's own port


PATH = "/gradio_api/mcp"
HEADERS = {"accept": "application/json, text/event-stream"}

NEWEST = Path(sys.prefix) / "mcp-newest"  # today's client, installed by `make`


with_both_packages = pytest.mark.parametrize("newest", [False, True], ids=["pinned", "newest"])


def shown_by(newest: bool, program: str, *arguments: str) -> str:
    """What a program prints in a process in which the newest package stands before the pinned."""
    if newest and not NEWEST.is_dir():
        unavailable(f"mcp 2 is not in {NEWEST}; `make` installs it there")
    environment = os.environ | ({"PYTHONPATH": str(NEWEST)} if newest else {})
    return output_of(sys.executable, "-c", program, *arguments, env=environment, timeout=60)


@with_both_packages
def test_the_printed_client_runs_with_the_pinned_package_and_with_the_newest(site, newest):
    (agent,) = (each.text for each in PROGRAMS if each.elem_id == "api-agent")
    program = agent.replace(ADDRESS, f"{site.address}/")
    version = "from importlib.metadata import version\nprint(version('mcp'))\n"
    used, review = shown_by(newest, version + program).split("\n", 1)
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
    lines = shown_by(newest, VIEWS, site.address + PATH).splitlines()
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
