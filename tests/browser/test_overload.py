"""Many requests at once, over the calls that the page's browser side makes, leave it answering."""

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from gradio_client import Client

AT_ONCE = 45  # more than the 40 threads of the server
SOON = 20  # seconds; tests share the cores
FILLED = {  # what a caller may put in, by the label of an input
    "Task": "bazaar/open",
    "Seed": "{number}",
    "Policies, up to four": ["mini", "sauda-mini"],
    "Moves shown": 3,
}


@pytest.fixture(scope="module")
def config(server) -> dict[str, Any]:
    return httpx.get(f"{server}/config", timeout=SOON).json()


def event_of(config, label: str, trigger: str, without: str = "") -> dict[str, Any]:
    """The first event that `trigger` of the part labelled `label` starts.

    With `without`, the first of those that have no input of that label.
    """
    parts = {part["id"]: part["props"] for part in config["components"]}
    return next(
        event
        for event in config["dependencies"]
        for part, name in event["targets"]
        if name == trigger and label in (parts.get(part, {}).get("label"), parts[part].get("value"))
        if not without or without not in [parts[i].get("label") for i in event["inputs"]]
    )


def call(server: str, config, event: dict[str, Any], number: int) -> int:
    """The status of one direct request to `event`, its inputs filled in as a caller may; 0 where
    none came in time.
    """
    parts = {part["id"]: part["props"] for part in config["components"]}
    data = [FILLED.get(parts[part].get("label")) for part in event["inputs"]]
    data = [value.format(number=number) if isinstance(value, str) else value for value in data]
    body = {"fn_index": event["id"], "data": data, "session_hash": uuid.uuid4().hex}
    try:
        return httpx.post(f"{server}/gradio_api/run/predict", json=body, timeout=SOON).status_code
    except httpx.TimeoutException:
        return 0


def assert_answers(server: str) -> None:
    """The page comes, and a scripted game is played, within a few seconds each."""
    began = time.monotonic()
    assert httpx.get(f"{server}/", timeout=SOON / 2).status_code == 200
    client = Client(server, verbose=False)
    game = client.submit("classic/single_deal", "expert", "7", api_name="/play")
    assert game.result(timeout=SOON / 2)["policy"] == "expert"
    assert time.monotonic() - began < SOON


def test_45_requests_to_the_step_slider_at_once_leave_the_page_answering(server, config):
    event = event_of(config, "Moves shown", "input", without="Market")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = list(pool.map(lambda n: call(server, config, event, n), range(AT_ONCE)))
    assert set(seen) == {200}
    assert_answers(server)


@pytest.mark.parametrize(
    ("label", "trigger"),
    [("Policies, up to four", "input"), ("Seed", "blur"), ("Step", "click"), ("Act", "click")],
)
def test_queued_events_cannot_be_called_past_the_queue(server, config, label, trigger):
    assert call(server, config, event_of(config, label, trigger), 7) == 404


def played(server: str, seed: int) -> dict[str, Any]:
    """A game played over the API with plain requests.

    Of many jobs at once, `gradio_client` now and then drops one whose stream ends before it looks.
    """
    call = f"{server}/gradio_api/call/play"
    asked = httpx.post(
        call, json={"data": ["classic/single_deal", "expert", str(seed)]}, timeout=SOON
    )
    events = httpx.get(f"{call}/{asked.json()['event_id']}", timeout=3 * SOON).text
    return json.loads(events.partition("event: complete\ndata: ")[2].splitlines()[0])[0]


def test_45_games_asked_of_the_api_at_once_are_played_one_after_another(server):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        games = [pool.submit(played, server, seed) for seed in range(AT_ONCE)]
        assert httpx.get(f"{server}/", timeout=SOON / 2).status_code == 200
        assert [game.result()["seed"] for game in games] == list(map(str, range(AT_ONCE)))
    assert_answers(server)
