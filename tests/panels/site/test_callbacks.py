"""What every callback of the page makes of values that no browser sends."""

import dataclasses
import json
import tempfile
from collections.abc import Iterator
from random import Random
from typing import Any

import gradio as gr
import httpx
import pytest

from panels.gpu_arena.offers import Fields
from panels.gpu_arena.tab import PRESSES
from sauda.records.store import ROOT
from tests.support.site import Site, opening

pytestmark = pytest.mark.slow

LEAKS = ("Traceback", ".py", str(ROOT.parent), tempfile.gettempdir())
WORDS = [
    "neither", "", "0", "-1", "NaN", "1e400", "bazaar/nothing", "sell", "bazaar/open-3", "hidden",
    "९९९", "\x00", "x" * 600, "../../etc/passwd", "<b>", "{}", "0001-01-01",
]  # fmt: skip
VALUES = [*WORDS, None, True, -1, 0, 10**30, 0.5, [], ["neither"], {}, {"value": "x"}]
SENT = ["search", "value", "index", "seller", "buyer"]
MOVES = [
    "open", *PRESSES, "offer", "what_if", "take_back", "begin", "replay_item", "stop",
    "ask_again", "stand_in", "check_health", "watch", "more", "next",
]  # fmt: skip
ADDRESSES = [
    "", "day=0001-01-01", "day=9999-12-31&moves=3A", "task=bazaar/open-3&seed=-1", "tab=x&part=y",
    "tab=haggle&task=bazaar/sell&seed=1e9&against=x", "seed=" + "9" * 400, "language=x&seat=x",
]  # fmt: skip
TABS = [f"?tab={tab}&{query}" for tab in ("haggle", "results", "training", "transcripts", "judge")
        for query in ADDRESSES]  # fmt: skip


def junk_for(part: Any) -> list[Any]:
    """Values of the kind that the component sends, most of which it never does."""
    if isinstance(part, gr.Dropdown | gr.Radio):
        offered = [value for _, value in part.choices]
        several = getattr(part, "multiselect", False)
        return [[], offered[:2], offered[-1:]] if several else offered
    if isinstance(part, gr.Slider):
        return [part.maximum + 1, -1, 0, 1e300, part.minimum + 0.5, part.maximum]
    return [*TABS, *WORDS] if isinstance(part, gr.HTML) else WORDS


def junk_calls(event: Any, stream: Random, most: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Calls of the event, each with junk in one argument, in what a press sends, or in the address.

    At most `most` of each.
    """
    usual = [opening(part) for part in event.inputs]
    yield from (({"data": usual}, address) for address in stream.sample(ADDRESSES, most))
    for place, part in enumerate(event.inputs):
        junk = junk_for(part)
        for value in stream.sample(junk, min(most, len(junk))):
            yield {"data": [*usual[:place], value, *usual[place + 1 :]]}, ""
    for name in stream.sample(MOVES, most) if event.collects_event_data else ():
        fields = {field.name: stream.choice(VALUES) for field in dataclasses.fields(Fields)}
        move = {"id": f"{name}:{stream.choice(VALUES)}", "fields": stream.choice([fields, None])}
        sent = move | {each: stream.choice(VALUES) for each in SENT}
        yield {"data": usual, "event_data": sent}, ""


def outcome(site: Site, number: int, body: dict, query: str) -> str | None:
    """The sentence of a call's refusal, None for one without; "" where the event answered."""
    client = site.shared
    if not site.blocks.fns[number].queue:
        answer = client.post("/gradio_api/run/predict", params=query, json=body)
        return "" if answer.status_code == 200 else answer.json()["error"]
    answer = client.post("/gradio_api/queue/join", params=query, json=body)
    if answer.status_code != 200:
        return answer.json()["error"]
    stream = client.get("/gradio_api/queue/data", params={"session_hash": body["session_hash"]})
    messages = [json.loads(line[6:]) for line in stream.text.splitlines() if line[:6] == "data: "]
    (end,) = [each for each in messages if each["msg"] == "process_completed"]
    return "" if end["success"] else end["output"]["error"]


@pytest.mark.nightly
def test_every_callback_answers_junk_in_time_and_in_a_sentence(site: Site, request):
    stream, faults = Random(52), []
    whole = request.config.getoption("--full")
    for number, event in site.blocks.fns.items():
        most = 8 if whole else 1
        for turn, (call, query) in enumerate(junk_calls(event, stream, most) if event.fn else ()):
            body = {"fn_index": number, "session_hash": f"junk-{turn % 3}", **call}
            try:
                told = outcome(site, number, body, query)
            except httpx.TimeoutException:
                told = None
            leaks = told and any(leak in told for leak in LEAKS)
            if told is None or leaks or "given up" in told or (told and told[-1] != "."):
                faults.append((event.fn.__module__, event.fn.__name__, told, body, query))
    assert not faults
