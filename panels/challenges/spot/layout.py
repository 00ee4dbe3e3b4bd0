"""The components of “Spot the trained one”, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from panels.challenges.language import lay_out_language
from panels.haggle.layout import SessionGeneration
from panels.haggle.words import ENGLISH, translator
from panels.site.sessions import HOUR
from panels.ui.look import heading
from panels.ui.wiring import PRESS

NAME = "spot"
FORMER = "sauda-spot-tab"  # where a tab keeps the name of its session
SIDES = ("A", "B")
# Where a browser keeps its tally. The key is no secret: it only has to stay the same.
KEPT, KEPT_KEY = "sauda-spot", "spot-the-trained-one"


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    title: gr.HTML
    language: gr.Radio
    recorded: gr.Button
    live: gr.Button
    about: gr.HTML  # the item, and where the answers come from
    columns: gr.HTML  # both buyers side by side
    price: gr.Textbox
    ask: gr.Button
    problem: gr.HTML
    moves: gr.HTML  # the next exchange of a recorded pair, and the guesses
    verdict: gr.HTML
    tally: gr.HTML
    duel: gr.State
    generation: gr.State
    session: gr.Textbox  # the session's name, which the tab keeps over a reload
    kept: gr.BrowserState  # the tally: {"right": …, "guessed": …}

    @property
    def with_words(self) -> list[Any]:
        """The components whose own words follow the language."""
        return [self.title, self.language, self.recorded, self.live, self.ask, self.price]

    @property
    def of_duel(self) -> list[Any]:
        """The components that show the duel or hold it."""
        return [
            self.about, self.columns, self.price, self.problem, self.moves, self.verdict,
            self.tally, self.duel, self.kept,
        ]  # fmt: skip


def lay_out(has_recorded: bool) -> Layout:
    """Place every component; without recorded games there is no button for them."""
    translate = translator(ENGLISH)
    with gr.Row(elem_classes="sauda-head", elem_id="spot-head"):
        title = gr.HTML(heading(translate("tab_spot"), translate("spot_lead")))
        language = lay_out_language(NAME)
    about = gr.HTML(elem_id="spot-about")
    columns = gr.HTML(elem_id="spot-buyers")
    with gr.Row(elem_classes="sauda-actions", elem_id="spot-say"):
        price = gr.Textbox(
            label=translate("spot_price"), placeholder=translate("spot_placeholder"),
            lines=1, max_lines=1, scale=4, min_width=160, elem_id="spot-price",
        )  # fmt: skip
        ask = gr.Button(translate("spot_ask"), variant="primary", scale=0, min_width=110)
    problem = gr.HTML(elem_id="spot-problem")
    moves = gr.HTML(elem_id="spot-moves", js_on_load=PRESS)
    verdict, tally = gr.HTML(elem_id="spot-verdict"), gr.HTML(elem_id="spot-tally")
    with gr.Row(elem_classes="sauda-actions"):
        recorded = gr.Button(translate("spot_recorded"), visible=has_recorded, min_width=180)
        live = gr.Button(translate("spot_live"), min_width=240)
    return Layout(
        title, language, recorded, live, about, columns, price, ask, problem, moves, verdict,
        tally,
        duel=gr.State(None, time_to_live=HOUR),
        generation=gr.State(SessionGeneration(), time_to_live=HOUR),
        session=gr.Textbox(visible="hidden"),
        kept=gr.BrowserState({}, storage_key=KEPT, secret=KEPT_KEY),
    )  # fmt: skip
