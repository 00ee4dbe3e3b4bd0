"""How the page is made, kept, sent and logged; its names, whose calls are its own, who calls."""

import gzip
import io
import logging

import gradio as gr
import pytest
from starlette.datastructures import Headers
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from panels.site.cache import NAMES, PageCache
from panels.site.gate import own_hosts
from panels.site.serving import LONGEST, MINUTE, OncePerMinute
from panels.site.visitor import INTERNAL, NO_SESSION, trusted_proxies, visitor_of
from sauda.fairness import Visitor
from sauda.serve.limits import NO_ADDRESS, Refused
from tests.support.running import run

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
    added = PageCache("<p>promise</p>", '<meta property="og:title" content="Sauda">').complete(page)
    assert added == (
        b'<html><head><title>Sauda</title><meta property="og:title" content="Sauda"></head>'
        b'<body><p>promise</p><gradio-app eager="true"></gradio-app></body></html>'
    )


def log(clock=lambda: 100.0) -> tuple[logging.Logger, io.StringIO]:
    """A logger of its own, and what it wrote."""
    written, logger = io.StringIO(), logging.Logger("page")
    handler = logging.StreamHandler(written)
    handler.addFilter(OncePerMinute(clock))
    logger.addHandler(handler)
    return logger, written


def test_a_kind_is_written_once_a_minute_with_the_number_left_out():
    moment = 0.0
    logger, written = log(lambda: 100 + moment)
    for moment in (0, 1, MINUTE - 1, MINUTE):
        logger.warning("refused %s", moment)
    assert written.getvalue().splitlines() == ["refused 0", f"refused {MINUTE} (2 more like it)"]


def test_kinds_do_not_silence_one_another():
    logger, written = log()
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


def test_an_entry_is_one_short_line_whatever_was_sent():
    logger, written = log()
    logger.warning("cannot read %s", "a\nb" * 10_000)
    (line,) = written.getvalue().splitlines()
    assert len(line) <= LONGEST


SPACE = {"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}


def status(check, **headers: str) -> int:
    """The status by which `check` refuses a request with these headers; 200 where it does not."""
    try:
        check(Headers({name.replace("_", "-"): value for name, value in headers.items()}))
    except Refused as refused:
        return refused.status
    return 200


def hosts(environment=None, host="127.0.0.1", behind_proxy=False):
    return own_hosts(environment or {}, host, behind_proxy)


OWN = ("localhost", "LOCALHOST:7860", "a.localhost", "127.0.0.1:9", "[::1]:7860", "192.0.2.7",
       "[2001:db8::1]", "localhost.")  # fmt: skip
FOREIGN = (
    "evil.example", "evil.example:7860", "localhost.evil.example", "evil-localhost", "a.hf.space",
    "127.0.0.1.evil.example", "127.0.0.1.nip.io", "0x7f.1", "127.1",
)  # fmt: skip


@pytest.mark.parametrize(
    ("host", "expected"), [*((host, 200) for host in OWN), *((host, 421) for host in FOREIGN)]
)
def test_this_machine_and_any_address_are_the_pages_own_and_a_foreign_name_is_not(host, expected):
    assert status(hosts().check, host=host) == expected


def test_more_names_are_set_and_a_dot_stands_for_all_below():
    named = hosts({"SAUDA_HOSTS": "sauda.example, https://b.example:8443,*.c.example"}, "d.example")
    for host in ("sauda.example:80", "b.example", "x.y.c.example", "d.example"):
        assert status(named.check, host=host) == 200
    for host in ("c.example", "x.sauda.example", "notc.example"):
        assert status(named.check, host=host) == 421


def test_a_space_is_known_under_the_names_of_spaces():
    space = hosts(SPACE, "0.0.0.0", behind_proxy=True)
    assert status(space.check, host="a-b.hf.space") == 200
    assert status(space.check, host="inner", x_forwarded_host="a-b.hf.space/--replicas/x") == 200
    assert status(space.check, host="inner") == 421
    assert status(space.check, host="evil.example", x_forwarded_host="evil.example") == 421


def test_what_a_proxy_says_counts_where_one_is_trusted_and_is_no_other_name():
    claim = {"host": "127.0.0.1:7860", "x_forwarded_host": "evil.example"}
    assert status(hosts().check, **claim) == 200
    assert status(hosts(behind_proxy=True).check, **claim) == 421
    own = {"host": "evil.example", "x_forwarded_host": "localhost"}
    assert status(hosts(behind_proxy=True).check, **own) == 421
    named = hosts({"SAUDA_HOSTS": "sauda.example"}, behind_proxy=True)
    through = {"host": "127.0.0.1:7860", "x_forwarded_host": "sauda.example, inner"}
    assert status(named.check, **through) == 200
    assert status(named.check_origin, origin="https://sauda.example", **through) == 200
    assert status(named.check_origin, origin="https://inner", **through) == 403


@pytest.mark.parametrize(
    "origin",
    ["http://x//127.0.0.1:7860", "http://x@127.0.0.1:7860", "http://127.0.0.1:7860/x", "null", "",
     "http://[", "ftp://127.0.0.1:7860", "127.0.0.1:7860", "//127.0.0.1:7860", "http://127.0.0.1",
     "http://127.0.0.1:7860#", "http://127.0.0.1:7860.evil.example"],
)  # fmt: skip
def test_an_origin_that_is_not_the_pages_to_the_letter_is_refused(origin):
    assert status(hosts().check_origin, host="127.0.0.1:7860", origin=origin) == 403


def visitor(peer: str | None, forwarded_for: str = "", trusted: str = "") -> Visitor:
    """Who calls, as seen behind uvicorn's middleware with these trusted proxies."""
    headers = [(b"x-forwarded-for", forwarded_for.encode())] if forwarded_for else []
    scope = {"type": "http", "headers": headers, "client": (peer, 5000) if peer else None}
    seen = []

    async def app(scope, receive, send):
        seen.append(visitor_of(gr.Request(Request(scope), session_hash="abc")))

    run(ProxyHeadersMiddleware(app, trusted_hosts=trusted)(scope, None, None))
    return seen[0]


@pytest.mark.parametrize(
    "forwarded_for", ["203.0.113.9", "192.0.2.1, 203.0.113.9", "192.0.2.1, 203.0.113.9, 10.1.2.3"]
)
def test_the_address_is_the_last_hop_that_is_not_trusted_and_else_the_connections(forwarded_for):
    assert visitor("10.0.0.7", forwarded_for, INTERNAL) == Visitor("abc", "203.0.113.9")
    assert visitor("198.51.100.4", forwarded_for) == Visitor("abc", "198.51.100.4")


def test_a_caller_without_session_or_network_address_still_has_names():
    request = Request({"type": "http", "headers": [], "client": None})
    assert visitor_of(gr.Request(request)) == Visitor(NO_SESSION, NO_ADDRESS)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ""),
        ({"SPACE_ID": "a/b"}, INTERNAL),
        ({"FORWARDED_ALLOW_IPS": "192.0.2.7"}, "192.0.2.7"),
        ({"FORWARDED_ALLOW_IPS": "", "SPACE_ID": "a/b"}, ""),
    ],
)
def test_proxies_are_trusted_on_a_space_and_where_they_are_named(environment, expected):
    assert trusted_proxies(environment) == expected
