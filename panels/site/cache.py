"""The answers that are the same for every visitor, made once per address of the page.

Gradio writes the configuration of all components into each of them, a tenth of a second of one
core, and sends megabytes; they are kept compressed. The page gets a first view, plain HTML that
stands until Gradio has drawn its components, and the words that other sites show of a link to it.
"""

import asyncio
import gzip
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers

# Gradio names itself in the tags that a chat or a network reads of a link.
LINK_TAGS = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*')
APP = b"<gradio-app"
SAME = frozenset({"/", "/config", "/theme.css"})
NAMED_BY = ("host", "x-forwarded-host", "x-forwarded-proto")
NAMES = 32  # answers that are kept: a caller may come at any address and port


@dataclass
class PageCache:
    """The answers that are kept, by path and by the names under which the page was reached."""

    first_view: str = ""  # HTML that Gradio's page lacks
    link_tags: str = ""  # what a link to the page is about, likewise
    kept: OrderedDict[tuple, tuple[list, bytes, bytes]] = field(default_factory=OrderedDict)

    def complete(self, page: bytes) -> bytes:
        """The page with the first view before its components, and with its own link tags."""
        before, app, after = LINK_TAGS.sub(b"", page).partition(APP)
        head, end, body = before.partition(b"</head>")
        return head + self.link_tags.encode() + end + body + self.first_view.encode() + app + after

    async def answer(self, app: Any, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Send a kept answer; one that is not kept is asked of `app`, and kept if it is good."""
        if scope["method"] != "GET" or scope["path"] not in SAME:
            await app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        key = (scope["path"], *(headers.get(name) for name in NAMED_BY))
        if key not in self.kept and not await self._make(key, app, scope, receive, send):
            return
        self.kept.move_to_end(key)
        own, body, compressed = self.kept[key]
        coding = []
        if "gzip" in headers.get("accept-encoding", ""):
            body, coding = compressed, [(b"content-encoding", b"gzip")]
        size = (b"content-length", str(len(body)).encode())
        start = [*own, size, *coding, (b"vary", b"accept-encoding")]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        await send({"type": "http.response.body", "body": body})

    async def _make(
        self, key: tuple, app: Any, scope: dict[str, Any], receive: Any, send: Any
    ) -> bool:
        """Keep what the app answers to anybody; False where it fails, and that is sent."""
        messages: list[dict[str, Any]] = []

        async def keep(message: dict[str, Any]) -> None:
            messages.append(message)

        await app(scope | {"query_string": b""}, receive, keep)
        start, *parts = messages
        if start["status"] != 200:
            for message in messages:
                await send(message)
            return False
        body = b"".join(part.get("body", b"") for part in parts)
        if scope["path"] == "/":
            body = self.complete(body)
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        compressed = await asyncio.to_thread(gzip.compress, body, 6)  # holds no other caller up
        self.kept[key] = headers, body, compressed
        if len(self.kept) > NAMES:
            self.kept.popitem(last=False)
        return True
