"""A browser tab over Gradio's protocol, against a canned page."""

import json
from typing import Any

import httpx
import pytest

from sauda.commands.loadtest.client import Browser
from sauda.commands.loadtest.haggle import Event, Script
from sauda.commands.loadtest.tally import Failure, Refused
from tests.support.coroutines import run

QUIET, QUEUED = 3, 5
PLAN = Script(
    {QUIET: Event(QUIET, False, ("a",), ()), QUEUED: Event(QUEUED, True, (None, 2), ())},
    *(QUIET, QUIET, QUIET, 0, 0, 0, ("tea",), 0, 0, 0, 0, 0, ()),
    by_state={31: QUIET},
)
OTHERS = {"msg": "process_completed", "event_id": "x", "success": True, "output": {"data": [1]}}
CLOSED = {"msg": "close_stream"}


def completed(success: bool = True, **output: Any) -> dict[str, Any]:
    return {"msg": "process_completed", "event_id": "own", "success": success, "output": output}


def fired(
    event: int, status: int = 200, stream: tuple[dict, ...] = (), kind: type[Browser] = Browser
) -> tuple[Any, list]:
    """What an event of a canned page gives a visitor, and the requests that the page saw."""
    seen = []

    def page(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        path = request.url.path
        if path.endswith("/data"):
            return httpx.Response(200, text="".join(f"data: {json.dumps(m)}\n\n" for m in stream))
        answers = {"join": {"event_id": "own"}, "predict": {"data": ["done"]}}
        body = answers.get(path.rpartition("/")[2], {})
        return httpx.Response(status if request.method == "POST" else 200, json=body)

    async def visit() -> Any:
        transport = httpx.MockTransport(page)
        async with (
            httpx.AsyncClient(base_url="http://page", transport=transport) as http,
            kind(http, PLAN, visitor=258) as browser,
        ):
            return await browser.fire(event)

    return run(visit()), seen


def test_an_event_outside_the_queue_is_one_request_from_the_visitors_own_address():
    outputs, (heartbeat, request) = fired(QUIET)
    assert outputs == ["done"]
    assert "/heartbeat/" in heartbeat.url.path
    assert {r.headers["X-Forwarded-For"] for r in (heartbeat, request)} == {"10.0.1.2"}
    body = json.loads(request.content)
    assert (body["fn_index"], body["data"]) == (QUIET, ["a"])
    assert heartbeat.url.path.endswith(body["session_hash"])


def test_a_queued_event_gives_the_outputs_of_that_event_alone():
    outputs, _ = fired(QUEUED, stream=(OTHERS, completed(data=[7, 8]), CLOSED))
    assert outputs == [7, 8]


@pytest.mark.parametrize(
    ("event", "status", "stream", "error", "words"),
    [
        (QUIET, 503, (), Refused, "answered 503"),
        (QUIET, 500, (), Failure, "answered 500"),
        (QUEUED, 429, (), Refused, "answered 429"),
        (QUEUED, 200, (completed(False, error="no"), CLOSED), Failure, "the event failed: no"),
        (QUEUED, 200, (OTHERS, CLOSED), Failure, "ended without the event's outputs"),
        (QUEUED, 200, ({"msg": "unexpected_error"},), Failure, "broke off"),
    ],
)
def test_what_is_no_answer_is_a_refusal_or_a_failure(event, status, stream, error, words):
    with pytest.raises(error, match=words):
        fired(event, status, stream)
