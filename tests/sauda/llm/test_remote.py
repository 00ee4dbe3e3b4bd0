"""Remote backends against real HTTP servers on loopback, faults included."""

import json
import time

import pytest

from sauda.llm.backends.decoding import DEFAULT_SAMPLING
from sauda.llm.backends.remote import Endpoint, FirstOf, Ollama, RetryPolicy, TransientError, probe
from sauda.llm.models import NullModel
from sauda.llm.serving.served import remote
from sauda.llm.types import ReplyError, ReplyTimeout
from tests.support.endpoint import openai, server

QUICK = RetryPolicy(attempt_timeout=0.5, total_timeout=3.0, attempts=3, first_pause=0.02)
CHAT = [{"role": "user", "content": "450?"}]
MOVE = '{"offer":45}'


def ollama(text: str) -> dict:
    return {"message": {"role": "assistant", "content": text}, "done": True,
            "done_reason": "stop", "eval_count": 7}  # fmt: skip


KINDS = {
    "endpoint": (lambda url: Endpoint(url, "m", retry=QUICK), openai, "/v1/chat/completions"),
    "ollama": (lambda url: Ollama(url, "m", retry=QUICK), ollama, "/api/chat"),
}
each = pytest.mark.parametrize("kind", KINDS)


@each
def test_a_reply_names_the_backend_that_gave_it_and_the_request_carries_the_seed(kind):
    make, answer, path = KINDS[kind]
    with server(answer(MOVE)) as (url, requests):
        reply = make(url)(CHAT, seed=11)
    assert (reply.text, reply.tokens, reply.finish) == (MOVE, 7, "stop")
    assert url in reply.source
    assert requests[0][0] == path
    assert '"seed": 11' in json.dumps(requests[0][1])


@each
def test_a_schema_travels_with_the_request(kind):
    make, answer, _ = KINDS[kind]
    with server(answer(MOVE)) as (url, requests):
        make(url)(CHAT, 0, {"type": "object"})
    assert '{"type": "object"}' in json.dumps(requests[0][1])


@pytest.mark.slow
@each
@pytest.mark.parametrize("fault", [500, 503, 429, "close"])
def test_a_passing_fault_is_tried_again_with_pauses_that_double(kind, fault):
    make, answer, _ = KINDS[kind]
    with server(fault, fault, answer(MOVE)) as (url, requests):
        assert make(url)(CHAT, 0).text == MOVE
    assert len(requests) == 3


@each
def test_a_lasting_fault_is_raised_after_the_last_attempt(kind):
    make, _, _ = KINDS[kind]
    with server(500) as (url, requests), pytest.raises(TransientError, match="status 500"):
        make(url)(CHAT, 0)
    assert len(requests) == 3


@each
@pytest.mark.parametrize("fault", [401, 404, b"<html>", {"no": "reply"}])
def test_an_answer_of_another_shape_is_raised_at_once_and_is_no_move(kind, fault):
    make, _, _ = KINDS[kind]
    with server(fault) as (url, requests), pytest.raises(ReplyError):
        make(url)(CHAT, 0)
    assert len(requests) == 1


@pytest.mark.slow
@each
def test_a_hanging_server_is_left_in_time(kind):
    make, _, _ = KINDS[kind]
    began = time.monotonic()
    with server("hang") as (url, _), pytest.raises(ReplyTimeout):
        make(url)(CHAT, 0)
    assert time.monotonic() - began < QUICK.total_timeout + 1


@each
def test_a_server_that_is_not_there_is_told_from_one_that_hangs(kind):
    make, _, _ = KINDS[kind]
    with server(500) as (url, _):
        pass
    with pytest.raises(TransientError, match="cannot be reached"):
        make(url)(CHAT, 0)


@pytest.mark.slow
@each
@pytest.mark.parametrize("fault", [401, 404, 500, {"no": "reply"}, "close"])
def test_only_a_real_answer_is_healthy(kind, fault):
    make, answer, _ = KINDS[kind]
    with server(fault) as (url, _):
        assert not probe(make(url)).healthy
    with server(answer("  ")) as (url, _):
        assert not probe(make(url)).healthy
    with server(answer("OK.")) as (url, _):
        assert probe(make(url)).healthy


def test_falling_back_is_allowed_and_told():
    with server(401) as (bad, _), server(ollama(MOVE)) as (good, _):
        reply = FirstOf([Endpoint(bad, "m", retry=QUICK), Ollama(good, "m")])(CHAT, 0)
    assert good in reply.source
    assert "401" in reply.passed[0]
    assert NullModel()(CHAT, 0).passed == ()


def test_when_no_backend_answers_every_reason_is_told():
    with server(401) as (bad, _), pytest.raises(ReplyError, match=r"401.*404"), server(404) as (
        worse, _,
    ):  # fmt: skip
        FirstOf([Endpoint(bad, "m", retry=QUICK), Ollama(worse, "m")])(CHAT, 0)


@each
@pytest.mark.parametrize("fault", [None, 401, 500, b"<html>", "close", "nobody there"])
def test_a_password_in_the_address_is_sent_and_shown_to_nobody(kind, fault):
    make, answer, _ = KINDS[kind]
    with server(answer(MOVE) if fault in (None, "nobody there") else fault) as (url, requests):
        backend = make(url.replace("//", "//me:s3cret@") + "?key=s3cret")
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
            remote({f"SAUDA_{name}_URL": url, f"SAUDA_{name}_MODEL": "m"}, DEFAULT_SAMPLING)
        assert "s3cret" not in str(refused.value)
