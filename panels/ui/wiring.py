"""Helpers that connect callbacks to Gradio events."""

from collections.abc import Callable
from functools import partial
from typing import Any


def bound(callback: Callable, *values: Any) -> Callable:
    """`callback` with its first arguments fixed and its name kept, by which Gradio lists events."""
    return named(partial(callback, *values), callback)


def named(function: Callable, origin: Callable) -> Callable:
    """`function` under the name and the module of `origin`."""
    function.__name__, function.__module__ = origin.__name__, origin.__module__
    return function
