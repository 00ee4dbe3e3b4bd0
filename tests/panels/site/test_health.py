"""What the page says of itself, the headers of its answers, and how it ends."""

import signal
import threading
import time
from types import SimpleNamespace

import pytest

from panels.judge.pitch import rounds_of
from panels.site import health as report
from panels.site import shutdown
from panels.site.guard import Doors
from panels.site.headers import HEADERS
from panels.site.shutdown import stay_until_stopped
from panels.transcripts.episodes import by_model
from sauda.cloud import space
from sauda.llm.serving import served
from sauda.llm.serving.events import Loading
from tests.support.endpoint import server
from tests.support.site import Site

pytestmark = pytest.mark.slow


def test_health_counts_sessions_games_events_caches_replies_memory_and_files(site: Site):
    health = site.shared.get("/health").json()
    assert set(health) == {
        "status", "uptime_s", "sessions", "games", "events", "openenv", "mcp", "pages",
        "caches", "language_models", "memory_mib", "downloads", "temporary_files",
    }  # fmt: skip
    assert health["memory_mib"]["page"] > 50
    assert health["language_models"]["waiting"] == 0
    kept = health["sessions"]["kept"]
    site.app.state_holder["one more"]
    assert site.shared.get("/health").json()["sessions"]["kept"] == kept + 1


def test_health_counts_running_and_finished_games_and_the_sizes_of_caches(site: Site):
    def health() -> dict:
        return site.shared.get("/health").json()

    number = site.event_number("gpu_arena.address", "begin_here")
    inputs = site.blocks.fns[number].inputs
    values = [None if part.stateful else part.value for part in inputs]
    before = health()["games"]
    site.call(number, values, "counted")
    after = health()["games"]
    assert after["running"] + after["finished"] == before["running"] + before["finished"] + 1
    by_model.cache_clear()
    name = "panels.transcripts.episodes.by_model"
    assert name not in health()["caches"]
    rounds_of.cache_clear()
    rounds_of(3)
    assert health()["caches"]["panels.judge.pitch.rounds_of"] == {"kept": 1, "most": 16}
    for sizes in health()["caches"].values():
        assert sizes["kept"] <= sizes["most"]


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/gradio_api/info"])
def test_every_answer_has_the_security_headers_and_may_stand_in_a_frame_of_a_space(site, path):
    headers = site.shared.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_a_page_that_is_about_to_end_takes_no_new_call(site):
    site.doors.open = False
    try:
        answer = site.shared.post("/gradio_api/call/play", json={"data": []})
        assert answer.status_code == 503
        assert answer.json()["error"].startswith("The page is being restarted")
        assert site.shared.get("/").status_code == 200
    finally:
        site.doors.open = True


def test_what_runs_is_finished_before_the_page_ends(monkeypatch):
    """SIGTERM arrives while an event runs; the blocks are closed after its end, never before."""
    events, closed = ["an event"], []
    monkeypatch.setattr(shutdown, "queued_events", lambda blocks: events)
    blocks = SimpleNamespace(close=lambda: closed.append(True))
    doors = Doors()

    def finish() -> None:
        signal.raise_signal(signal.SIGTERM)
        while doors.open:
            time.sleep(0.01)
        assert not closed
        events.clear()

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        threading.Timer(0.3, finish).start()
        stay_until_stopped(blocks, doors, grace=60)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert (events, closed) == ([], [True])


def test_a_full_or_missing_folder_for_temporary_files_is_named(monkeypatch):
    full = SimpleNamespace(free=3 * 2**20)
    monkeypatch.setattr(report.shutil, "disk_usage", lambda folder: full)
    sentence = report.trouble_with_temporary_files()
    assert f"{report.tempfile.gettempdir()}, has 3 MiB left of the 64" in sentence
    full.free = 2**30
    assert report.trouble_with_temporary_files() == ""

    def none() -> str:
        raise FileNotFoundError("no usable folder")

    monkeypatch.setattr(report.tempfile, "gettempdir", none)
    assert "no folder for temporary files" in report.trouble_with_temporary_files()


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
    stages = served.own_service().stages
    monkeypatch.setitem(stages, "crashed", Loading("crashed", 0.0, again=True))
    monkeypatch.setitem(stages, "loading", Loading("loading", 0.0))
    health = site.shared.get("/health").json()
    assert health["status"] == "degraded"
    assert health["trouble"] == "crashed is recovering"
    assert health["language_models"]["models"]["crashed"] == "recovering"
