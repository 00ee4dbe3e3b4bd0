"""Opens the page behind its guard."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.routes import App
from starlette.middleware import Middleware
from starlette.routing import Route

from panels.site.connections import limits_of_system
from panels.site.front import NO_OPENING, Kept, Opening
from panels.site.guard import Doors, Guard
from panels.site.health import health_route
from panels.site.hosts import own_hosts
from panels.site.internals import (
    announce_mcp,
    cancel,
    limit_connections,
    limit_frames,
    names,
    queued_events,
    remember_constants,
)
from panels.site.queue_door import QueueDoor
from panels.site.routes import TOOLS, Kind
from panels.site.sessions import Sessions
from panels.site.streams import Streams
from panels.site.visitor import trust_proxies
from panels.ui import theme
from sauda.fairness import FairGate, Limits
from sauda.serve.http import openenv_app
from sauda.serve.mcp import McpServer, tool_schemas
from sauda.serve.openenv import Sockets

LISTENS_WITHIN = 15.0  # seconds from a call to the caller who fetches its answer
# Gradio runs events in threads of their own then, and never in those that serve the page's files.
THREADS = 104  # as many as run at once, by the limits of all groups
QUEUE = 512  # events in all; `queue_door.py` limits those of one address
# Gradio computes statistics of all its last events after each; nobody sees them here.
VARIABLES = {"GRADIO_ANALYTICS_MAX_EVENTS": "1", "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000"}


# A tab that opens starts about 20 events; a hundred tabs of one address may open at once.
EVENTS = Limits(waiting_of_address=2048)
# Programs that play have a gate of their own: no trainer and no agent takes a visitor's turn.
STEPS = Limits(running=4, running_of_address=3)
MOST_FRAME = 256 * 1024  # bytes; a larger message over a socket closes it


@dataclass(frozen=True)
class Served:
    """A page that is open: Gradio's app, the doors that a shutdown closes, OpenEnv's and MCP's."""

    app: App
    doors: Doors
    sockets: Sockets
    mcp: McpServer


def serve(blocks: gr.Blocks, host: str, port: int, opening: Opening = NO_OPENING) -> Served:
    """Open the page at this address, in threads of its own; OSError where it cannot listen."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    remember_constants()
    gate, streams, doors, pages = FairGate(EVENTS), Streams(), Doors(), Kept()
    steps, queue_door = FairGate(STEPS), QueueDoor()
    sockets, mcp = Sockets(openenv_app(), steps), McpServer(steps)
    parts = {
        "gate": gate,
        "streams": streams,
        "doors": doors,
        "pages": pages,
        "opening": opening,
        "sockets": sockets,
        "mcp": mcp,
        "queue_door": queue_door,
    }
    hosts = own_hosts(os.environ, host, behind_proxy=trust_proxies())
    guard = Middleware(Guard, **parts, hosts=hosts)
    blocks.queue(max_size=QUEUE, api_open=False)  # what is queued cannot skip the queue
    app, _, _ = blocks.launch(
        server_name=host,
        server_port=port,
        theme=theme.THEME,
        head=theme.HEAD,
        ssr_mode=False,
        enable_monitoring=False,
        footer_links=["api", "settings"],
        quiet=True,
        prevent_thread_lock=True,
        run_history=False,
        max_threads=THREADS,
        max_file_size=0,
        app_kwargs={
            "middleware": [guard],
            "routes": [
                health_route(gate, queue_door, streams, pages, sockets, mcp),
                Route(TOOLS, tool_schemas),
            ],
            "lifespan": lifespan(streams, mcp),
        },
    )
    limit_frames(blocks, MOST_FRAME, sockets.limits.idle_seconds)
    limit_connections(blocks, limits_of_system())
    announce_mcp(blocks)
    return Served(app, doors, sockets, mcp)


def lifespan(streams: Streams, mcp: McpServer) -> Callable[[App], Any]:
    """What holds while the page is served: lean sessions, awaited events, the MCP server."""

    @contextlib.asynccontextmanager
    async def serving(app: App) -> AsyncIterator[None]:
        app.state_holder = Sessions(streams)
        app.state_holder.set_blocks(app.get_blocks())
        task = asyncio.create_task(_drop_unheard(app.get_blocks(), streams))
        try:
            async with mcp.running():
                yield
        finally:
            task.cancel()

    return serving


async def _drop_unheard(blocks: gr.Blocks, streams: Streams) -> None:
    while True:
        await asyncio.sleep(1)
        for event in queued_events(blocks):
            heard = any(streams.of_session[Kind.MESSAGES, name] for name in names(event))
            if not heard and time.monotonic() - event.enqueue_time > LISTENS_WITHIN:
                await cancel(blocks, event)
