"""AI labs share scarce GPUs: the visitor plays `lab_0`, or lets a script or a model play it."""

from collections.abc import Callable, Sequence
from dataclasses import fields

import gradio as gr

from panels.gpu_arena import callbacks
from panels.gpu_arena.callbacks import PRESSES
from panels.gpu_arena.screen import REGIONS, TITLE, Layout
from panels.gpu_arena.visit import AT_ONCE, IN_TURN, SCRIPT, Sent, Visit, read
from panels.site.sessions import HOUR
from panels.site.visitor import CALLER, visitor_of
from panels.ui.look import QUEUED, QUIET_UNCHECKED
from panels.ui.wiring import Updates, event_value, named

__all__ = ["TITLE", "build"]

HEAVY = {**QUEUED, "preprocess": False, "concurrency_id": "arena", "concurrency_limit": 4}


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    page = lay_out()
    rest = [name for name in PRESSES if name not in (*AT_ONCE, *IN_TURN)]
    for trigger, names, how in (
        (page["top"].input, AT_ONCE, QUIET_UNCHECKED | {"trigger_mode": "multiple"}),
        (page["top"].click, rest, HEAVY | {"trigger_mode": "multiple"}),
        (page["top"].submit, IN_TURN, HEAVY),
    ):
        trigger(_answer(page, names), page["visit"], list(page.values()), **how)


def lay_out() -> Layout:
    """Place every component; the script of the first one asks for what they show."""

    def place(*names: str) -> Layout:
        return {name: gr.HTML(elem_id=f"arena-{name}", js_on_load=None) for name in names}

    with gr.Column(elem_id="arena"):
        empty = REGIONS["top"](Visit(None))
        top = gr.HTML(empty, elem_id="arena-top", js_on_load=SCRIPT)
        page = {"visit": gr.State(None, time_to_live=HOUR), "top": top, **place("end")}
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_id="arena-board"):
                page |= place("own", "others")
            with gr.Column(scale=5, min_width=320):
                page |= place("table", "floor")
        return page | place("foot", "log")


def _answer(page: Layout, names: Sequence[str]) -> Callable:
    """The answer to those presses that have one of `names`; any client can send anything."""

    def answer(request: gr.Request, event: gr.EventData, visit: Visit | None) -> Updates:
        CALLER.set(visitor_of(request))
        name = event_value(event, "press")
        if name not in names:
            return {page["visit"]: gr.skip()}
        sent = {field.name: event_value(event, field.name) for field in fields(Sent)}
        typed = event_value(event, "fields")
        return callbacks.answer(page, visit, name, read(Sent, sent), typed)

    return named(answer, callbacks.answer)
