"""Remote backends against real HTTP servers on loopback, faults included."""

import json
import time

import pytest

from sauda.llm.backends import Endpoint, FirstOf, RetryPolicy, TransientError, find_servers, probe
from sauda.llm.engine import DEFAULT_SAMPLING
from sauda.llm.model import NullModel
from sauda.llm.types import ReplyError, ReplyTimeout
from tests.support.endpoint import openai, server

QUICK = RetryPolicy(attempt_timeout=0.5, total_timeout=3.0, attempts=3, first_pause=0.02)
CHAT = [{"role": "user", "content": "450?"}]
MOVE = '{"offer":45}'


def endpoint(url: str) -> Endpoint:
    return Endpoint(url, "m", retry=QUICK)


def test_a_reply_names_the_backend_that_gave_it_and_the_request_carries_the_seed():
    with server(openai(MOVE)) as (url, requests):
        reply = endpoint(url)(CHAT, seed=11)
    assert (reply.text, reply.tokens, reply.finish) == (MOVE, 7, "stop")
    assert url in reply.source
    assert requests[0][0] == "/v1/chat/completions"
    assert '"seed": 11' in json.dumps(requests[0][1])


def test_a_schema_travels_with_the_request():
    with server(openai(MOVE)) as (url, requests):
        endpoint(url)(CHAT, 0, {"type": "object"})
    assert '{"type": "object"}' in json.dumps(requests[0][1])


@pytest.mark.slow
@pytest.mark.parametrize("fault", [500, 503, 429, "close"])
def test_a_passing_fault_is_tried_again_with_pauses_that_double(fault):
    with server(fault, fault, openai(MOVE)) as (url, requests):
        assert endpoint(url)(CHAT, 0).text == MOVE
    assert len(requests) == 3


def test_a_lasting_fault_is_raised_after_the_last_attempt():
    with server(500) as (url, requests), pytest.raises(TransientError, match="status 500"):
        endpoint(url)(CHAT, 0)
    assert len(requests) == 3


@pytest.mark.parametrize("fault", [401, 404, b"<html>", {"no": "reply"}])
def test_an_answer_of_another_shape_is_raised_at_once_and_is_no_move(fault):
    with server(fault) as (url, requests), pytest.raises(ReplyError):
        endpoint(url)(CHAT, 0)
    assert len(requests) == 1


@pytest.mark.slow
def test_a_hanging_server_is_left_in_time():
    began = time.monotonic()
    with server("hang") as (url, _), pytest.raises(ReplyTimeout):
        endpoint(url)(CHAT, 0)
    assert time.monotonic() - began < QUICK.total_timeout + 1


def test_a_server_that_is_not_there_is_told_from_one_that_hangs():
    with server(500) as (url, _):
        pass
    with pytest.raises(TransientError, match="cannot be reached"):
        endpoint(url)(CHAT, 0)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [401, 404, 500, {"no": "reply"}, "close"])
def test_only_a_real_answer_is_healthy(fault):
    with server(fault) as (url, _):
        assert not probe(endpoint(url)).healthy
    with server(openai("  ")) as (url, _):
        assert not probe(endpoint(url)).healthy
    with server(openai("OK.")) as (url, _):
        assert probe(endpoint(url)).healthy


def test_falling_back_is_allowed_and_told():
    with server(401) as (bad, _), server(openai(MOVE)) as (good, _):
        reply = FirstOf([Endpoint(bad, "m", retry=QUICK), Endpoint(good, "m")])(CHAT, 0)
    assert good in reply.source
    assert "401" in reply.passed[0]
    assert NullModel()(CHAT, 0).passed == ()


def test_when_no_backend_answers_every_reason_is_told():
    with server(401) as (bad, _), pytest.raises(ReplyError, match=r"401.*404"), server(404) as (
        worse, _,
    ):  # fmt: skip
        FirstOf([Endpoint(bad, "m", retry=QUICK), Endpoint(worse, "m")])(CHAT, 0)


@pytest.mark.parametrize("fault", [None, 401, 500, b"<html>", "close", "nobody there"])
def test_a_password_in_the_address_is_sent_and_shown_to_nobody(fault):
    with server(openai(MOVE) if fault in (None, "nobody there") else fault) as (url, requests):
        backend = endpoint(url.replace("//", "//me:s3cret@") + "?key=s3cret")
        if fault != "nobody there":
            told = _told_by(backend)
            assert requests[0][2] == "Basic bWU6czNjcmV0"
    if fault == "nobody there":
        told = _told_by(backend)
    assert url in told
    assert "s3cret" not in told


def _told_by(backend) -> str:
    """All that a visitor or a log may be shown of a backend and of its reply."""
    try:
        reply = repr(backend(CHAT, 0))
    except ReplyError as error:
        reply = str(error)
    return f"{reply} {backend.source} {backend!r} {probe(backend)}"


@pytest.mark.parametrize(
    "url", ["me:s3cret@host", "http://me:s3cret@host:port", "ftp://me:s3cret@host", "http://", "["]
)
def test_an_address_that_is_none_is_refused_at_the_start_and_not_quoted(url):
    for name in ("ENDPOINT", "OLLAMA"):
        with pytest.raises(ValueError, match="address of a language model") as refused:
            find_servers({f"SAUDA_{name}_URL": url, f"SAUDA_{name}_MODEL": "m"}, DEFAULT_SAMPLING)
        assert "s3cret" not in str(refused.value)
