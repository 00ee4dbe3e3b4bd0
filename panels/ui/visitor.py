"""Who starts an event, by browser tab and network address."""

from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import ContextVar
from functools import partial
from inspect import isgeneratorfunction
from typing import Any

import gradio as gr

from sauda.fairness import PAGE, Visitor
from sauda.serve.limits import NO_ADDRESS, normalize_address

NO_SESSION = ""  # a caller of the API need not name a session
# The gate sets it for calls outside the queue; in the queue an event's function does, `as_visitor`.
CALLER: ContextVar[Visitor] = ContextVar("caller", default=PAGE)


def visitor_of(request: gr.Request) -> Visitor:
    """The caller behind `request`.

    The session is the caller's own claim, so a limit that must hold counts addresses. uvicorn has
    already put the address of a trusted proxy's client in `request.client`.
    """
    client = request.client
    address = normalize_address(client.host) if client else NO_ADDRESS
    return Visitor(request.session_hash or NO_SESSION, address)


def visitor_of_event() -> Visitor:
    """Who started the event whose function runs; the page itself outside of events."""
    return CALLER.get()


def as_visitor(function: Callable) -> Callable:
    """`function` for an event of Gradio's queue; while it runs `visitor_of_event` is the caller."""

    def call(request: gr.Request, *given: Any) -> Any:
        CALLER.set(visitor_of(request))
        return function(*given)

    def steps(request: gr.Request, *given: Any) -> Iterator[Any]:
        visitor = visitor_of(request)
        with closing(function(*given)) as each:
            while True:
                CALLER.set(visitor)  # each step may run in another thread
                try:
                    value = next(each)
                except StopIteration:
                    return
                yield value

    seen = steps if isgeneratorfunction(function) else call
    origin = function.func if isinstance(function, partial) else function
    for name in ("__module__", "__name__", "__qualname__"):  # by which Gradio lists events
        setattr(seen, name, getattr(origin, name))
    return seen
