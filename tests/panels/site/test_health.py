"""What the page says of itself and how it ends; missing artifacts."""

import json
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from panels.gpu_arena import players
from panels.haggle import game_view, opponents
from panels.site.cache import PageCache
from panels.site.gate import HEADERS, Hosts, Served
from panels.site.serving import stay_until_stopped
from panels.site.visitor import OPEN
from sauda.cloud import space
from sauda.llm import backends
from sauda.llm.server import Loading
from sauda.records import store
from tests.support.endpoint import server
from tests.support.site import Site

pytestmark = pytest.mark.slow


def test_health_counts_sessions_games_events_caches_replies_memory_and_files(site: Site):
    health = site.shared.get("/health").json()
    assert set(health) == {
        "status", "uptime_s", "sessions", "games", "events", "openenv", "mcp", "pages",
        "caches", "language_models", "memory_mib", "temporary_files",
    }  # fmt: skip
    assert health["memory_mib"]["page"] > 50
    assert health["language_models"]["waiting"] == 0
    kept = health["sessions"]["kept"]
    assert OPEN["one more"]
    assert site.shared.get("/health").json()["sessions"]["kept"] == kept + 1


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/gradio_api/info"])
def test_every_answer_has_the_security_headers_and_may_stand_in_a_frame_of_a_space(site, path):
    headers = site.shared.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_what_runs_is_finished_before_the_page_ends():
    """SIGTERM comes while an answer is awaited; the blocks are closed after it, never before."""
    closed, served = [], Served(Hosts(()), PageCache(), None, None)
    assert served.answers.take("an address")
    blocks = SimpleNamespace(close=lambda: closed.append(True))

    def finish() -> None:
        signal.raise_signal(signal.SIGTERM)
        while served.is_open:
            time.sleep(0.01)
        assert not closed
        served.answers.give_back("an address")

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        threading.Timer(0.3, finish).start()
        stay_until_stopped(blocks, served, grace=60)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert closed == [True]


def test_the_smoke_test_passes_on_the_page_and_names_what_is_wrong_elsewhere(
    site: Site, monkeypatch
):
    assert {check.about: check.fault for check in space.smoke(site.address)} == dict.fromkeys(
        space.CHECKS, ""
    )
    task, policy, seed = space.GAME
    monkeypatch.setattr(space, "GAME", (task, policy, seed + 1))
    played = space.rollout
    monkeypatch.setattr(space, "rollout", lambda task, policy, seed: played(task, policy, seed - 1))
    faults = [check.fault for check in space.smoke(site.address) if check.fault]
    assert len(faults) == 1
    assert faults[0].endswith("at seed 8 plays another game than this code does")
    with server({}) as (other, _):
        found = {check.about: check.fault for check in space.smoke(other)}
    assert found["first page"] == "/ answered with the status 501"
    assert found["one scripted game over the API"] == "/play gives no event to wait for"
    assert all(check.fault.startswith("no answer: ") for check in space.smoke(other))


def test_health_says_which_model_cannot_reply(site, monkeypatch):
    stages = backends.own_service().stages
    monkeypatch.setitem(stages, "crashed", Loading("crashed", 0.0, again=True))
    monkeypatch.setitem(stages, "loading", Loading("loading", 0.0))
    health = site.shared.get("/health").json()
    assert health["status"] == "degraded"
    assert health["trouble"] == "crashed is recovering"
    assert health["language_models"]["models"]["crashed"] == "recovering"


@pytest.fixture(params=["deleted", "torn"])
def no_artifacts(request, monkeypatch):
    """No artifact can be read until the test ends."""

    def read(path: Path) -> object:
        if request.param == "deleted":
            raise FileNotFoundError(path)
        return json.loads('{"kind": ')

    monkeypatch.setattr(store, "read_json", read)
    kept = (
        game_view.score, game_view.seller_figures, opponents.opponent_choices, opponents.rows,
        players.read_measured,
    )  # fmt: skip
    for cache in kept:
        cache.cache_clear()
    yield
    for cache in kept:
        cache.cache_clear()


def test_events_of_every_tab_answer_while_no_artifact_can_be_read(site: Site, no_artifacts):
    called = 0
    for number, event in site.blocks.fns.items():
        if event.fn is None or event.queue:
            continue
        data = [None if part.stateful else part.get_config().get("value") for part in event.inputs]
        body = {"data": data, "fn_index": number, "session_hash": "without"}
        answered = site.shared.post("/gradio_api/run/predict", json=body)
        assert answered.status_code == 200, (event.fn.__module__, event.fn.__name__, answered.text)
        called += 1
    assert called > 40
