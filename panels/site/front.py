"""The answers that are the same for every visitor, made once: the page, its configuration, styles.

Gradio copies the configuration of all components for each of them, a third of a second of one core,
and sends megabytes. They are made once, under a name that is nobody's, and kept compressed for the
names under which the page is reached. The page gets a first view, plain HTML that stands until
Gradio has drawn its components, and the words that other sites show of a link to it.
"""

import asyncio
import gzip
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from panels.site.headers import Send
from panels.site.internals import root_of

# Gradio names itself in the tags that a chat or a network reads of a link.
LINK_TAGS = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*')
APP = b"<gradio-app"
SAME = frozenset({"/", "/config", "/theme.css"})
NOBODY = b"nobodys-name.invalid"  # RFC 2606, section 2
NAMED_BY = (b"host", b"x-forwarded-host", b"x-forwarded-proto")
NAMES = 32  # answers that are kept: a caller may come at any address and port


@dataclass(frozen=True)
class Answer:
    """A whole answer of Gradio's app, its body also compressed."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    compressed: bytes

    async def send(self, send: Send, accepts_gzip: bool) -> None:
        """Send it, compressed if the caller accepts that."""
        body = self.compressed if accepts_gzip else self.body
        size = (b"content-length", str(len(body)).encode())
        coding = [(b"content-encoding", b"gzip")] if accepts_gzip else []
        headers = [*self.headers, size, *coding, (b"vary", b"accept-encoding")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@dataclass(frozen=True)
class Opening:
    """What Gradio's page lacks: a first view, and what a link to the page is about; both HTML."""

    first_view: str = ""
    link_tags: str = ""

    def added(self, page: bytes) -> bytes:
        """The page with the first view before its components, and with its own link tags."""
        before, app, after = LINK_TAGS.sub(b"", page).partition(APP)
        head, end, body = before.partition(b"</head>")
        return head + self.link_tags.encode() + end + body + self.first_view.encode() + app + after


@dataclass(frozen=True)
class Made:
    """An answer of Gradio's app in which the page is at `root`."""

    root: str
    headers: list[tuple[bytes, bytes]]
    body: bytes


NO_OPENING = Opening()
Kept = OrderedDict[tuple[str, str], Answer]  # by path and by the page's address


class Front:
    """ASGI app that answers for `app` where the answer is the same for all, out of `kept`."""

    def __init__(self, app: Any, kept: Kept, opening: Opening = NO_OPENING) -> None:
        self.app, self.kept, self.opening = app, kept, opening
        self._made: dict[str, Made] = {}  # by path

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        """Send a kept answer; one that is not kept is asked of the app, and kept if it is good."""
        if scope["method"] != "GET" or scope["path"] not in SAME:
            await self.app(scope, receive, send)
            return
        name = (scope["path"], root_of(scope))
        if name not in self.kept:
            made = self._made.get(scope["path"]) or await self._make(scope, receive, send)
            if made is None:
                return
            body = made.body.replace(made.root.encode(), name[1].encode())
            compressed = await asyncio.to_thread(gzip.compress, body, 6)  # holds no other caller up
            self.kept[name] = Answer(made.headers, body, compressed)
            if len(self.kept) > NAMES:
                self.kept.popitem(last=False)
        answer = self.kept[name]
        self.kept.move_to_end(name)
        await answer.send(send, "gzip" in Headers(scope=scope).get("accept-encoding", ""))

    async def _make(self, scope: dict[str, Any], receive: Any, send: Send) -> Made | None:
        """What the app answers under nobody's name; None where it fails, and that is sent."""
        others = [pair for pair in scope["headers"] if pair[0] not in NAMED_BY]
        asked = scope | {"query_string": b"", "headers": [(b"host", NOBODY), *others]}
        messages: list[dict[str, Any]] = []

        async def keep(message: dict[str, Any]) -> None:
            messages.append(message)

        await self.app(dict(asked), receive, keep)
        start, *parts = messages
        if start["status"] != 200:
            for message in messages:
                await send(message)
            return None
        body = b"".join(part.get("body", b"") for part in parts)
        if scope["path"] == "/":
            body = self.opening.added(body)
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        made = self._made[scope["path"]] = Made(root_of(asked), headers, body)
        return made
