"""Spot the trained one: two hidden stages of the model, a guess, and what was measured.

`layout.py` places the components, `callbacks.py` says what happens, and this module says when.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from panels.challenges.language import lead
from panels.challenges.reload import keep, read_former
from panels.challenges.spot import callbacks
from panels.challenges.spot.callbacks import Spot
from panels.challenges.spot.layout import FORMER, NAME, lay_out
from panels.challenges.spot.recorded import pairs_of
from panels.challenges.spot.stages import stages_of
from panels.haggle.screen import Updates
from panels.results.models import FILE as COMPARISON
from panels.site.visitor import as_visitor, visitor_of
from panels.ui.look import QUEUED, QUIET
from panels.ui.provenance import load_or_say
from panels.ui.wiring import event_value, named, sent_number
from sauda.experiments.comparison import OURS

__all__ = ["NAME", "build"]


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    comparison, missing = load_or_say(COMPARISON)
    if comparison is None:  # which stages there are stands there
        gr.HTML(missing)
        return
    stages = stages_of(comparison)
    pairs = pairs_of(stages.untrained, OURS)
    page = lay_out(bool(pairs))
    spot = Spot(page, stages, pairs)
    _wire(tab, spot, language)


def _wire(tab: gr.Tab, spot: Spot, language: gr.Radio) -> None:
    page, shown = spot.page, spot.page.of_duel
    own = [language, page.generation, page.duel]

    def spoken(callback: Callable) -> Callable:
        """`callback` of the part in the visitor's language, the first value of each event."""

        def called(chosen: str, *values: Any) -> Updates:
            return callback(replace(spot, language=chosen), *values)

        return named(called, callback)

    def opened(request: gr.Request, chosen: str, *values: Any) -> Updates:
        shown = callbacks.opened(replace(spot, language=chosen), *values)
        return shown | {page.session: visitor_of(request).session}

    starts = [tab.select, language.change]  # a language that the browser kept arrives late
    opening = gr.on(
        starts, named(opened, callbacks.opened), [*own, page.kept, page.session],
        [*shown, page.session], js=read_former(FORMER), trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    gr.on(
        starts, spoken(callbacks.words), language, page.with_words, trigger_mode="always_last",
        **QUIET,
    )  # fmt: skip
    keep(FORMER, page.session, page.price, opening)
    lead(page.language, language)
    page.recorded.click(spoken(callbacks.deal_recorded), own, shown, **QUIET)
    page.live.click(spoken(callbacks.deal_live), own, shown, **QUIET)

    def ask(chosen: str, *values: Any) -> Iterator[Updates]:  # Gradio streams generators alone
        yield from callbacks.ask(replace(spot, language=chosen), *values)

    gr.on(
        [page.price.submit, page.ask.click],
        named(as_visitor(ask), callbacks.ask),
        [language, page.generation, page.price, page.duel],
        shown,
        **QUEUED,
        concurrency_id="spot",
        concurrency_limit=2,
    )

    def press(event: gr.EventData, chosen: str, duel: Any, kept: Any) -> Updates:
        here = replace(spot, language=chosen)
        if event_value(event, "press") == "more":
            return callbacks.show_more(here, duel)
        return callbacks.guess(here, sent_number(event, "number"), duel, kept)

    page.moves.click(
        named(press, callbacks.guess), [language, page.duel, page.kept], shown, **QUIET
    )
