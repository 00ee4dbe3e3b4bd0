"""Helpers that connect callbacks to Gradio events."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr


def bound(callback: Callable, *values: Any) -> Callable:
    """`callback` with its first arguments fixed and its name kept, by which Gradio lists events."""
    return named(partial(callback, *values), callback)


def named(function: Callable, origin: Callable) -> Callable:
    """`function` under the name and the module of `origin`."""
    function.__name__, function.__module__ = origin.__name__, origin.__module__
    return function


def event_value(event: gr.EventData, name: str) -> Any:
    """What the browser sent with an event under `name`; None where it sent no such thing.

    Any client can send anything, so the value is of no sure type.
    """
    try:
        return getattr(event, name)
    except (AttributeError, TypeError):
        return None
