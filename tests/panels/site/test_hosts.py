"""Under which names the page may be reached, whose calls are its own, who a caller is."""

import gradio as gr
import pytest
from starlette.datastructures import Headers
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from panels.site.hosts import own_hosts
from panels.site.visitor import INTERNAL, NO_SESSION, trusted_proxies, visitor_of
from sauda.fairness import Visitor
from sauda.serve.limits import NO_ADDRESS, Refused
from tests.support.coroutines import run

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


def test_without_a_trusted_proxy_the_address_is_that_of_the_connection():
    assert visitor("127.0.0.1", "203.0.113.9") == Visitor("abc", "127.0.0.1")
    assert visitor("198.51.100.4", "203.0.113.9") == Visitor("abc", "198.51.100.4")


@pytest.mark.parametrize(
    "forwarded_for", ["203.0.113.9", "192.0.2.1, 203.0.113.9", "192.0.2.1, 203.0.113.9, 10.1.2.3"]
)
def test_behind_a_trusted_proxy_the_address_is_the_last_hop_that_is_not_trusted(forwarded_for):
    assert visitor("10.0.0.7", forwarded_for, INTERNAL).address == "203.0.113.9"


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
