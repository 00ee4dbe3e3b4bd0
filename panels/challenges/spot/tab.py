"""Spot the trained one: two hidden stages of the model, a guess, and what was measured.

`layout.py` places the components, `callbacks.py` says what happens, and this module says when.
"""

from collections.abc import Iterator
from typing import Any

import gradio as gr

from panels.challenges.spot import callbacks
from panels.challenges.spot.callbacks import Spot
from panels.challenges.spot.layout import NAME, TITLE, lay_out
from panels.challenges.spot.stages import pairs_of, stages_of
from panels.haggle.screen import Updates
from panels.results.model_comparison import FILE as COMPARISON
from panels.transcripts.before_after import FILE as RECORD
from panels.ui.look import QUEUED, QUIET
from panels.ui.provenance import load_or_say
from panels.ui.wiring import bound, named

__all__ = ["NAME", "TITLE", "build"]


def build(tab: gr.Tab) -> None:
    """Lay out the part and wire it."""
    comparison, missing = load_or_say(COMPARISON)
    if comparison is None:  # which stages there are stands there
        gr.HTML(missing)
        return
    record, _ = load_or_say(RECORD)
    pairs = pairs_of(record)
    page = lay_out(bool(pairs))
    spot = Spot(page, stages_of(comparison), pairs)
    _wire(tab, spot)


def _wire(tab: gr.Tab, spot: Spot) -> None:
    page, shown = spot.page, spot.page.of_duel
    own = [page.generation, page.duel]
    opened = bound(callbacks.opened, spot)
    tab.select(opened, [*own, page.kept], shown, **QUIET)
    page.recorded.click(bound(callbacks.deal_recorded, spot), own, shown, **QUIET)
    page.live.click(bound(callbacks.deal_live, spot), own, shown, **QUIET)
    page.more.click(bound(callbacks.show_more, spot), page.duel, shown, **QUIET)

    def ask(*values: Any) -> Iterator[Updates]:  # Gradio streams generator functions alone
        yield from callbacks.ask(spot, *values)

    gr.on(
        [page.price.submit, page.ask.click],
        named(ask, callbacks.ask),
        [page.generation, page.price, page.duel],
        shown,
        **QUEUED,
        concurrency_id="spot",
        concurrency_limit=2,
    )
    for number, button in enumerate(page.guesses):
        press = bound(callbacks.guess, spot, number)
        button.click(press, [page.duel, page.kept], shown, **QUIET)
