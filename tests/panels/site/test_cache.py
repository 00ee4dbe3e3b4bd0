"""How the page is made, kept, sent and logged."""

import gzip
import io
import logging

import pytest
from starlette.datastructures import Headers

from panels.site.cache import NAMES, Opening, PageCache
from panels.site.serving import LONGEST, MINUTE, OncePerMinute
from tests.support.coroutines import run

PAGE = b"<html>" + b"a table " * 1000


class Rendered:
    """An ASGI app that makes the page, with its address in it if asked, and counts how often."""

    def __init__(self, status=200, with_address=False):
        self.status, self.times, self.with_address = status, 0, with_address

    async def __call__(self, scope, receive, send):
        self.times += 1
        host = Headers(scope=scope)["host"].encode()
        page = PAGE + host if self.with_address else PAGE
        headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(page))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": page[:9], "more_body": True})
        await send({"type": "http.response.body", "body": page[9:]})


def get(app, cache, path="/", host="page.example", method="GET", query=b"", **headers):
    """The status, headers and body of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    pairs = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http", "method": method, "path": path, "scheme": "http", "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
    }  # fmt: skip
    run(cache.answer(app, scope, None, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def test_the_page_is_made_once_whatever_its_query():
    app, cache = Rendered(), PageCache()
    for query in (b"", b"tab=haggle", b"__theme=dark"):
        status, headers, body = get(app, cache, query=query)
        assert (status, body) == (200, PAGE)
        assert headers[b"content-length"] == b"%d" % len(PAGE)
        assert b"content-encoding" not in headers
    _, headers, body = get(app, cache, accept_encoding="gzip")
    assert (headers[b"content-encoding"], gzip.decompress(body)) == (b"gzip", PAGE)
    assert app.times == 1


def test_each_name_gets_the_page_with_its_own_address():
    app, cache = Rendered(with_address=True), PageCache()
    for _ in range(2):
        for host in ("a.example", "192.0.2.7:8080"):
            assert get(app, cache, host=host)[2] == PAGE + host.encode()
    assert app.times == 2


def test_an_answer_that_fails_is_sent_and_not_kept():
    app, cache = Rendered(status=500), PageCache()
    assert [get(app, cache)[0] for _ in range(2)] == [500, 500]
    assert app.times == 2


def test_the_answers_that_are_kept_are_bounded_however_many_names_are_used():
    app, cache = Rendered(), PageCache()
    for port in range(2 * NAMES):
        get(app, cache, host=f"127.0.0.1:{port}")
    assert len(cache.kept) == NAMES


def test_the_page_gets_a_first_view_and_its_own_words_for_links():
    page = (
        b'<html><head><meta property="og:title" content="Gradio" />\n<title>Sauda</title></head>'
        b'<body><gradio-app eager="true"></gradio-app></body></html>'
    )
    added = Opening("<p>promise</p>", '<meta property="og:title" content="Sauda">').added(page)
    assert added == (
        b'<html><head><title>Sauda</title><meta property="og:title" content="Sauda"></head>'
        b'<body><p>promise</p><gradio-app eager="true"></gradio-app></body></html>'
    )


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock):
    """A logger of its own, and what it wrote."""
    written, logger = io.StringIO(), logging.Logger("page")
    handler = logging.StreamHandler(written)
    handler.addFilter(OncePerMinute(clock))
    logger.addHandler(handler)
    return logger, written


def test_a_kind_is_written_once_a_minute_with_the_number_left_out(log, clock):
    logger, written = log
    for moment in (0, 1, MINUTE - 1, MINUTE):
        clock.now = 100 + moment
        logger.warning("refused %s", moment)
    assert written.getvalue().splitlines() == ["refused 0", f"refused {MINUTE} (2 more like it)"]


def test_kinds_do_not_silence_one_another(log):
    logger, written = log
    for error in (ValueError, KeyError, ValueError):
        try:
            raise error("x")
        except (LookupError, ValueError):
            logger.exception("failed")
    for _ in range(2):
        logger.error("it failed")
    entries = [line for line in written.getvalue().splitlines() if "failed" in line]
    assert entries == ["failed", "failed", "it failed"]
    assert written.getvalue().count("Traceback") == 2


def test_an_entry_is_one_short_line_whatever_was_sent(log):
    logger, written = log
    logger.warning("cannot read %s", "a\nb" * 10_000)
    (line,) = written.getvalue().splitlines()
    assert len(line) <= LONGEST
