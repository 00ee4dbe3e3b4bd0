"""The page is made once for all visitors, and sent compressed."""

import gzip

import pytest

from panels.site.front import NAMES, Front, Kept, Opening
from panels.site.internals import root_of
from tests.support.coroutines import run

PAGE = b"<html>" + b"a table " * 1000


class Rendered:
    """An ASGI app that makes the page, with its address in it if asked, and counts how often."""

    def __init__(self, status=200, with_address=False):
        self.status, self.times, self.with_address = status, 0, with_address

    async def __call__(self, scope, receive, send):
        self.times += 1
        page = PAGE + root_of(scope).encode() if self.with_address else PAGE
        headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(page))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": page[:9], "more_body": True})
        await send({"type": "http.response.body", "body": page[9:]})


def get(front, path="/", host="page.example", method="GET", query=b"", **headers):
    """The status, headers and body of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    pairs = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http", "method": method, "path": path, "scheme": "http", "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
    }  # fmt: skip
    run(front(scope, None, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def test_the_page_is_made_once_whatever_its_query():
    app = Rendered()
    front = Front(app, Kept())
    for query in (b"", b"tab=haggle", b"__theme=dark"):
        status, headers, body = get(front, query=query)
        assert (status, body) == (200, PAGE)
        assert headers[b"content-length"] == b"%d" % len(PAGE)
        assert b"content-encoding" not in headers
    assert app.times == 1


def test_who_accepts_it_gets_the_page_compressed():
    front = Front(Rendered(), Kept())
    _, headers, body = get(front, accept_encoding="br, gzip")
    assert headers[b"content-encoding"] == b"gzip"
    assert headers[b"content-length"] == b"%d" % len(body)
    assert headers[b"vary"] == b"accept-encoding"
    assert len(body) < len(PAGE) / 10
    assert gzip.decompress(body) == PAGE


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ({"host": "a.example"}, "http://a.example"),
        ({"host": "192.0.2.7:8080"}, "http://192.0.2.7:8080"),
        ({"host": "a.example", "x_forwarded_proto": "https"}, "https://a.example"),
        ({"host": "a.example", "x_forwarded_host": "b.example"}, "http://b.example"),
    ],
)
def test_each_name_gets_its_own_address_of_a_page_that_is_made_once(headers, address):
    app = Rendered(with_address=True)
    front = Front(app, Kept())
    for _ in range(2):
        assert get(front)[2] == PAGE + b"http://page.example"
        _, sent, body = get(front, **headers)
        assert body == PAGE + address.encode()
        assert sent[b"content-length"] == b"%d" % len(body)
    assert app.times == 1


def test_the_answers_that_are_kept_are_bounded_however_many_names_are_used():
    app = Rendered()
    front = Front(app, Kept())
    for port in range(3 * NAMES):
        get(front, host=f"127.0.0.1:{port}")
    assert (app.times, len(front.kept)) == (1, NAMES)


def test_an_error_and_any_other_path_are_not_kept():
    app = Rendered(500)
    front = Front(app, Kept())
    assert get(front)[0] == get(front)[0] == 500
    assert app.times == 2
    other = Rendered()
    front = Front(other, Kept())
    for _ in range(2):
        get(front, path="/health")
        get(front, method="HEAD")
    assert (other.times, len(front.kept)) == (4, 0)


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


def test_only_the_page_itself_gets_the_first_view():
    front = Front(Rendered(), Kept(), Opening("<p>promise</p>"))
    assert get(front, "/config")[2] == PAGE
    assert b"<p>promise</p>" in get(front)[2]
