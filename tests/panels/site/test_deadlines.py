"""What is left of the page while the function of an event does not end."""

import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import gradio as gr
import httpx
import pytest

from panels.site import gate, health, serving
from panels.site.serving import stay_until_stopped
from tests.support.site import Site, served_page, toy_models, without_tabs

pytestmark = pytest.mark.slow

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
