"""Who a request comes from, with and without a proxy in between."""

import gradio as gr
import pytest
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from panels.site.visitor import INTERNAL, NO_SESSION, trusted_proxies, visitor_of
from sauda.llm.serving.line import Visitor
from sauda.serve.limits import NO_ADDRESS
from tests.support.coroutines import run


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
    "forwarded_for",
    ["203.0.113.9", "192.0.2.1, 203.0.113.9", "192.0.2.1, 203.0.113.9, 10.1.2.3"],
)
def test_behind_a_trusted_proxy_the_address_is_the_last_hop_that_is_not_trusted(forwarded_for):
    assert visitor("10.0.0.7", forwarded_for, INTERNAL).address == "203.0.113.9"


def test_a_stranger_cannot_play_the_proxy():
    assert visitor("198.51.100.4", "203.0.113.9", INTERNAL).address == "198.51.100.4"


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("::1", "::1"),
        ("testclient", "testclient"),
    ],
)
def test_a_caller_cannot_pass_for_many_by_the_addresses_of_its_own_network(peer, address):
    assert visitor(peer).address == address
    assert visitor("10.0.0.7", peer, INTERNAL).address == address


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
