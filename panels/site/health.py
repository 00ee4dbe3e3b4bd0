"""`/health`: how the page does, as a small JSON object for a person or a monitor."""

import shutil
import sys
import tempfile
import time
from functools import _lru_cache_wrapper

import psutil
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from panels.site.gate import Served
from panels.site.visitor import OPEN
from sauda.llm import backends
from sauda.llm.process import CACHE_BYTES
from sauda.serve.http import CAPACITY
from sauda.serve.limits import MOST_EPISODES
from sauda.sessions.arena import ArenaGame
from sauda.sessions.bazaar import Game

MIB = 2**20
ROOM = 64  # MiB of temporary files that a download may need
OURS = ("env", "panels", "sauda")  # packages


def health_route(served: Served) -> Route:
    """The route of `/health`."""
    began = time.monotonic()

    async def health(request: Request) -> Response:
        trouble = backends.own_service().trouble()
        return JSONResponse(
            {
                "status": "degraded" if trouble else "healthy",
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
                "caches": caches(),
                "language_models": backends.own_service().health(),
                "memory_mib": memory() | {"most_of_model_cache": CACHE_BYTES / MIB},
                "temporary_files": trouble_with_temporary_files() or "enough room",
            }
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


def caches() -> dict[str, dict[str, int]]:
    """The size and the limit of each `functools.lru_cache` of this code that is not empty.

    Those of `functools.cache` are left out: their arguments come from fixed lists.
    """
    sizes = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in OURS:
            continue
        for function in list(vars(module).values()):
            size = function.cache_info() if isinstance(function, _lru_cache_wrapper) else None
            if size and size.currsize and size.maxsize is not None:
                label = f"{function.__module__}.{function.__name__}"
                sizes[label] = {"kept": size.currsize, "most": size.maxsize}
    return dict(sorted(sizes.items()))


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
