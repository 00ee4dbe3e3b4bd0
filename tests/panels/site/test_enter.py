"""`sauda-env enter`: a model of a server of its own plays an entry of the page to its end."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import OpenerDirector, Request

import pytest

from env import enter
from tests.support.endpoint import openai, server
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


def run(site: Site, provider: str, name: str, *more: str) -> int:
    where = ["--url", site.address, "--base-url", f"{provider}/v1", "--model", "m"]
    return enter.main(["enter", *where, "--name", name, "--task", "bazaar/people", *more])


def test_one_command_enters_a_model_and_its_key_goes_to_its_provider_alone(site, sent, capsys):
    with server(WALKS) as (provider, asked):
        assert run(site, provider, "walker", "--yes", "--price", "1", "2") == 0
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
        assert run(site, provider, f"stopped {FAULTS.index((fault, sentence))}", "--yes") == 1
        calls = len(asked)
    told = capsys.readouterr()
    assert re.search(f"Stopped: .*{sentence}", told.err)
    assert "Nothing is lost." in told.err
    assert KEY not in told.out + told.err
    assert calls == (6 if fault in (429, 500, "close") else 5 if fault == openai("") else 3)
    token = re.search(r"--token=(\S+)", told.out)[1]
    with server(WALKS) as (provider, asked):
        assert run(site, provider, "", f"--token={token}") == 0
    assert len(asked) == 48


def test_a_fault_that_passes_costs_nothing(site, sent, capsys):
    with server(429, 503, WALKS) as (provider, asked):
        assert run(site, provider, "patient", "--yes") == 0
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
        assert run(site, f"http://127.0.0.1:{moved.server_port}", "moved", "--yes") == 1
        moved.server_close()
    assert asked == []
    told = capsys.readouterr()
    assert "refuses the call (status 307)" in told.err
    assert KEY not in told.err


def test_nothing_is_entered_without_a_yes(site, sent, capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "no")
    with server(WALKS) as (provider, asked):
        assert run(site, provider, "hesitant") == 0
    assert asked == []
    assert [each.full_url.split("?")[0] for each in sent] == [f"{site.address}/leaderboard/typical"]
