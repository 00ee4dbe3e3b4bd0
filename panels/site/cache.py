"""The answers that are the same for every visitor, made once.

Gradio writes the configuration of all components into each of them, a tenth of a second of one
core, and sends megabytes; they are kept compressed, cut where the address of the page stands, which
each caller chooses. The page gets a first view, plain HTML that stands until Gradio has drawn its
components, and the words that other sites show of a link to it.
"""

import asyncio
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from starlette.datastructures import Headers

from panels.site import card

# Gradio names itself in the tags that a chat or a network reads of a link.
LINK_TAGS = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*')
APP = b"<gradio-app"
SAME = frozenset({"/", "/config", "/theme.css"})
NOWHERE = b"page.invalid"  # RFC 2606: no page has this name, so only its address has it
OWN = f"http://{NOWHERE.decode()}"  # in the page's HTML, where its address is to stand
PICTURE = card.PATH.encode() + b"?"  # in the link tags; the query of a result follows
TITLE = re.compile(rb'(property="og:title" content=")[^"]*')  # likewise; that of a result comes in
OF_ADDRESS = re.compile(r"[\w.\-:\[\]/]*", re.ASCII)  # a proxy may add a path to the name
PIECE = 32 * 1024  # bytes that are handed to the web server at a time, which waits for slow readers
GZIP_HEAD, LAST_BLOCK = b"\x1f\x8b\x08" + bytes(6) + b"\xff", b"\x03\x00"  # RFC 1952; RFC 1951, 3.2


@dataclass(frozen=True)
class Answer:
    """An answer that is kept, between the places of the page's address in it."""

    headers: list[tuple[bytes, bytes]]
    parts: list[bytes]
    deflated: list[bytes]  # the parts, none of which refers to another one

    def plain(self, address: bytes) -> list[bytes]:
        """The body with the page's address in it, in parts."""
        return _between(self.parts, address)

    def gzipped(self, address: bytes) -> list[bytes]:
        """The same, compressed; the address is a stored block of its own."""
        size, check = 0, 0
        for part in self.plain(address):
            size, check = size + len(part), zlib.crc32(part, check)
        length = len(address).to_bytes(2, "little")
        stored = b"\x00" + length + bytes(255 - byte for byte in length) + address
        end = LAST_BLOCK + check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")
        return [GZIP_HEAD, *_between(self.deflated, stored), end]


def _between(parts: list[bytes], text: bytes) -> list[bytes]:
    return [each for part in parts for each in (text, part)][1:]


def _deflate(parts: Iterable[bytes]) -> list[bytes]:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return [packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in parts]


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        for start in range(0, len(part), PIECE):
            yield part[start : start + PIECE]


def _address(scope: dict[str, Any], headers: Headers) -> bytes:
    """Where the caller reached the page, as Gradio reads it: "https://sauda.example"."""
    host, scheme = (
        headers.get(f"x-forwarded-{name}", "").partition(",")[0].strip()
        for name in ("host", "proto")
    )
    host = host or headers.get("host") or ":".join(map(str, scope["server"]))
    scheme = "https" if "https" in (scheme, scope["scheme"]) else "http"
    return f"{scheme}://{OF_ADDRESS.match(host)[0]}".rstrip("/").encode()


async def messages_of(app: Any, scope: dict[str, Any], receive: Any) -> list[dict[str, Any]]:
    """The messages of an answer, to be sent later: nobody keeps a place by not reading them."""
    answer: list[dict[str, Any]] = []

    async def keep(message: dict[str, Any]) -> None:
        answer.append(message)

    await app(dict(scope), receive, keep)
    return answer


@dataclass
class PageCache:
    """The answers that are kept, by path."""

    first_view: str = ""  # HTML that Gradio's page lacks
    link_tags: str = ""  # what a link to the page is about, likewise
    kept: dict[str, Answer] = field(default_factory=dict)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    def complete(self, page: bytes) -> bytes:
        """The page with the first view before its components, and with its own link tags."""
        before, app, after = LINK_TAGS.sub(b"", page).partition(APP)
        head, end, body = before.partition(b"</head>")
        return head + self.link_tags.encode() + end + body + self.first_view.encode() + app + after

    async def answer(self, app: Any, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Send a kept answer; one that is not kept is asked of `app`, and kept if it is good."""
        path = scope["path"].rstrip("/") or "/"
        if scope["method"] not in ("GET", "HEAD") or path not in SAME:
            await app(scope, receive, send)
            return
        async with self._making:  # once, however many wait for it
            if path not in self.kept and not await self._make(path, app, scope, receive, send):
                return
        headers, answer = Headers(scope=scope), self.kept[path]
        address, coding = _address(scope, headers), []
        link = card.link_of(scope["query_string"]) if path == "/" else None
        if link:  # to a result, which is rarely asked for
            whole = b"".join(answer.plain(address))
            whole = TITLE.sub(rb"\g<1>" + escape(link.title).encode(), whole, 1)
            body = [whole.replace(PICTURE, PICTURE + escape(link.picture).encode(), 1)]
        elif "gzip" in headers.get("accept-encoding", ""):
            body, coding = answer.gzipped(address), [(b"content-encoding", b"gzip")]
        else:
            body = answer.plain(address)
        size = (b"content-length", str(sum(map(len, body))).encode())
        start = [*answer.headers, size, *coding, (b"vary", b"accept-encoding")]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        for piece in _pieces(body) if scope["method"] == "GET" else ():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _make(
        self, path: str, app: Any, scope: dict[str, Any], receive: Any, send: Any
    ) -> bool:
        """Keep what the app answers to anybody; False where it fails, and that is sent."""
        anybody = {"path": path, "query_string": b"", "headers": [(b"host", NOWHERE)]}
        anybody |= {"method": "GET", "scheme": "http"}
        messages = start, *parts = await messages_of(app, scope | anybody, receive)
        if start["status"] != 200:
            for message in messages:
                await send(message)
            return False
        body = b"".join(part.get("body", b"") for part in parts)
        if path == "/":
            body = self.complete(body)
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        cut = body.split(b"http://" + NOWHERE)
        deflated = await asyncio.to_thread(_deflate, cut)  # holds no other caller up
        self.kept[path] = Answer(headers, cut, deflated)
        return True
