"""How the page is made, kept, sent and logged; what it takes from inside Gradio."""

import io
import logging

import gradio as gr
import pytest

from panels.site.front import NAMES, Front, Kept, Opening
from panels.site.internals import Page, root_of
from panels.site.log import LONGEST, MINUTE, OncePerMinute
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


LEFT = {"__type__": "update"}  # the answer for an output that an event leaves alone


def test_gradio_is_the_version_that_the_internals_were_read_in():
    """With another version, read again what panels/site/ takes from Gradio, then change this."""
    assert gr.__version__ == "6.31.0"


@pytest.fixture(params=[gr.Blocks, Page])
def with_event(request):
    """A page with one event that may set each of its five components."""
    with request.param() as page:
        state, text, button = gr.State(1), gr.Textbox("a"), gr.Button("b")
        words, number = gr.Textbox("c"), gr.Number(2)
        outputs = [state, text, button, words, number]
        button.click(lambda: None, None, outputs)
        text.change(lambda: None, None, number)
    return page, outputs


def shown_by(page, predictions):
    """What the browser gets for the values that the event returns."""
    (event,) = (fn for fn in page.fns.values() if len(fn.outputs) == 5)
    return run(page.postprocess_data(event, predictions, None))


def test_an_event_shows_what_it_sets_and_leaves_the_rest(with_event):
    page, (_state, text, button, words, number) = with_event
    some = {text: "new", button: gr.update(visible=False)}
    hidden = {"__type__": "update", "visible": False}
    assert shown_by(page, some) == [None, "new", hidden, LEFT, LEFT]
    assert shown_by(page, {number: 3}) == [None, LEFT, LEFT, LEFT, 3]
    assert shown_by(page, {words: LEFT}) == [None, LEFT, LEFT, LEFT, LEFT]
    every = [7, LEFT, LEFT, "<b>", LEFT]
    assert shown_by(page, every) == [None, LEFT, LEFT, "<b>", LEFT]
    assert shown_by(page, [7, "d", "e", "f", 4]) == [None, "d", "e", "f", 4]


def test_a_page_makes_no_component_anew_that_an_event_leaves_alone(monkeypatch):
    with Page() as page:
        text, words, button = gr.Textbox(), gr.HTML(), gr.Button()
        button.click(lambda: None, None, [text, words, button])
    (event,) = page.fns.values()
    made, create = [], gr.HTML.__init__

    def counted(self, *args, **settings):
        made.append(self)
        create(self, *args, **settings)

    monkeypatch.setattr(gr.HTML, "__init__", counted)
    run(page.postprocess_data(event, {text: "new"}, None))
    assert run(page.postprocess_data(event, LEFT, None)) == [LEFT, LEFT, LEFT]
    assert not made
    run(page.postprocess_data(event, {words: gr.update(visible=False)}, None))
    assert len(made) == 1


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
