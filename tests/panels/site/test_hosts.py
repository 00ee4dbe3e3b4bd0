"""Under which names the page may be reached, and whose calls count as its own."""

import pytest
from starlette.datastructures import Headers

from panels.site.calls import BadCall
from panels.site.hosts import own_hosts

SPACE = {"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}


def status(check, **headers: str) -> int:
    """The status by which `check` refuses a request with these headers; 200 where it does not."""
    try:
        check(Headers({name.replace("_", "-"): value for name, value in headers.items()}))
    except BadCall as refused:
        return refused.status
    return 200


def hosts(environment=None, host="127.0.0.1", behind_proxy=False):
    return own_hosts(environment or {}, host, behind_proxy)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:7860", "a.localhost", "127.0.0.1:9", "[::1]:7860", "192.0.2.7",
     "[2001:db8::1]", "localhost."],
)  # fmt: skip
def test_this_machine_and_any_address_are_the_pages_own(host):
    assert status(hosts().check, host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:7860", "localhost.evil.example", "evil-localhost", "a.hf.space",
     "127.0.0.1.evil.example", "127.0.0.1.nip.io", "0x7f.1", "127.1"],
)  # fmt: skip
def test_a_foreign_name_is_refused(host):
    assert status(hosts().check, host=host) == 421


@pytest.mark.parametrize("host", ["a b", "a:b", "a/b", "user@localhost", "[::1", "a:1:2", "é"])
def test_what_is_no_host_is_refused(host):
    assert status(hosts().check, host=host.encode().decode("latin-1")) == 400


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


def test_host_and_origin_of_one_foreign_name_are_refused_together():
    both = {"host": "evil.example:7860", "origin": "http://evil.example:7860"}
    assert status(hosts().check, **both) == 421
    assert status(hosts().check_origin, **both) == 403


def test_a_client_that_is_no_browser_names_no_origin():
    assert status(hosts().check_origin, host="127.0.0.1:7860") == 200
    assert (
        status(hosts().check_origin, host="127.0.0.1:7860", origin="http://127.0.0.1:7860") == 200
    )
