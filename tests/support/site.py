"""The page behind its guard, served from this process, its language model a toy."""

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr
import httpx
import pytest

from app import build_app
from panels.haggle.opponents import models
from panels.site import sessions
from panels.site.gate import Served
from panels.site.serving import serve
from sauda.llm import backends
from sauda.llm.backends import ThreadEngine
from sauda.llm.server import ReplyService
from sauda.llm.types import Reply
from sauda.serve.leaderboard import VARIABLE, own_board

MANY = httpx.Limits(max_connections=100)
PATIENCE = 60  # seconds for an answer; tests share the cores


class Toy:
    """A model whose every reply is the same few words."""

    source = "toy"

    def stream(self, messages, seed, schema=None) -> Iterator[Reply]:
        yield Reply("I bid", self.source, 2)
        yield Reply("I bid 100", self.source, 3, "stop")


@dataclass(frozen=True)
class Site:
    """A page that is served from this process."""

    address: str
    app: Any  # Gradio's FastAPI app
    served: Served
    shared: httpx.Client  # of all callers; making one takes longer than most calls

    @property
    def blocks(self) -> Any:
        return self.app.get_blocks()

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=PATIENCE, headers=headers)

    def event_number(self, module: str, name: str) -> int:
        """The index of the first event whose function is `name` of the module `panels.{module}`."""
        return self.event_numbers(module, name)[0]

    def event_numbers(self, module: str, name: str) -> list[int]:
        """The indices of all such events."""
        sought = (f"panels.{module}", name)
        return [
            number
            for number, event in self.blocks.fns.items()
            if event.fn and (event.fn.__module__, event.fn.__name__) == sought
        ]

    def call(self, number: int, data: list[Any], session: str, sent: Any = None) -> str:
        """The answer of event `number`, which runs in the queue or outside of it, as text.

        `sent` is what an element of the page sends with the event.
        """
        body = {"data": data, "fn_index": number, "session_hash": session, "event_data": sent}
        if not self.blocks.fns[number].queue:
            answer = self.shared.post("/gradio_api/run/predict", json=body)
            assert answer.status_code == 200, answer.text
            return answer.text
        assert self.shared.post("/gradio_api/queue/join", json=body).status_code == 200
        text = self.shared.get(f"/gradio_api/queue/data?session_hash={session}").text
        assert '"success":true' in text.replace(": ", ":"), text
        return text


def opening(part: Any) -> Any:
    """The value that a browser sends of a component at first."""
    return None if part.stateful else part.get_config().get("value")


def without_tabs() -> gr.Blocks:
    """A page with nothing on it, for tests of what is served beside it."""
    with gr.Blocks() as blocks:
        return blocks


@contextmanager
def toy_models() -> Iterator[None]:
    """Context: a toy replies for every language model, and the leaderboard is empty."""
    toy = ReplyService(lambda report: ThreadEngine(report, lambda name: Toy()))
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(backends, "own_service", lambda: toy)
        patch.setenv(VARIABLE, folder)
        own_board.cache_clear()
        models.cache_clear()
        yield
    own_board.cache_clear()
    models.cache_clear()


@contextmanager
def served_page(build: Callable[[], gr.Blocks] = build_app) -> Iterator[Site]:
    """Context: the whole page, or what `build` makes, at a free port of this machine.

    It is made and called among `toy_models`. A page that another test still serves has its sessions
    back afterwards.
    """
    blocks, former = build(), getattr(sessions.OPEN, "blocks", None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app, served = serve(blocks, "127.0.0.1", port)
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, timeout=PATIENCE, limits=MANY) as shared:
        yield Site(address, app, served, shared)
    blocks.close()
    if former is not None:
        sessions.OPEN.session_data.clear()
        sessions.OPEN.set_blocks(former)
