"""How the page is made, kept, sent and logged; whose calls are its own; pictures of its links."""

import asyncio
import gzip
import io
import logging

import gradio as gr
import pytest
from PIL import Image
from starlette.datastructures import Headers
from starlette.requests import Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from env import WalkAway
from panels.haggle.game_view import face_of
from panels.site import card
from panels.site.cache import PIECE, PageCache
from panels.site.gate import own_hosts
from panels.site.serving import LONGEST, MINUTE, OncePerMinute
from panels.site.sessions import INTERNAL, trusted_proxies
from panels.ui.html import drawing, drawing_names
from panels.ui.visitor import NO_SESSION, visitor_of
from sauda.fairness import Visitor
from sauda.records.store import load
from sauda.serve.limits import NO_ADDRESS, Refused
from sauda.sessions.arena import start as start_arena
from sauda.sessions.bazaar import answer, start
from sauda.sessions.ladder import LEVELS
from tests.support.cases import rows
from tests.support.running import run

PAGE = b"<html>" + b"a table " * 1000


class Rendered:
    """An ASGI app that makes the page with its address in it, and counts how often."""

    def __init__(self, status=200):
        self.status, self.times = status, 0

    async def __call__(self, scope, receive, send):
        self.times += 1
        await asyncio.sleep(0)  # others may ask meanwhile
        address = f"{scope['scheme']}://{Headers(scope=scope)['host']}".encode()
        page = address + PAGE + address + b"/x"
        headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(page))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": page[:9], "more_body": True})
        await send({"type": "http.response.body", "body": page[9:]})


async def ask(app, cache, host="page.example", path="/", method="GET", query=b"", **headers):
    """The status, headers and body of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    pairs = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http", "method": method, "path": path, "scheme": "http", "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
    }  # fmt: skip
    await cache.answer(app, scope, None, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def get(*given, **named):
    """The same, once it has come."""
    return run(ask(*given, **named))


def page_at(address: str) -> bytes:
    return address.encode() + PAGE + address.encode() + b"/x"


def test_the_page_is_made_once_and_tells_each_caller_the_address_where_it_was_reached():
    app, cache = Rendered(), PageCache()
    for host in ("a.example", "192.0.2.7:8080", "[2001:db8::1]:80"):
        whole = page_at(f"http://{host}")
        for query in (b"", b"tab=haggle", b"__theme=dark"):
            status, headers, body = get(app, cache, host=host, query=query)
            assert (status, body) == (200, whole)
            assert headers[b"content-length"] == b"%d" % len(whole)
            assert b"content-encoding" not in headers
        _, headers, body = get(app, cache, host=host, accept_encoding="gzip")
        assert (headers[b"content-encoding"], gzip.decompress(body)) == (b"gzip", whole)
        assert headers[b"content-length"] == b"%d" % len(body)
        assert len(body) < len(whole) / 2
    proxied = {"x_forwarded_host": "a.example/--x, inner", "x_forwarded_proto": "https, http"}
    assert get(app, cache, **proxied)[2] == page_at("https://a.example/--x")
    assert app.times == 1


def test_an_address_never_breaks_out_of_the_page():
    _, _, body = get(Rendered(), PageCache(), x_forwarded_host='a.example/"><script>')
    assert body == page_at("http://a.example")


def test_callers_at_once_a_slash_behind_and_a_head_cost_no_second_page():
    app, cache = Rendered(), PageCache()

    async def many() -> list:
        return await asyncio.gather(*(ask(app, cache, f"10.0.0.{n}") for n in range(50)))

    assert {status for status, *_ in run(many())} == {200}
    assert app.times == 1
    _, headers, body = get(app, cache, method="HEAD")
    assert (headers[b"content-length"], body) == (b"%d" % len(page_at("http://page.example")), b"")
    assert app.times == 1
    assert get(app, cache, path="/config/") == get(app, cache, path="/config")
    assert app.times == 2


def test_the_page_is_handed_out_in_pieces_so_that_a_slow_reader_keeps_none_of_it():
    sent, cache = [], PageCache()

    async def send(message):
        sent.append(len(message.get("body", b"")))

    scope = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "query_string": b"",
             "headers": [(b"host", b"page.example")]}  # fmt: skip

    async def large(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 10 * PIECE})

    run(cache.answer(large, scope, None, send))
    assert (sum(sent), max(sent)) == (10 * PIECE, PIECE)


def test_answers_that_fail_are_not_kept():
    app, cache = Rendered(status=500), PageCache()
    assert [get(app, cache)[0] for _ in range(2)] == [500, 500]
    assert app.times == 2


def test_a_kind_of_entry_is_written_once_a_minute_on_one_short_line():
    moment, written, logger = 0.0, io.StringIO(), logging.Logger("page")
    handler = logging.StreamHandler(written)
    handler.addFilter(OncePerMinute(lambda: 100 + moment))
    logger.addHandler(handler)
    for moment in (0, 1, MINUTE - 1, MINUTE):
        logger.warning("refused %s", moment)
    for error in (ValueError, KeyError, ValueError):  # kinds do not silence one another
        try:
            raise error("x")
        except (LookupError, ValueError):
            logger.exception("failed")
    logger.warning("cannot read %s", "a\nb" * 10_000)
    first, second, *traces, last = written.getvalue().splitlines()
    assert (first, second) == ("refused 0", f"refused {MINUTE} (2 more like it)")
    assert (traces.count("failed"), "\n".join(traces).count("Traceback")) == (2, 2)
    assert last.startswith("cannot read a")
    assert len(last) <= LONGEST


NAMED = {"SAUDA_HOSTS": "sauda.example, https://b.example:8443,*.c.example"}
PAGES = {
    "plain": own_hosts({}, "127.0.0.1", False),
    "named": own_hosts(NAMED, "d.example", False),
    "space": own_hosts({"SPACE_ID": "a/b", "SPACE_HOST": "a-b.hf.space"}, "0.0.0.0", True),
    "proxied": own_hosts({"SAUDA_HOSTS": "sauda.example"}, "127.0.0.1", True),
}


@pytest.mark.parametrize("row", rows("hosts.csv"), ids=lambda row: " ".join(row.values()))
def test_a_page_is_called_under_its_own_names_and_by_its_own_origin_alone(row):
    names = {"host": row["host"], "x-forwarded-host": row["forwarded"], "origin": row["origin"]}
    headers = Headers({name: value for name, value in names.items() if value})
    page, status = PAGES[row["page"]], 200
    try:
        page.check(headers)
        page.check_origin(headers)
    except Refused as refused:
        status = refused.status
    assert status == int(row["status"])


@pytest.mark.parametrize(
    "forwarded_for", ["203.0.113.9", "192.0.2.1, 203.0.113.9", "192.0.2.1, 203.0.113.9, 10.1.2.3"]
)
def test_the_address_is_the_last_hop_that_is_not_trusted_and_else_the_connections(forwarded_for):
    """As seen behind uvicorn's middleware."""

    def visitor(peer: str, trusted: str) -> Visitor:
        headers, seen = [(b"x-forwarded-for", forwarded_for.encode())], []

        async def app(scope, receive, send):
            seen.append(visitor_of(gr.Request(Request(scope), session_hash="abc")))

        scope = {"type": "http", "headers": headers, "client": (peer, 5000)}
        run(ProxyHeadersMiddleware(app, trusted_hosts=trusted)(scope, None, None))
        return seen[0]

    assert visitor("10.0.0.7", INTERNAL) == Visitor("abc", "203.0.113.9")
    assert visitor("198.51.100.4", "") == Visitor("abc", "198.51.100.4")
    unnamed = Request({"type": "http", "headers": [], "client": None})
    assert visitor_of(gr.Request(unnamed)) == Visitor(NO_SESSION, NO_ADDRESS)


def test_proxies_are_trusted_on_a_space_and_where_they_are_named():
    named, space = {"FORWARDED_ALLOW_IPS": "192.0.2.7"}, {"SPACE_ID": "a/b"}
    assert (trusted_proxies({}), trusted_proxies(named)) == ("", "192.0.2.7")
    assert trusted_proxies(space) == INTERNAL
    assert trusted_proxies(space | {"FORWARDED_ALLOW_IPS": ""}) == ""


# The picture that other sites show of a link to the page


RESULT = {"task": "bazaar/people", "seed": "50020", "won": "58"}


def told(query: str) -> str:
    return card.link_of(query.encode()).title


def test_a_link_to_a_result_has_a_picture_of_its_own_and_any_other_the_pages():
    of_result, of_page = (Image.open(io.BytesIO(card.picture(**values))) for values in (RESULT, {}))
    assert of_result.size == of_page.size == card.SIZE
    assert of_result.tobytes() != of_page.tobytes()
    link = card.link_of(b"tab=haggle&task=bazaar/people&seed=50020&won=58&against=hidden")
    assert link.picture == "task=bazaar/people&seed=50020&won=58"
    assert card.link_of(b"tab=haggle") is None


def test_every_end_of_a_game_has_a_title_and_a_picture_that_tell_it():
    level = LEVELS[1]
    raju = f"tab=haggle&task={level.task}&seed={level.seed}&against=hidden"
    titles = [told(f"{raju}&won={won}") for won in ("53", "-18", "none")]
    assert "I took 53%" in titles[0]
    assert "I overpaid. Rajni took 118%." in titles[1]
    assert "No deal." in titles[2]
    pictures = {card.picture(**card.of_query(RESULT | {"won": w})) for w in ("53", "-18", "none")}
    assert len(pictures) == 3


def test_beside_a_result_stands_who_took_the_rest():
    record = load("episodes/duel.json").data.games[0].seed
    assert "Sauda took" in told(f"task=bazaar/people&seed={record}&won=53")
    assert "Sauda took 40%" in told("task=bazaar/customers&seed=50020&against=mini%2Bcandid&won=60")
    assert "Sauda beat me. 61% to 40%" in told("part=people&record=40&sauda=61")


def test_a_person_has_one_face_from_the_first_move_to_the_picture():
    game = start("bazaar/people", "", 50020)
    before = face_of(game)
    while not game.over:
        game = answer(game, WalkAway())
    assert before == face_of(game) == card.face_at("bazaar/people", 50020, card.HIDDEN)
    assert card.face_at(LEVELS[1].task, LEVELS[1].seed, card.HIDDEN) == LEVELS[1].face


def test_the_winner_smiles():
    assert [card.mouths(*shares)[0] for shares in ((0.6, 0.4), (0.4, 0.6))] == ["smile", "wry"]
    assert drawing("hasty", "smile") != drawing("hasty")
    assert drawing("hasty", "smile").count("mouth") == 1


def test_the_pie_has_the_senders_share():
    def indigo(won: str) -> int:
        image = Image.open(io.BytesIO(card.picture(**RESULT | {"won": won}))).convert("RGB")
        pie = image.crop((790, 260, 1050, 520))
        red, green, blue = bytes.fromhex(card.COLOURS["indigo"][1:])
        return sum(
            abs(r - red) + abs(g - green) + abs(b - blue) < 30
            for r, g, b in pie.get_flattened_data()
        )

    assert indigo("25") / indigo("100") == pytest.approx(0.25, abs=0.02)


def test_a_world_of_the_arena_has_a_picture_with_what_its_lab_made_and_could_make_alone():
    world = {"task": "arena/market_round", "seed": "50003", "made": "120.0"}
    alone = start_arena(world["task"], 50003).observation.own.batna
    assert told("&".join(f"{name}={value}" for name, value in world.items())) == (
        f"I made 120.0 credits with an AI lab that makes {alone:.1f} alone. Can you do better?"
    )
    pictures = {card.picture(**card.of_query(world | {"made": m})) for m in ("120.0", "1.0")}
    assert len(pictures) == 2
    for wrong in ({"made": "1e3"}, {"task": "bazaar/people"}):
        with pytest.raises(ValueError, match="no lab makes"):
            card.of_query(world | wrong)


@pytest.mark.parametrize(
    "wrong", [{"won": "101"}, {"won": "-0100"}, {"won": "٣"}, {"task": "../x"}, {"seed": "1e3"}]
)
def test_what_is_no_result_has_no_picture(wrong):
    with pytest.raises(ValueError, match=r".+"):
        card.of_query(RESULT | wrong)


def test_each_drawing_is_read_whole():
    for name in drawing_names():
        points = [point for line in card.lines_of(name) for point in line]
        assert points
        assert all(0 <= value <= 64 for point in points for value in point), name
