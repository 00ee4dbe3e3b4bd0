"""What a stranger's requests can do to the page, over HTTP; what callbacks make of odd values."""

import dataclasses
import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from types import SimpleNamespace
from typing import Any

import gradio as gr
import httpx
import pytest

from panels.gpu_arena.offers import Fields
from panels.gpu_arena.tab import PRESSES
from panels.site import sessions
from panels.site.cache import PageCache
from panels.site.gate import (
    JOINS_OF_ADDRESS,
    MOST_BYTES,
    SESSIONS_OF_ADDRESS,
    Gate,
    Served,
    own_hosts,
)
from panels.ui.visitor import as_visitor, visitor_of_event
from sauda.fairness import Visitor
from sauda.records.store import ROOT
from tests.support.cases import cases
from tests.support.running import run
from tests.support.site import Site, opening

pytestmark = pytest.mark.slow

FILE = {"path": "http://127.0.0.1:9/large", "meta": {"_type": "gradio.FileData"}}
FILES = [
    FILE,
    {"path": "/etc/passwd"},
    {"path": ["x"], "meta": {"_type": "gradio.FileData"}},
    {**FILE, "path": "x", "url": "http://127.0.0.1:9/large", "is_stream": True},
    {"name": "a.png", "data": "data:image/png;base64,iVBORw0KGgo=", "is_file": False},
    {"__type__": "update", "value": "x"},
]
GAME = {"data": ["classic/single_deal", "expert", "7"]}


def route_of(event: Any) -> str:
    return "queue/join" if event.queue else "run/predict"


def posted(site: Site, route: str, body: Any) -> tuple[int, str]:
    """The status and the text of the answer to one call."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    # The server closes the connection of a call that fails, so each call has its own.
    headers = {"content-type": "application/json", "connection": "close"}
    answer = site.shared.post(f"/gradio_api/{route}", content=content, headers=headers)
    return answer.status_code, answer.text


def assert_answers(site: Site) -> None:
    """The page comes, and a game of a polite caller is played."""
    with site.client() as client:
        assert client.get("/").status_code == 200
        event = client.post("/gradio_api/call/play", json=GAME).json()["event_id"]
        assert "event: complete" in client.get(f"/gradio_api/call/play/{event}").text


def usual_call(site: Site, number: int, session: str) -> dict[str, Any]:
    """A call of event `number` with the values that its inputs have at first."""
    data = [opening(part) for part in site.blocks.fns[number].inputs]
    return {"data": data, "fn_index": number, "session_hash": session}


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
        route = route_of(site.blocks.fns[number])
        return posted(site, route, usual_call(site, number, session))

    with ThreadPoolExecutor(100) as pool:  # more than an address may run and have waiting before
        answers = list(pool.map(start, range(len(tabs))))
    assert [text for status, text in answers if status != 200] == []
    assert_answers(site)


def test_an_event_of_the_queue_cannot_be_called_past_it(site):
    for number, event in site.blocks.fns.items():
        if event.queue and event.fn:
            for route in ("run/predict", "api/predict", "run/play"):
                assert posted(site, route, usual_call(site, number, "past"))[0] >= 400


@pytest.mark.parametrize(
    ("document", "shown"), [("serving", "'policy': 'expert'"), ("openenv", "'end': 'walkaway'")]
)
def test_the_first_program_of_a_document_plays_as_it_stands(site, capsys, document, shown):
    text = (ROOT.parent / "docs" / f"{document}.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code.replace("http://127.0.0.1:7860", site.address), {})
    assert shown in capsys.readouterr().out


# Addresses


@pytest.mark.parametrize(("method", "path", "status"), cases("refused_requests.csv", "route"))
def test_routes_that_the_page_does_not_use_are_not_there(site, method, path, status):
    answer = site.shared.request(method, path, json={"split": "train"})
    assert answer.status_code == int(status)


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
    with site.client(**{"sec-fetch-site": of}) as client:
        for route in ("run/predict", "queue/join", "call/play", "call/v2/play", "cancel"):
            assert client.post(f"/gradio_api/{route}", json=GAME).status_code == 403
        assert client.get("/").status_code == 200  # a link from anywhere opens the page
    with site.client(**{"sec-fetch-site": "same-origin"}) as client:
        assert client.post("/gradio_api/call/play", json=GAME).status_code == 200


def test_an_event_that_is_not_there_is_told_so_with_nothing_in_the_log(site, capfd):
    for route in ("call/play", "call/v2/play"):
        answer = site.shared.get(f"/gradio_api/{route}/none")
        assert answer.status_code == 404
        assert answer.json()["error"].endswith(".")
    lost = site.shared.get("/gradio_api/queue/data?session_hash=none")
    assert '"session_not_found":true' in lost.text  # by which a browser knows
    assert "Traceback" not in capfd.readouterr().err


def test_no_answer_of_the_page_names_a_folder_of_the_server(site):
    texts = [site.shared.get(path).text for path in ("/", "/config")]
    for number, event in site.blocks.fns.items():
        if event.fn and not event.queue:
            call = usual_call(site, number, "folders")
            for place, part in enumerate(event.inputs):
                if isinstance(part, gr.HTML):
                    call["data"][place] = "?"  # as its tab is opened
            texts.append(posted(site, route_of(event), call)[1])
    assert not any(str(ROOT.parent) in text for text in texts)
    files = {file for text in texts for file in re.findall(r"(?:artifacts|fonts)/[\w./-]+", text)}
    linked = {file for file in files if file.endswith((".json", ".woff2"))}
    assert {site.shared.head(f"/{file}").status_code for file in linked} == {200}


# The gate alone


ELSEWHERE = "192.0.2.7"  # an address that the limits bind


@pytest.fixture
def gate(monkeypatch) -> Gate:
    """A gate before an app that answers at once, and no sessions yet; `callers` has who called."""
    callers: list[Visitor] = []

    async def app(scope, receive, send):
        await receive()
        callers.append(visitor_of_event())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    hosts = own_hosts({}, "127.0.0.1", behind_proxy=False)
    with gr.Blocks() as blocks:  # one event, which takes no values
        gr.Button().click(lambda: None, api_name="predict")
    held = sessions.Sessions()
    held.set_blocks(blocks)
    monkeypatch.setattr("panels.site.gate.OPEN", held)
    made = Gate(app, Served(hosts, PageCache(), None, None))
    made.callers = callers
    return made


PREDICT, JOIN = "/gradio_api/run/predict", "/gradio_api/queue/join"


def answers(gate: Gate, *bodies: Any, path: str = PREDICT, address: str = ELSEWHERE) -> list:
    """The answers to POSTs, one after another."""

    async def post() -> list[httpx.Response]:
        transport = httpx.ASGITransport(gate, client=(address, 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            contents = (b if isinstance(b, bytes) else json.dumps(b).encode() for b in bodies)
            return [await client.post(path, content=each) for each in contents]

    return run(post())


def ask(gate: Gate, *bodies: Any, **where: str) -> list[int]:
    """Their statuses."""
    return [answer.status_code for answer in answers(gate, *bodies, **where)]


def test_a_class_that_reloads_is_let_in_and_one_who_floods_is_told_for_how_long_he_is_not(gate):
    """Thirty tabs are opened nine times, and each opening starts several events."""
    openings = [{"data": [], "session_hash": f"tab {number}"} for number in range(30 * 9)]
    assert set(ask(gate, *(call for call in openings for _ in range(7)))) == {200}
    flood = [{"data": [], "session_hash": str(number)} for number in range(SESSIONS_OF_ADDRESS)]
    refused = answers(gate, *flood)[-1]
    assert refused.status_code == 429
    assert re.search(r"again in \d+ s", refused.json()["error"])
    assert ask(gate, openings[0]) == [200]  # who is there stays
    assert ask(gate, flood[-1], address="192.0.2.8") == [200]
    assert gate.callers[-1] == Visitor(flood[-1]["session_hash"], "192.0.2.8")


def test_an_address_begins_so_many_events_of_the_queue_at_a_time(gate):
    call = {"data": [], "fn_index": 0, "session_hash": "one"}
    calls = [call] * (JOINS_OF_ADDRESS + 1)
    assert ask(gate, *calls, path=JOIN) == [200] * JOINS_OF_ADDRESS + [429]
    assert ask(gate, call) == [200]  # outside of the queue


def test_whoever_does_not_read_an_answer_has_no_place_any_more(gate):
    caller = {"headers": [(b"host", b"localhost")], "client": (ELSEWHERE, 5000)}
    scope = {"type": "http", "method": "POST", "path": PREDICT, **caller}
    running = []

    async def receive():
        return {"type": "http.request", "body": b'{"data": []}'}

    async def send(message):
        running.append(gate.served.calls.running)

    run(gate(scope, receive, send))
    assert set(running) == {0}


def test_a_body_is_a_small_object_that_names_no_file(gate):
    malformed = [b"", b"{", b"[1]", b"[" * 100_000, b'{"a": NaN}', b'{"a": "\\ud800"}', b"\xff"]
    assert ask(gate, *malformed) == [400] * len(malformed)
    assert ask(gate, b"x" * (MOST_BYTES + 1)) == [413]
    files = [{"data": [], "event_data": {"a": [[file]]}} for file in FILES]
    for path in (PREDICT, "/gradio_api/call/play", "/gradio_api/call/v2/play"):
        assert ask(gate, *files, path=path) == [422] * len(files)
    words = {"data": [], "event_data": ["/etc/passwd", "data:,x", {"2026-01-01": "path"}]}
    assert ask(gate, words, {"data": [], "session_hash": ["a"]}) == [200, 200]


def test_each_step_of_an_event_knows_its_visitor():
    request = SimpleNamespace(client=SimpleNamespace(host="192.0.2.7"), session_hash="abc")

    def steps(text):
        for _ in range(2):
            yield visitor_of_event().session + text

    assert list(as_visitor(steps)(request, "!")) == ["abc!", "abc!"]
    assert as_visitor(lambda: visitor_of_event().address)(request) == "192.0.2.7"


@pytest.mark.parametrize("path", ["/", "/reset", "/gradio_api/queue/join"])
@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.7:7860"])
def test_on_plain_http_the_page_of_another_site_starts_nothing(site, host, path):
    """There a browser sends no `Sec-Fetch-Site`."""
    foreign = {"host": host, "origin": "http://evil.example"}
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "x-a"}
    preflight = site.shared.options(path, headers=foreign | asks)
    started = site.shared.post(path, headers=foreign, json=GAME)
    for answer in (preflight, started):
        assert answer.status_code == 403
        assert answer.json()["error"].endswith("other sites.")
        assert not any(name.startswith("access-control-allow") for name in answer.headers)
    same = {"host": host, "origin": f"http://{host}"}
    assert site.shared.post("/gradio_api/call/play", headers=same, json=GAME).status_code == 200


# Values that no browser sends


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
