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

import pytest
from gradio_client import Client
from gradio_client.exceptions import ValidationError

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
CALLERS = 70
ODD = [
    None, True, 0, -1, 3, 0.5, 1e308, 10**30, "", "a", "7", "../../etc/passwd", "x" * 5000,
    "x" * 300_000, [], [[]], {}, {"path": "/etc/passwd"}, {"__type__": "update"}, [None],
    ["mini"] * 9, "mini+/etc/passwd", "sauda-8b", "\x00", "\ud800", '{"action_type": 5}', "₹ 500",
    "accept", "walk away",
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


def usual_call(site: Site, number: int, session: str) -> dict[str, Any]:
    """A call of event `number` with the values that its inputs have at first."""
    inputs = site.blocks.fns[number].inputs
    data = json.loads(json.dumps([getattr(part, "value", None) for part in inputs], default=str))
    return {"data": data, "fn_index": number, "session_hash": session}


def malformed(site: Site, stream: random.Random) -> tuple[str, bytes]:
    """A route and a body that is wrong in some way, or in none."""
    number, event = stream.choice([(i, e) for i, e in site.blocks.fns.items() if e.fn])
    data = [
        stream.choice(ODD) if stream.random() < 0.4 else getattr(part, "value", None)
        for part in event.inputs
    ]
    body = {"data": data, "fn_index": number, "session_hash": stream.choice(["one", "two"])}
    if stream.random() < 0.3:
        body[stream.choice([*body, "trigger_id", "event_data", "batched", "event_id"])] = (
            stream.choice(ODD)
        )
    if stream.random() < 0.1:
        del body[stream.choice(list(body))]
    content = json.dumps(body, default=str).encode()
    if stream.random() < 0.1:
        content = content[: stream.randrange(len(content))]
    usual = ["run/predict", "run/predict", "api/predict", "queue/join"]
    rare = ["call/play", "call/send", "run/play", "cancel", "reset", "upload", "call/v2/play"]
    return stream.choice(usual if stream.random() < 0.8 else rare), content


def test_45_calls_at_once_of_any_event_with_any_arguments_leave_the_page_answering(site):
    for round_number in range(3):

        def call(number: int, seed: int = round_number) -> int:
            return posted(site, *malformed(site, random.Random(f"{seed} {number}")))[0]

        seen = Counter(at_once(AT_ONCE, call))
        assert max(seen) < 500, seen
    assert_answers(site)


def test_45_calls_at_once_of_each_event_outside_the_queue_leave_the_page_answering(site):
    def call(number: int) -> int:
        return posted(site, "run/predict", usual_call(site, number, uuid.uuid4().hex))[0]

    outside = [i for i, event in site.blocks.fns.items() if event.fn and not event.queue]
    begin = site.event_number("haggle.callbacks", "begin")
    for number in [begin, *random.Random(0).sample(outside, 3)]:
        assert set(at_once(AT_ONCE, lambda _, number=number: call(number))) <= {200, 422}
    assert_answers(site)


def test_every_event_may_be_given_what_the_page_opens_with(site):
    components = site.blocks.default_config.blocks
    for event in site.blocks.fns.values():
        if event.fn is None:
            continue
        opening = [
            None if part.stateful else part.get_config().get("value") for part in event.inputs
        ]
        body = {"data": opening, "session_hash": "opening"}
        assert len(checked(body, event, components)["data"]) == len(opening)


def test_malformed_calls_are_refused_and_nothing_leaks(site, request):
    calls = 10_000 if request.config.getoption("--full") else 3_000
    stream, seen = random.Random(1), Counter()
    for _ in range(calls):
        status, text = posted(site, *malformed(site, stream))
        seen[status] += 1
        assert status < 500, text
        assert status < 400 or not any(leak in text for leak in LEAKS), text
    assert seen[422] > 0.06 * calls  # the calls were wrong
    assert seen[200] > 0.06 * calls  # and some were right
    assert_answers(site)


def test_of_70_callers_of_play_at_once_every_one_plays(site):
    def play(_: int) -> int:
        answer = site.shared.post("/gradio_api/call/play", json=GAME)
        game = site.shared.get(f"/gradio_api/call/play/{answer.json()['event_id']}")
        assert "event: complete" in game.text
        return answer.status_code

    assert set(at_once(CALLERS, play)) == {200}
    assert_answers(site)


def test_a_class_behind_one_address_opens_the_page_at_once_and_nobody_is_refused(site):
    """Each tab starts what a browser starts, all of it at once."""
    opening = [
        number
        for number, event in site.blocks.fns.items()
        if event.fn and any(name == "load" for _, name in event.targets)
    ]
    tabs = [(number, f"tab {tab}".replace(" ", "-")) for tab in range(12) for number in opening]

    def start(call: int) -> tuple[int, str]:
        number, session = tabs[call]
        route = "queue/join" if site.blocks.fns[number].queue else "run/predict"
        return posted(site, route, usual_call(site, number, session))

    with ThreadPoolExecutor(100) as pool:  # more than an address may run and have waiting before
        answers = list(pool.map(start, range(len(tabs))))
    assert [text for status, text in answers if status != 200] == []
    assert_answers(site)


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


def test_events_whose_answers_nobody_fetches_leave_the_queue(site, held_play, monkeypatch):
    monkeypatch.setattr(serving, "LISTENS_WITHIN", 0.5)
    for _ in range(5):
        assert posted(site, "call/play", GAME)[0] == 200
    until(lambda: [event.alive for event in queued_events(site.blocks)] == [False])
    assert waiting(site.blocks) == 0


def test_an_event_in_the_queue_is_fetched_under_the_callers_own_session(
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
        time.sleep(2.5)  # longer than the events of others are kept
        (event,) = queued_events(site.blocks)
        assert event.alive
        assert stream.status_code == 200


@pytest.mark.parametrize(
    "game",
    [{"task_name": "classic/single_deal", "seed": "7"}, {"seed": 7}, {}],
)
def test_a_call_by_name_may_leave_out_what_has_a_default(site, game):
    status, text = posted(site, "call/v2/play", game)
    assert status == 200
    answer = site.shared.get(f"/gradio_api/call/play/{json.loads(text)['event_id']}").text
    assert "event: complete" in answer
    assert '"seed": "7"' in answer


@pytest.mark.parametrize("game", [{"task": "a"}, GAME, {"fn_index": 0, "data": []}])
def test_a_call_by_name_with_another_parameter_is_told_which_there_are(site, game):
    status, text = posted(site, "call/v2/play", game)
    assert status == 422
    assert json.loads(text)["error"] == "A call has the parameters task_name, policy_name, seed."
    assert posted(site, "call/v2/send", game)[0] == 404


def test_the_program_of_the_documentation_plays_as_it_stands(site, capsys):
    text = (ROOT.parent / "docs" / "serving.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code.replace("http://127.0.0.1:7860", site.address), {})
    assert "'policy': 'expert'" in capsys.readouterr().out


def test_gradios_client_says_why_a_call_was_refused(site):
    """It reads the body of a 422 as a list of faults, and so do clients of FastAPI."""
    client = Client(site.address, verbose=False)
    client.session_hash = "no name of a session"
    with pytest.raises(ValidationError, match="session_hash is at most 64 letters"):
        client.predict(api_name="/play")
    _, text = posted(site, "call/v2/play", {"task": "a"})
    (fault,) = json.loads(text)["detail"]
    assert (fault["loc"], fault["msg"]) == (["body"], json.loads(text)["error"])


@pytest.mark.parametrize("route", ["run/predict", "api/predict", "run/play", "api/play"])
def test_an_event_of_the_queue_cannot_be_called_past_it(site, route):
    for number, event in site.blocks.fns.items():
        if event.queue and event.fn:
            assert posted(site, route, usual_call(site, number, "past"))[0] == 404


def test_an_event_outside_the_queue_cannot_be_put_into_it(site):
    call = usual_call(site, site.event_number("haggle.callbacks", "send"), "into")
    assert posted(site, "run/predict", call)[0] == 200
    assert posted(site, "queue/join", call)[0] == 404
    assert posted(site, "call/send", {"data": call["data"]})[0] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/gradio_api/upload"),
        ("POST", "/gradio_api/component_server"),
        ("POST", "/gradio_api/process_recording"),
        ("POST", "/gradio_api/vibe-code"),
        ("POST", "/gradio_api/run-history/connect"),
        ("GET", "/gradio_api/deep_link?session_hash=one"),
        ("GET", "/gradio_api/proxy=https://example.com"),
        ("GET", "/gradio_api/custom_component/a/client/b/c"),
        ("GET", "/gradio_api/heartbeat/" + "x" * 65),
        ("GET", "/monitoring"),
        ("PUT", "/"),
    ],
)
def test_routes_that_the_page_does_not_use_are_not_there(site, method, path):
    with site.client() as client:
        answer = client.request(method, path)
        assert answer.status_code == 404
        assert answer.json()["error"] == "The page has nothing at this address."


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
    answer = site.shared.request(method, path, headers=foreign)
    assert answer.status_code == 421
    assert "not known as evil.example" in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "status"),
    [("assets/" + "x" * 5000, 404), ("static/%00", 404), ("gradio_api/file=/a%00b", 403),
     ("gradio_api/call/play/gone", 404), ("gradio_api/queue/data?session_hash=gone", 404)],
)  # fmt: skip
def test_what_is_not_there_is_said_so(site, path, status):
    assert site.shared.get(f"/{path}").status_code == status


@pytest.mark.parametrize("part", ["bytes=1-2-3", "bytes=99999999-", "bytes=5-1", "bytes=-"])
def test_a_file_comes_whole_whatever_part_of_it_is_asked_for(site, part):
    path = re.search(r"file=(/[^\"\\]+\.csv)", site.shared.get("/").text)[1]
    answer = site.shared.get(f"/gradio_api/file={path}", headers={"range": part})
    assert (answer.status_code, len(answer.content) > 0) == (200, True)


@pytest.mark.parametrize("of", ["cross-site", "same-site"])
def test_the_page_of_another_site_can_start_nothing(site, of):
    before = len(site.app.state_holder.session_data)
    with site.client(**{"sec-fetch-site": of}) as client:
        for route in ("run/predict", "api/predict", "queue/join", "call/play", "call/v2/play",
                      "cancel"):  # fmt: skip
            answer = client.post(f"/gradio_api/{route}", json=GAME)
            assert answer.status_code == 403
            assert (
                answer.json()["error"] == "The page takes no calls from the pages of other sites."
            )
        assert client.get("/").status_code == 200  # a link from anywhere opens the page
    assert len(site.app.state_holder.session_data) == before
    with site.client(**{"sec-fetch-site": "same-origin"}) as client:
        assert client.post("/gradio_api/call/play", json=GAME).status_code == 200


def test_a_game_of_a_language_model_ends_once_nobody_waits_for_it(site, monkeypatch):
    """It stands in line as a request of its visitor, move by move."""
    seen, ended = [], threading.Event()

    def policy(obs, rng):
        seen.append(internals.visitor_of_event())
        time.sleep(0.05)
        return episodes.while_awaited(lambda obs, rng: None)(obs, rng)

    def play(*given):
        try:
            while True:
                policy(None, None)
        finally:
            ended.set()

    number = site.event_number("transcripts.callbacks", "replay")
    monkeypatch.setattr(site.blocks.fns[number], "fn", play)
    monkeypatch.setattr(serving, "LISTENS_WITHIN", 1.0)
    call = usual_call(site, number, "leaves")
    assert posted(site, "queue/join", call)[0] == 200
    assert ended.wait(PATIENCE)
    assert set(seen) == {Visitor("leaves", "127.0.0.1")}
