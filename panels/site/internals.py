"""What the page reads of Gradio beyond its documented interface, in one place.

`tests/panels/site/test_internals.py` fails when a new version of Gradio changes it.
"""

import inspect
from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any

import gradio as gr
from gradio import blocks as gradio_blocks
from gradio import component_meta
from gradio.context import LocalContext
from gradio.queueing import Event
from gradio.route_utils import get_root_url
from gradio.routes import App
from gradio.utils import deep_hash, get_upload_folder
from starlette.requests import Request

from panels.site.connections import Connections, Limits
from panels.site.visitor import visitor_of
from sauda.fairness import PAGE, Visitor


class Page(gr.Blocks):
    """A page whose events cost by what they set, not by all that they may set.

    Gradio makes a component anew for each output of an event, also for those that it leaves alone,
    and looks through all events for the listeners of each State: a third of a scripted reply.
    """

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """The outputs as the browser gets them; those that the event leaves alone are not read."""
        outputs = block_fn.outputs
        if _is_skip(predictions):
            predictions = [predictions] * len(outputs)
        elif isinstance(predictions, dict) and predictions:
            predictions = gradio_blocks.convert_component_dict_to_list(list(outputs), predictions)
        several = isinstance(predictions, list | tuple) and len(predictions) == len(outputs) > 1
        if not several:
            return await super().postprocess_data(block_fn, predictions, state)
        shown = [None if block.stateful else gr.skip() for block in outputs]
        at = [i for i, value in enumerate(predictions) if not _is_skip(value)]
        if at:
            some = copy(block_fn)
            some.outputs, values = [outputs[i] for i in at], [predictions[i] for i in at]
            one_or_all = values if len(values) > 1 else values[0]
            for i, value in zip(
                at, await super().postprocess_data(some, one_or_all, state), strict=True
            ):
                shown[i] = value
        return shown

    def get_state_ids_to_track(self, block_fn: Any, state: Any) -> tuple[list[int], list[Any]]:
        """The States among the outputs to whose changes an event listens, and their hashes."""
        if state is None:
            return [], []
        ids = [b._id for b in block_fn.outputs if b.stateful and b._id in self._listened_to]
        return ids, [deep_hash(state[number]) for number in ids]

    @cached_property
    def _listened_to(self) -> set[int]:
        """The components whose changes start an event, by their ids."""
        targets = [target for fn in self.fns.values() for target in fn.targets]
        return {component for component, event in targets if event == "change"}


def _is_skip(value: Any) -> bool:
    return isinstance(value, dict) and value == gr.skip()


def queued_events(blocks: gr.Blocks) -> Sequence[Event]:
    """The events in the queue: those that wait and those that run."""
    return list(blocks._queue.event_ids_to_events.values())


def waiting(blocks: gr.Blocks) -> int:
    """How many events of the queue have not begun."""
    return len(blocks._queue)


async def cancel(blocks: gr.Blocks, event: Event) -> None:
    """Take an event out of the queue; one that runs ends at its next piece."""
    await blocks._queue.clean_events(event_id=event._id)


def names(event: Event) -> tuple[str, str]:
    """Under which its answer can be fetched: the session's name, and its own."""
    return event.session_hash, event._id


def has_answers(blocks: gr.Blocks, name: str) -> bool:
    """Whether the answers of a session, or of an event, by its name can be fetched."""
    queue = blocks._queue
    pending, event = queue.pending_messages_per_session, queue.event_ids_to_events.get(name)
    if name in pending or (event is not None and event.session_hash in pending):
        return True
    return any(name in events for events in list(queue.pending_event_ids_session.values()))


def own_components(app: App, session: object) -> dict[int, Any]:
    """A session's versions of the components by their ids; empty where there is no such session."""
    kept = app.state_holder.session_data.get(session) if isinstance(session, str) else None
    return kept.blocks_config.blocks if kept else {}


def visitor_of_event() -> Visitor:
    """Who started the event whose function runs; the page itself outside of events."""
    request = LocalContext.request.get(None)
    return visitor_of(request) if request else PAGE


def is_awaited() -> bool:
    """Whether somebody still waits for the event whose function runs; true outside of the queue."""
    blocks, number = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    event = blocks._queue.event_ids_to_events.get(number) if blocks else None
    return event is None or event.alive


def current_session() -> tuple[Any, str] | None:
    """The holder of all sessions, and the name of the one whose event runs; None outside."""
    blocks, request = LocalContext.blocks.get(None), LocalContext.request.get(None)
    return (blocks.state_holder, request.session_hash) if blocks and request else None


def root_of(scope: dict[str, Any]) -> str:
    """The address of the page that Gradio writes into its answer to a request."""
    return get_root_url(Request(scope), scope["path"], scope.get("root_path"))


def limit_frames(blocks: gr.Blocks, most: int, silent_seconds: float) -> None:
    """Let the web server of a launched page close a socket that sends more bytes at a time.

    It also closes one that answers no ping for `silent_seconds`: a client whose model is generating
    in its event loop answers none meanwhile.
    """
    blocks.server.config.ws_max_size = most
    blocks.server.config.ws_ping_timeout = silent_seconds


def limit_connections(blocks: gr.Blocks, limits: Limits) -> None:
    """Let the web server of a launched page limit its connections from now on."""
    config = blocks.server.config
    Connections(limits, config.loaded_app.trusted_hosts).limit(config)


def announce_mcp(blocks: gr.Blocks) -> None:
    """Say in the configuration of a launched page that it serves MCP, as with Gradio's own server.

    Whoever reads the configuration to find servers of MCP finds this one.
    """
    blocks.config["mcp_server"] = True


def forget(blocks: gr.Blocks, session: str) -> None:
    """Drop what Gradio keeps for a session outside of its state."""
    queue = blocks._queue
    kept = (queue.pending_messages_per_session, queue.pending_event_ids_session)
    for by_session in (*kept, blocks.pending_streams, blocks.pending_diff_streams):
        by_session.pop(session, None)


def remember_constants() -> None:
    """Let Gradio read each component's signature, and where its cache is, once.

    It reads both whenever it updates a component: a fifth of the time of a scripted reply.
    """
    component_meta.inspect = _RememberingInspect()
    gradio_blocks.get_upload_folder = cache(get_upload_folder)


class _RememberingInspect:
    """The module `inspect` as Gradio's component_meta uses it."""

    getfullargspec = staticmethod(cache(inspect.getfullargspec))

    def __getattr__(self, name: str) -> Any:
        return getattr(inspect, name)
