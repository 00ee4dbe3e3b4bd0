"""Calls that are crafted for the kinds of the components that they fill, over HTTP."""

import random
import tempfile
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from sauda.records.store import ROOT
from tests.support.site import Site

pytestmark = pytest.mark.slow

ROUNDS = 3  # crafted calls per event
FILE = {"path": "http://127.0.0.1:9/large", "meta": {"_type": "gradio.FileData"}}
FILES = [
    FILE,
    {"path": "/etc/passwd"},
    {"path": "/etc/passwd", "meta": "gradio.FileData"},
    {"path": ["x"], "meta": {"_type": "gradio.FileData"}},
    {**FILE, "path": "x", "url": "http://127.0.0.1:9/large", "is_stream": True},
    {"url": "http://127.0.0.1:9/large", "meta": {"_type": "gradio.FileData"}},
    {"name": "a.png", "data": "data:image/png;base64,iVBORw0KGgo=", "is_file": False},
    {"__type__": "update", "value": "x"},
]
TEXTS = [
    "", " ", "\x00", "\u202e\u2066", "data:text/plain;base64,QQ==", "?tab=haggle&day=0&moves=zz",
    "?" + "a=b&" * 500, "?round=99999999999999999999&game=-1&seed=1e9", '{"path": "/etc/passwd"}',
    "९९९", "½", "1e400", "-0", "null", "\r\nset-cookie: a=b", "a/../../b", "%00%ff%", "x" * 19_999,
]  # fmt: skip
NUMBERS = [0, -0.0, 1, 2, 0.1, 1e-320, 1e299, 2**53 + 1, -(10**18), True]
STORED = [
    None, [], {}, "x", 7, {"2026-02-30": "x"}, {"2026-01-01": {"moves": []}}, {"2026-01-01": None},
    {"": ""}, [[[[]]]], {"right": "many", "seen": [None]}, {"right": -1e308, "played": "0"},
]  # fmt: skip


def nested(value: Any, stream: random.Random) -> Any:
    """The value, or some structure that holds it."""
    for _ in range(stream.randrange(4)):
        value = stream.choice([[value], {"a": value}, [None, value, 1], {"a": {"b": [value]}}])
    return value


def crafted(part: gr.blocks.Block, stream: random.Random) -> Any:
    """A value that the component may nearly hold."""
    if stream.random() < 0.2:
        return nested(stream.choice(FILES), stream)
    if isinstance(part, gr.Slider | gr.Number):
        bounds = [part.minimum, part.maximum]
        return stream.choice([*NUMBERS, *(b for b in bounds if b is not None)])
    if isinstance(part, gr.Dropdown | gr.Radio | gr.CheckboxGroup):
        values = [value for _, value in part.choices] or ["x"]
        one = stream.choice(values)
        several = isinstance(part, gr.CheckboxGroup) or getattr(part, "multiselect", False)
        near = [one, one, one, str(one), None, [one], values[:2], stream.choice(TEXTS), 1.0]
        return [one] if several and stream.random() < 0.5 else stream.choice(near)
    if isinstance(part, gr.BrowserState):
        return stream.choice(STORED)
    return stream.choice([*TEXTS, *STORED])


def crafted_calls(site: Site, stream: random.Random) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Calls of every event, most of whose values are crafted; whether each goes into the queue."""
    for number, event in site.blocks.fns.items():
        if event.fn is None:
            continue
        for _ in range(ROUNDS):
            data = [
                crafted(part, stream) if stream.random() < 0.6 else part.get_config().get("value")
                for part in event.inputs
            ]
            call = {"data": data, "fn_index": number, "session_hash": f"crafted-{number}"}
            if event.targets and stream.random() < 0.8:
                call["trigger_id"] = event.targets[0][0]
            if event.collects_event_data or stream.random() < 0.1:
                names = ["index", "value", "x", "choice", "step", "offer", "block", "move"]
                call["event_data"] = stream.choice(
                    [{name: stream.choice([*TEXTS, *STORED]) for name in names}, *FILES, *STORED]
                )
            yield bool(event.queue), call


def test_no_crafted_call_of_any_event_fails_on_the_server(site):
    stream, refused, leaks = random.Random(35), 0, (str(ROOT.parent), tempfile.gettempdir())
    for queued, call in crafted_calls(site, stream):
        route = "queue/join" if queued else "run/predict"
        answer = site.shared.post(f"/gradio_api/{route}", json=call)
        assert answer.status_code < 500, (call, answer.text)
        if answer.status_code >= 400:
            refused += 1
            assert answer.json()["error"].endswith(".")
            assert not any(leak in answer.text for leak in ("Traceback", *leaks))
    assert refused


@pytest.mark.parametrize("value", FILES, ids=str)
def test_no_event_takes_a_file_whatever_way_it_comes(site, value):
    deep, play = {"a": [None, {"b": value}]}, site.event_number("artifacts.tab", "play")
    own = {"session_hash": "files"}
    calls = [
        ("call/play", {"data": ["classic/single_deal", "expert", deep]}),
        ("call/v2/play", {"task_name": "classic/single_deal", "seed": deep}),
        ("queue/join", {"data": [deep, "expert", "7"], "fn_index": play, **own}),
    ]
    for number, event in site.blocks.fns.items():
        if event.fn and event.inputs and not event.queue:
            data = [part.get_config().get("value") for part in event.inputs]
            calls.append(("run/predict", {"data": [*data[:-1], deep], "fn_index": number, **own}))
    chosen = {"data": [], "fn_index": site.event_number("tour.tab", "chosen"), **own}
    calls.append(("api/predict", {**chosen, "event_data": deep}))
    for route, call in calls:
        answer = site.shared.post(f"/gradio_api/{route}", json=call)
        assert (answer.status_code, "no files" in answer.json()["error"]) == (422, True), call


@pytest.mark.parametrize(
    "path", ["file=http://127.0.0.1:9/x", "file=https://example.com", "proxy=http://127.0.0.1:9/x"]
)
def test_the_page_fetches_no_address_that_a_caller_names(site, path):
    assert site.shared.get(f"/gradio_api/{path}").status_code == 404


def test_what_gradio_caches_is_deleted_in_time_and_no_upload_has_room(site):
    often, age = site.blocks.delete_cache
    assert 0 < often <= age <= 24 * 3600
    assert site.blocks.max_file_size == 0
