"""What holds for the page as a whole, and what it shows when it opens."""

import html
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gradio as gr
import pytest

from app import build_app
from tests.support.golden import assert_golden, without_numbers

SHOWN = 600  # characters of a text that are compared


@pytest.fixture(scope="module")
def page() -> gr.Blocks:
    return build_app()


def test_a_value_of_former_choices_meets_the_events_own_sentence(page):
    """Gradio answers it with a bare 500 unless the event leaves the value unchecked."""
    changing = {"haggle-market", "haggle-other", "haggle-move", "arena-kind", "arena-choice",
                "leaderboard-entry"}  # fmt: skip
    seen = set()
    for event in page.fns.values():
        pickers = {part.elem_id for part in event.inputs} & changing
        assert not (pickers and event.preprocess)
        seen |= pickers
    assert seen == changing


def test_hidden_progress_is_shown_on_no_component(page):
    """Gradio's browser side would find each of them by a walk through the page at every event."""
    events = [event for event in page.fns.values() if event.targets]
    hidden = [event for event in events if event.show_progress == "hidden"]
    assert hidden
    assert [event.api_name for event in hidden if event.show_progress_on != ()] == []


def test_every_listener_calls_the_function_that_it_did(page):
    assert_golden("listeners.txt", "\n".join(sorted(listeners(page))) + "\n")


def test_the_page_opens_with_the_same_texts_and_figures(page):
    assert_golden("opening.txt", "\n".join([*texts(page), *figures(page)]) + "\n")


def listeners(page: gr.Blocks) -> Iterator[str]:
    """One line per listener: the component, the event and the function or script that answers."""
    for event in page.fns.values():
        answers = name_of(event.fn) if event.fn else "a script"
        for component, trigger in event.targets:
            yield f"{title(page.blocks.get(component))} {trigger}: {answers}"


def name_of(function: Callable) -> str:
    while isinstance(function, partial):
        function = function.func
    return f"{function.__module__}.{function.__qualname__}"


def title(part: gr.blocks.Block | None) -> str:
    """The name by which a reader finds a component in the code."""
    if part is None:
        return "an event before"
    said = getattr(part, "elem_id", None) or getattr(part, "label", None)
    if said is None and isinstance(part, gr.Button):
        said = part.value
    return f"{type(part).__name__} {said or ''}".strip()


def texts(page: gr.Blocks) -> Iterator[str]:
    """The text of each HTML component, without tags."""
    for part in page.blocks.values():
        if isinstance(part, gr.HTML) and part.value:
            text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part.value)).split())
            yield f"{part.elem_id or 'HTML'}: {without_numbers(text)[:SHOWN]}"


def figures(page: gr.Blocks) -> Iterator[str]:
    """One line per trace of each figure: its kind, its name, and which axes hold numbers."""
    for part in page.blocks.values():
        if isinstance(part, gr.Plot) and part.value:
            for trace in json.loads(part.value["plot"])["data"]:
                axes = ", ".join(f"{axis} {summary(trace.get(axis))}" for axis in "xyz")
                yield without_numbers(
                    f"{part.elem_id}: {trace['type']} {trace.get('name')}: {axes}"
                )


def summary(values: Any) -> str:
    """ "numbers", the texts themselves, or "nothing"."""
    if not values:
        return "nothing"
    if isinstance(values, dict):  # as plotly writes an array of numbers
        return "numbers"
    texts = [value for value in values if isinstance(value, str)]
    return " ".join(texts)[:SHOWN] or "numbers"
