"""What the page keeps of a session, says of itself and does at its end; missing artifacts; what is
left of it while the function of an event does not end.
"""

import json
import signal
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest

from env import Offer
from panels.gpu_arena import players
from panels.haggle import game_view, opponents
from panels.haggle.screen import Visit
from panels.haggle.words import HINDI, translator
from panels.site import gate, health, serving, sessions
from panels.site.cache import PageCache
from panels.site.gate import HEADERS, Hosts, Served
from panels.site.serving import stay_until_stopped
from panels.site.sessions import OPEN, Sessions
from sauda.cloud import space
from sauda.llm import backends
from sauda.llm.server import Loading
from sauda.records import store
from sauda.sessions import bazaar as haggle
from tests.support.endpoint import server
from tests.support.site import Site, served_page, toy_models, without_tabs

pytestmark = pytest.mark.slow


@pytest.fixture
def blocks() -> gr.Blocks:
    with gr.Blocks() as page:
        name = gr.Textbox("a")
        count = gr.State([0])
        button = gr.Button()
        button.click(lambda text, kept: (text, kept), [name, count], [name, count])
    return page


@pytest.fixture
def holder(blocks) -> Iterator[Sessions]:
    kept = Sessions()
    kept.set_blocks(blocks)
    return kept


def part(blocks: gr.Blocks, kind: type) -> int:
    return next(number for number, block in blocks.blocks.items() if isinstance(block, kind))


def test_states_and_changed_components_are_a_sessions_own(blocks, holder):
    name, count = part(blocks, gr.Textbox), part(blocks, gr.State)
    holder["one"][count].append(1)
    holder["one"][name] = changed = gr.Textbox(max_length=5, render=False)
    assert (holder["one"][count], holder["two"][count]) == ([0, 1], [0])
    assert holder["one"][name] is changed
    assert holder["two"][name] is blocks.blocks[name]
    assert name in holder["two"]


def test_the_oldest_session_goes_where_there_are_too_many(holder):
    holder.capacity = 2
    for name in ("one", "two", "one", "three"):
        assert holder[name]
    assert list(holder.session_data) == ["one", "three"]


def test_a_flood_of_empty_sessions_ends_no_game_of_a_class_behind_one_address(blocks, holder):
    """Nor does one of sessions whose games nobody has moved in."""
    holder.capacity, count = 40, part(blocks, gr.State)
    opened = haggle.start("bazaar/sell", "linear", 7)
    moved = haggle.answer(opened, Offer(opened.observation.table.item.list_price))
    for number in range(30):
        holder.begin(f"player {number}", "192.0.2.1")
        holder[f"player {number}"][count] = Visit(game=moved)
    for number in range(200):
        holder.begin(f"empty {number}", f"203.0.113.{number}")
        if number % 2:
            holder[f"empty {number}"][count] = Visit(game=opened)
    assert len(holder.session_data) == 40
    for number in range(30):
        assert holder[f"player {number}"][count].game is moved


def call(site: Site, name: str, session: str, *data: object) -> list:
    """The outputs of the first event outside the queue whose function is `name`."""
    number = site.event_number(*name.rsplit(".", 1))
    return json.loads(site.call(number, list(data), session))["data"]


def reloaded(site: Site, before: str, after: str) -> str:
    """What a tab shows whose session was `before` and is `after`, as text."""
    kept = json.dumps({"session": before, "moved": True, "opponent": "linear", "language": "hi"})
    opening = "haggle.tab.open_page"
    return json.dumps(call(site, opening, after, kept, None), ensure_ascii=False)


def test_a_reload_finds_the_game_talk_and_language_again_and_leaves_the_former_session(site):
    first, second, third = (uuid.uuid4().hex for _ in range(3))
    choice = ["sell", "any item", "linear", "this page", "en"]
    call(site, "haggle.callbacks.begin", first, None, *choice)
    for text in ("₹900000 <b>only</b>", "is it raining?"):
        call(site, "haggle.callbacks.send", first, None, text)
    shown = reloaded(site, first, second)
    assert "₹900000 &lt;b&gt;only&lt;/b&gt;" in shown
    assert "is it raining?" in shown
    assert translator(HINDI)("quick_walk") in shown
    call(site, "haggle.callbacks.send", second, None, "₹800000")
    assert "₹8,00,000" in reloaded(site, second, third)
    assert "₹8,00,000" not in reloaded(site, first, uuid.uuid4().hex)


def test_a_reloaded_page_shows_the_game_that_its_tab_had_begun(site):
    def open_tab(session: str, former: str = "") -> str:
        (number,) = site.event_numbers("gpu_arena.tab", "open_tab")
        return site.call(number, [None, former], session, {"id": "open"})

    open_tab("before")
    (number,) = (n for n in site.event_numbers("gpu_arena.tab", "answer")
                 if site.blocks.fns[n].targets[0][1] == "click")  # fmt: skip
    site.call(number, [None], "before", {"id": "wait"})
    assert "Round 2 of 5" in open_tab("after", "before")
    assert "Round 2" not in open_tab("new")
    problem = open_tab("later", "of-another-page")
    assert "lost as the page was restarted; this is a new one" in problem
    del sessions.OPEN.session_data["before"]
    assert "this is a new one" in open_tab("latest", "before")


# Health, the end, and a page without artifacts


def test_health_counts_what_the_page_holds(site: Site):
    health = site.shared.get("/health").json()
    assert {"uptime_s", "games", "events", "openenv", "mcp"} <= set(health)
    assert {"temporary_files"} <= set(health)
    assert health["memory_mib"]["page"] > 50
    assert health["language_models"]["waiting"] == 0
    assert OPEN["one more"]
    sessions_now = site.shared.get("/health").json()["sessions"]
    assert sessions_now["kept"] == health["sessions"]["kept"] + 1


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/gradio_api/info"])
def test_every_answer_has_the_security_headers_and_may_stand_in_a_frame_of_a_space(site, path):
    headers = site.shared.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_what_runs_is_finished_before_the_page_ends(handlers):
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

    threading.Timer(0.3, finish).start()
    stay_until_stopped(blocks, served, grace=60)
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


@pytest.fixture
def no_artifacts(monkeypatch):
    """No artifact can be read until the test ends."""

    def read(path: Path) -> object:
        raise FileNotFoundError(path)

    monkeypatch.setattr(store, "read_json", read)
    kept = (
        game_view.seller_figures, opponents.opponent_choices, opponents.rows,
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


# While the function of an event does not end


STUCK, QUICK = range(2)  # the events, by number
SECONDS = 1.0  # until a call is given up
JOINED = 5  # seconds for which Gradio waits for a web server that does not end
MORE_THAN_RUN = 12  # calls, of one address


@dataclass(frozen=True)
class Stuck:
    """A page with events that do not end until `ends` is set."""

    site: Site
    ends: threading.Event

    def call(self, number: int, session: str = "one") -> httpx.Response:
        body = {"data": [], "fn_index": number, "session_hash": session}
        return self.site.shared.post("/gradio_api/run/predict", json=body)

    def call_many(self) -> list[httpx.Response]:
        with ThreadPoolExecutor(MORE_THAN_RUN) as pool:
            return list(pool.map(lambda n: self.call(STUCK, f"{n}"), range(MORE_THAN_RUN)))


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    ends = threading.Event()

    def wait() -> str:
        ends.wait()
        return "late"

    def build() -> gr.Blocks:
        with gr.Blocks() as page:
            shown = gr.Textbox()
            gr.Button().click(wait, None, shown, queue=False)
            gr.Button().click(lambda: "quick", None, shown, queue=False)
        return page

    with ExitStack() as kept:
        kept.enter_context(toy_models())
        site = kept.enter_context(served_page(build))
        kept.callback(ends.set)
        yield Stuck(site, ends)


@pytest.fixture
def short(monkeypatch) -> None:
    monkeypatch.setattr(gate, "SECONDS", SECONDS)


def test_a_call_that_does_not_end_is_given_up_with_a_sentence_and_leaves_its_place(stuck, short):
    told = {answer.json()["error"] for answer in stuck.call_many()}
    assert len(told) == 1
    assert told.pop().endswith("try again in a minute.")
    assert stuck.call(QUICK).json()["data"] == ["quick"]
    assert stuck.site.served.calls.running == 0


def test_health_is_bad_while_no_event_has_its_turn_and_good_again_afterwards(stuck, monkeypatch):
    monkeypatch.setattr(health, "PULSE_SECONDS", SECONDS)
    monkeypatch.setattr(health, "PULSE_KEPT", 0)
    assert stuck.site.shared.get("/health").json()["status"] == "healthy"
    calls = threading.Thread(target=stuck.call_many)
    calls.start()
    while stuck.site.served.calls.waiting == 0:
        time.sleep(0.01)
    bad = stuck.site.shared.get("/health")
    assert (bad.status_code, bad.json()["status"]) == (503, "unhealthy")
    assert "event" in bad.json()["trouble"]
    stuck.ends.set()
    calls.join()
    assert stuck.site.shared.get("/health").status_code == 200


def test_the_page_ends_although_a_call_does_not(stuck, handlers):
    def call() -> None:
        with suppress(httpx.HTTPError):  # the connection is cut
            stuck.call(STUCK)

    threading.Thread(target=call).start()
    while stuck.site.served.calls.running == 0:
        time.sleep(0.01)
    threading.Timer(0.2, signal.raise_signal, [signal.SIGTERM]).start()
    began = time.monotonic()
    stay_until_stopped(stuck.site.blocks, stuck.site.served, grace=SECONDS)
    assert time.monotonic() - began < JOINED
    with pytest.raises(httpx.ConnectError):
        httpx.get(stuck.site.address)


def test_one_connection_more_than_the_server_holds_is_told_so_and_the_page_lives_on(monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS", 2)
    with toy_models(), served_page(without_tabs) as page, ExitStack() as stack:
        port = int(page.address.rpartition(":")[2])
        for _ in range(2):  # which ask for nothing
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert page.shared.get("/health").status_code == 503
        stack.close()
        while page.shared.get("/health").status_code == 503:
            time.sleep(0.05)
        assert page.shared.get("/health").status_code == 200
