"""`/health`: how the page does, as a small JSON object for a person or a monitor."""

import asyncio
import math
import shutil
import tempfile
import time
from dataclasses import dataclass, field

import gradio as gr
import httpx
import psutil
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from panels.site.gate import API, Served
from panels.site.sessions import OPEN
from sauda.llm import backends
from sauda.llm.process import CACHE_BYTES
from sauda.serve.http import CAPACITY
from sauda.serve.limits import MOST_EPISODES
from sauda.sessions.arena import ArenaGame
from sauda.sessions.bazaar import Game

MIB = 2**20
ROOM = 64  # MiB of temporary files that a download may need
PULSE = "pulse"  # the name of the event
PULSE_SECONDS = 5.0  # that it may take, from the gate to its answer
PULSE_KEPT = 5.0  # seconds for which what it showed is told again


def add_pulse(blocks: gr.Blocks) -> None:
    """Give the page an event that does nothing but take its turn, as any event of the queue."""
    with blocks:
        gr.api(
            lambda: None, api_name=PULSE, api_visibility="undocumented",
            concurrency_id=PULSE, concurrency_limit=1,
        )  # fmt: skip


@dataclass
class Pulse:
    """Whether events have their turn."""

    stopped: str = ""  # why they have none, in words
    until: float = -math.inf  # when that is asked again
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, app: ASGIApp) -> str:
        """Why no event has its turn in `app`, the whole page; "" where one had."""
        async with self._asking:
            if time.monotonic() >= self.until:
                self.stopped = await _begin_event(app)
                self.until = time.monotonic() + PULSE_KEPT
        return self.stopped


async def _begin_event(app: ASGIApp) -> str:
    here = httpx.ASGITransport(app)
    address = f"http://localhost{API}/call/{PULSE}"
    try:
        async with asyncio.timeout(PULSE_SECONDS), httpx.AsyncClient(transport=here) as client:
            begun = (await client.post(address, json={"data": []})).json()
            if "event_id" not in begun:
                return f"an event was refused: {begun['detail']}"
            answer = await client.get(f"{address}/{begun['event_id']}")
    except TimeoutError:
        return f"an event was not over after {PULSE_SECONDS:g} s"
    return "" if "event: complete" in answer.text else "an event failed"


def health_route(served: Served) -> Route:
    """The route of `/health`."""
    began, pulse = time.monotonic(), Pulse()

    async def health(request: Request) -> Response:
        stopped = await pulse.ask(request.app)
        trouble = stopped or backends.own_service().trouble()
        return JSONResponse(
            {
                "status": "unhealthy" if stopped else "degraded" if trouble else "healthy",
                **({"trouble": trouble} if trouble else {}),
                "uptime_s": round(time.monotonic() - began),
                "sessions": {
                    "kept": len(OPEN.session_data),
                    "most": OPEN.capacity,
                    "connections": served.streams.total,
                },
                "games": games(),
                "events": {
                    "running": served.calls.running,
                    "at_the_gate": served.calls.waiting,
                    "awaited": served.answers.total,
                },
                "openenv": {
                    "sessions": served.sockets.sessions.total,
                    "most": CAPACITY,
                    "episodes_over_http": len(served.sockets.app.state.episodes),
                    "steps_running": served.sockets.gate.running,
                },
                "mcp": {"games": len(served.mcp.games), "most": MOST_EPISODES},
                "language_models": backends.own_service().health(),
                "memory_mib": memory() | {"most_of_model_cache": CACHE_BYTES / MIB},
                "temporary_files": trouble_with_temporary_files() or "enough room",
            },
            503 if stopped else 200,
        )

    return Route("/health", health)


def games() -> dict[str, int]:
    """The visitors' games that are kept: a session has at most one of each kind, for an hour."""
    over = [
        game.over
        for session in list(OPEN.session_data.values())
        for state in list(session.state_data.values())
        if isinstance(game := getattr(state, "game", state), Game | ArenaGame)
    ]
    most = len((Game, ArenaGame)) * OPEN.capacity
    return {"running": over.count(False), "finished": over.count(True), "most": most}


def memory() -> dict[str, float]:
    """Resident memory in MiB: of the page, and of the model process where there is one."""
    processes = {"page": None, "model_process": getattr(backends.own_service().engine, "pid", None)}
    sizes = {}
    for name, number in processes.items():
        if name == "page" or number:
            try:
                sizes[name] = round(psutil.Process(number).memory_info().rss / MIB, 1)
            except psutil.NoSuchProcess:  # it ended just now
                continue
    return sizes


def trouble_with_temporary_files() -> str:
    """What is wrong with the folder, in one sentence; empty where nothing is."""
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"There is no folder for temporary files, so nothing can be downloaded: {error}."
    if free < ROOM * MIB:
        return (
            f"The folder for temporary files, {folder}, has {free // MIB} MiB left of the"
            f" {ROOM} that downloads need; games go on without it."
        )
    return ""
