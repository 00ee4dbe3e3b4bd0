"""What a stranger's requests can do to the page, over HTTP."""

import json
import random
import re
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradio as gr
import pytest

from panels.site import internals, serving
from panels.site.calls import checked
from panels.site.internals import queued_events, waiting
from panels.site.queue_door import OF_ADDRESS
from panels.transcripts import episodes
from sauda.fairness import Visitor
from sauda.records.store import ROOT
from tests.support.site import PATIENCE, Site

pytestmark = pytest.mark.slow

AT_ONCE = 45  # more than the 40 threads that serve files
FILE = {"path": "http://127.0.0.1:9/large", "meta": {"_type": "gradio.FileData"}}
FILES = [
    FILE,
    {"path": "/etc/passwd"},
    {"path": ["x"], "meta": {"_type": "gradio.FileData"}},
    {**FILE, "path": "x", "url": "http://127.0.0.1:9/large", "is_stream": True},
    {"name": "a.png", "data": "data:image/png;base64,iVBORw0KGgo=", "is_file": False},
    {"__type__": "update", "value": "x"},
]
ODD = [
    None, True, 0, -1, 3, 0.5, 1e308, 1e-320, 10**30, 2**53 + 1, "", " ", "a", "7", "x" * 5000,
    "x" * 300_000, "../../etc/passwd", "mini+/etc/passwd", "sauda-8b", "\x00", "\ud800", "\u202e",
    '{"action_type": 5}', "₹ 500", "accept", "walk away", "?" + "a=b&" * 500, "९९९", "1e400",
    "?tab=haggle&day=0&moves=zz", "?round=99999999999999999999&game=-1&seed=1e9", "%00%ff%",
    "data:text/plain;base64,QQ==", "\r\nset-cookie: a=b", [], [[]], {}, [None], ["mini"] * 9,
    {"2026-02-30": "x"}, {"2026-01-01": {"moves": []}}, {"right": -1e308, "played": "0"}, *FILES,
]  # fmt: skip
GAME = {"data": ["classic/single_deal", "expert", "7"]}
LEAKS = ("Traceback", ".py", str(ROOT.parent), tempfile.gettempdir())


def posted(site: Site, route: str, body: Any) -> tuple[int, str]:
    """The status and the text of the answer to one call."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"content-type": "application/json"}
    answer = site.shared.post(f"/gradio_api/{route}", content=content, headers=kind)
    return answer.status_code, answer.text


def assert_answers(site: Site) -> None:
    """The page comes, and a game of a polite caller is played."""
    with site.client() as client:
        assert client.get("/").status_code == 200
        event = client.post("/gradio_api/call/play", json=GAME).json()["event_id"]
        assert "event: complete" in client.get(f"/gradio_api/call/play/{event}").text


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


def opening(part: gr.blocks.Block) -> Any:
    """The value that a browser sends of a component at first."""
    return None if part.stateful else part.get_config().get("value")


def usual_call(site: Site, number: int, session: str) -> dict[str, Any]:
    """A call of event `number` with the values that its inputs have at first."""
    data = [opening(part) for part in site.blocks.fns[number].inputs]
    return {"data": data, "fn_index": number, "session_hash": session}


def crafted(part: gr.blocks.Block, stream: random.Random) -> Any:
    """A value that the component may nearly hold, perhaps inside some structure."""
    near = list(ODD)
    if isinstance(part, gr.Slider | gr.Number):
        near = [part.minimum, part.maximum, *ODD[:10]]
    elif isinstance(part, gr.Dropdown | gr.Radio | gr.CheckboxGroup):
        values = [value for _, value in part.choices] or ["x"]
        near = [*values[:3], str(values[0]), [values[0]], values[:2], *ODD[:10]]
    value = stream.choice(near)
    for _ in range(stream.choice([0, 0, 0, 1, 2])):
        value = stream.choice([[value], {"a": value}, [None, value, 1], {"a": {"b": [value]}}])
    return value


def crafted_call(site: Site, number: int, stream: random.Random) -> tuple[str, bytes]:
    """A route and a body for the event that is wrong in some way, or in none."""
    event = site.blocks.fns[number]
    data = [
        crafted(part, stream) if stream.random() < 0.5 else opening(part) for part in event.inputs
    ]
    body = {"data": data, "fn_index": number, "session_hash": stream.choice(["one", "two"])}
    if event.targets and stream.random() < 0.5:
        body["trigger_id"] = event.targets[0][0]
    if event.collects_event_data:
        names = ["index", "value", "choice", "step", "offer", "block", "move"]
        body["event_data"] = stream.choice([{name: stream.choice(ODD) for name in names}, *ODD])
    if stream.random() < 0.2:
        body[stream.choice([*body, "batched", "event_id"])] = stream.choice(ODD)
    if stream.random() < 0.1:
        del body[stream.choice(list(body))]
    content = json.dumps(body, default=str).encode()
    if stream.random() < 0.05:
        content = content[: stream.randrange(len(content))]
    rare = ["call/play", "call/send", "run/play", "cancel", "reset", "upload", "call/v2/play"]
    own = "queue/join" if event.queue else "run/predict"
    return (own if stream.random() < 0.9 else stream.choice([*rare, "api/predict"])), content


def test_no_crafted_call_of_any_event_fails_on_the_server_and_nothing_leaks(site, request):
    stream, seen = random.Random(35), Counter()
    for _ in range(40 if request.config.getoption("--full") else 3):
        for number in [number for number, event in site.blocks.fns.items() if event.fn]:
            status, text = posted(site, *crafted_call(site, number, stream))
            seen[status] += 1
            assert status < 500, text
            assert status < 400 or not any(leak in text for leak in LEAKS), text
    assert seen[422] > 0.06 * seen.total()  # the calls were wrong
    assert seen[200] > 0.06 * seen.total()  # and some were right
    assert_answers(site)


def test_45_calls_at_once_leave_the_page_answering(site):
    outside = [i for i, event in site.blocks.fns.items() if event.fn and not event.queue]
    begin = site.event_number("haggle.callbacks", "begin")
    for number in [begin, *random.Random(0).sample(outside, 2)]:

        def call(_: int, number: int = number) -> int:
            return posted(site, "run/predict", usual_call(site, number, uuid.uuid4().hex))[0]

        def wrong(seed: int, number: int = number) -> int:
            return posted(site, *crafted_call(site, number, random.Random(seed)))[0]

        assert set(at_once(AT_ONCE, call)) <= {200, 422}
        assert max(at_once(AT_ONCE, wrong)) < 500
    assert_answers(site)


def test_every_event_may_be_given_what_the_page_opens_with(site):
    components = site.blocks.default_config.blocks
    for number, event in site.blocks.fns.items():
        if event.fn:
            body = usual_call(site, number, "opening")
            assert len(checked(body, event, components)["data"]) == len(event.inputs)


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
            data = [opening(part) for part in event.inputs]
            calls.append(("run/predict", {"data": [*data[:-1], deep], "fn_index": number, **own}))
    _, last = calls[-1]
    calls.append(("run/predict", {**last, "data": data, "event_data": deep}))
    for route, call in calls:
        status, text = posted(site, route, call)
        assert (status, "no files" in json.loads(text)["error"]) == (422, True), call
    assert site.blocks.max_file_size == 0


def test_a_class_behind_one_address_opens_the_page_at_once_and_nobody_is_refused(site):
    """Each tab starts what a browser starts, all of it at once."""
    loads = [
        number
        for number, event in site.blocks.fns.items()
        if event.fn and any(name == "load" for _, name in event.targets)
    ]
    tabs = [(number, f"tab-{tab}") for tab in range(12) for number in loads]

    def start(call: int) -> tuple[int, str]:
        number, session = tabs[call]
        route = "queue/join" if site.blocks.fns[number].queue else "run/predict"
        return posted(site, route, usual_call(site, number, session))

    with ThreadPoolExecutor(100) as pool:  # more than an address may run and have waiting before
        answers = list(pool.map(start, range(len(tabs))))
    assert [text for status, text in answers if status != 200] == []
    assert_answers(site)


# The queue


@pytest.fixture
def held_play(site, monkeypatch):
    """The API's only slot is taken until the test ends."""
    number, ends = site.event_number("artifacts.tab", "play"), threading.Event()
    monkeypatch.setattr(site.blocks.fns[number], "fn", lambda *given: ends.wait(PATIENCE) and {})
    yield number
    ends.set()
    until(lambda: not queued_events(site.blocks))


def until(holds: Callable[[], bool]) -> None:
    """Return once `holds()`; fails after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_event_that_finds_the_queue_full_of_its_address_waits_and_then_gets_in(
    site, held_play, monkeypatch
):
    answers = [posted(site, "call/play", GAME) for _ in range(OF_ADDRESS["play"])]
    assert {status for status, _ in answers} == {200}
    with ThreadPoolExecutor(1) as pool, site.client() as client:
        one_more = pool.submit(posted, site, "call/play", GAME)
        until(lambda: client.get("/health").json()["events"]["before_the_queue"] == 1)
        assert not one_more.done()
        monkeypatch.setattr(serving, "LISTENS_WITHIN", 0.5)  # so that the others leave
        assert one_more.result(PATIENCE)[0] == 200


def test_events_whose_answers_nobody_fetches_leave_the_queue_and_no_others(
    site, held_play, monkeypatch
):
    monkeypatch.setattr(serving, "LISTENS_WITHIN", 0.5)
    session = uuid.uuid4().hex
    body = {**GAME, "fn_index": held_play, "session_hash": session}
    assert posted(site, "queue/join", body)[0] == 200
    with (
        site.client() as client,
        client.stream("GET", f"/gradio_api/queue/data?session_hash={session}") as stream,
    ):
        for _ in range(5):
            assert posted(site, "call/play", GAME)[0] == 200
        until(lambda: waiting(site.blocks) == 0)
        assert [event.alive for event in queued_events(site.blocks)] == [True]
        assert stream.status_code == 200


def test_a_game_of_a_language_model_ends_once_nobody_waits_for_it(site, monkeypatch):
    """It stands in line as a request of its visitor, move by move."""
    seen, ended = [], threading.Event()

    def play(*given):
        try:
            while True:
                seen.append(internals.visitor_of_event())
                time.sleep(0.05)
                episodes.while_awaited(lambda obs, rng: None)(None, None)
        finally:
            ended.set()

    number = site.event_number("transcripts.callbacks", "replay")
    monkeypatch.setattr(site.blocks.fns[number], "fn", play)
    monkeypatch.setattr(serving, "LISTENS_WITHIN", 1.0)
    assert posted(site, "queue/join", usual_call(site, number, "leaves"))[0] == 200
    assert ended.wait(PATIENCE)
    assert set(seen) == {Visitor("leaves", "127.0.0.1")}


def test_an_event_is_called_inside_or_outside_of_the_queue_as_it_was_made(site):
    for number, event in site.blocks.fns.items():
        if event.queue and event.fn:
            for route in ("run/predict", "api/predict", "run/play"):
                assert posted(site, route, usual_call(site, number, "past"))[0] == 404
    call = usual_call(site, site.event_number("haggle.callbacks", "send"), "into")
    assert posted(site, "queue/join", call)[0] == 404
    assert posted(site, "call/send", {"data": call["data"]})[0] == 404


@pytest.mark.parametrize("game", [{"task": "a"}, GAME, {"fn_index": 0, "data": []}])
def test_a_call_by_name_is_told_which_parameters_there_are(site, game):
    status, text = posted(site, "call/v2/play", game)
    (fault,) = json.loads(text)["detail"]  # which Gradio's client and FastAPI's read
    assert (status, fault["loc"], fault["msg"]) == (422, ["body"], json.loads(text)["error"])
    assert "task_name, policy_name, seed" in fault["msg"]
    assert posted(site, "call/v2/play", {"seed": 7})[0] == 200
    assert posted(site, "call/v2/send", game)[0] == 404


def test_the_program_of_the_documentation_plays_as_it_stands(site, capsys):
    text = (ROOT.parent / "docs" / "serving.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code.replace("http://127.0.0.1:7860", site.address), {})
    assert "'policy': 'expert'" in capsys.readouterr().out


# Addresses


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "gradio_api/upload", 404),
        ("POST", "gradio_api/component_server", 404),
        ("POST", "gradio_api/vibe-code", 404),
        ("GET", "gradio_api/deep_link?session_hash=one", 404),
        ("GET", "gradio_api/proxy=https://example.com", 404),
        ("GET", "gradio_api/file=http://127.0.0.1:9/x", 404),
        ("GET", "gradio_api/heartbeat/" + "x" * 65, 404),
        ("GET", "gradio_api/file=/a%00b", 403),
        ("GET", "gradio_api/call/play/gone", 404),
        ("GET", "assets/" + "x" * 5000, 404),
        ("GET", "monitoring", 404),
        ("PUT", "", 404),
    ],
)
def test_routes_that_the_page_does_not_use_are_not_there(site, method, path, status):
    assert site.shared.request(method, f"/{path}").status_code == status


def test_a_caller_cannot_choose_the_address_of_the_page(site):
    claims = {"x-forwarded-host": "evil.example", "x-gradio-server": "http://evil.example"}
    with site.client(**claims) as client:
        assert "evil.example" not in client.get("/").text + client.get("/config").text
        assert client.get("/", headers={"host": "a b"}).status_code == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/health"), ("POST", "/reset"), ("POST", "/gradio_api/mcp"),
     ("POST", "/leaderboard/enter"), ("POST", "/gradio_api/call/play")],
)  # fmt: skip
def test_a_foreign_name_that_leads_to_the_page_gets_nothing_of_it(site, method, path):
    foreign = {"host": "evil.example", "origin": "http://evil.example"}
    assert site.shared.request(method, path, headers=foreign).status_code == 421


@pytest.mark.parametrize("of", ["cross-site", "same-site"])
def test_the_page_of_another_site_can_start_nothing(site, of):
    before = len(site.app.state_holder.session_data)
    with site.client(**{"sec-fetch-site": of}) as client:
        for route in ("run/predict", "queue/join", "call/play", "call/v2/play", "cancel"):
            assert client.post(f"/gradio_api/{route}", json=GAME).status_code == 403
        assert client.get("/").status_code == 200  # a link from anywhere opens the page
    assert len(site.app.state_holder.session_data) == before
    with site.client(**{"sec-fetch-site": "same-origin"}) as client:
        assert client.post("/gradio_api/call/play", json=GAME).status_code == 200
