"""The answers that are the same for every visitor, made once: the page, its configuration, styles.

Gradio copies the configuration of all components for each of them, a tenth of a second of one core,
and sends a megabyte. They are kept compressed, for each name under which the page is reached. The
page gets a first view, plain HTML that stands until Gradio has drawn its components, and the words
that other sites show of a link to it.
"""

import gzip
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from panels.site.headers import Send

# Gradio names itself in the tags that a chat or a network reads of a link.
LINK_TAGS = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*')
APP = b"<gradio-app"
SAME = frozenset({"/", "/config", "/theme.css"})
NAMED_BY = ("host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server")
NAMES = 32  # answers that are kept: a caller may come under any name


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


NO_OPENING = Opening()
Kept = OrderedDict[tuple[str | None, ...], Answer]  # by path and by the page's name


class Front:
    """ASGI app that answers for `app` where the answer is the same for all, out of `kept`."""

    def __init__(self, app: Any, kept: Kept, opening: Opening = NO_OPENING) -> None:
        self.app, self.kept, self.opening = app, kept, opening

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        """Send a kept answer; one that is not kept is asked of the app, and kept if it is good."""
        if scope["method"] != "GET" or scope["path"] not in SAME:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        name = (scope["path"], scope["scheme"], *(headers.get(each) for each in NAMED_BY))
        if name not in self.kept:
            messages: list[dict[str, Any]] = []

            async def keep(message: dict[str, Any]) -> None:
                messages.append(message)

            await self.app(scope | {"query_string": b""}, receive, keep)
            start, *parts = messages
            if start["status"] != 200:
                for message in messages:
                    await send(message)
                return
            body = b"".join(part.get("body", b"") for part in parts)
            if scope["path"] == "/":
                body = self.opening.added(body)
            self._keep(name, start["headers"], body)
        self.kept.move_to_end(name)
        await self.kept[name].send(send, "gzip" in headers.get("accept-encoding", ""))

    def _keep(
        self, name: tuple[str | None, ...], headers: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        own = [pair for pair in headers if pair[0].lower() != b"content-length"]
        self.kept[name] = Answer(own, body, gzip.compress(body, 6))
        if len(self.kept) > NAMES:
            self.kept.popitem(last=False)
