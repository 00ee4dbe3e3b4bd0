"""The components of the bargain of the day, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from panels.challenges.language import lay_out_language
from panels.haggle.layout import lay_out_talk
from panels.haggle.words import ENGLISH, translator
from panels.site.sessions import HOUR
from panels.ui.look import heading
from panels.ui.wiring import PRESS

NAME = "daily"
FORMER = "sauda-daily-tab"  # where a tab keeps the name of its session
# Where a browser keeps its own games. The key is no secret: it only has to stay the same.
KEPT, KEPT_KEY = "sauda-daily", "bargain-of-the-day"
VISITOR = "visitor"  # names this browser where its games count among people's


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    title: gr.HTML
    language: gr.Radio
    head: gr.HTML  # which day's bargain this is, what is wrong with the address, a friend's game
    brief: gr.HTML
    chat: gr.Chatbot
    message: gr.Textbox
    send: gr.Button
    moves: gr.HTML  # what is wrong, and the quick moves
    offers: gr.HTML
    result: gr.HTML  # and what can be shared
    players: gr.HTML  # the table of all who played this seed, and the place among people
    counted: gr.Checkbox  # whether the visitor's games count among people's
    visit: gr.State  # a DailyVisit
    session: gr.Textbox  # the session's name, which the tab keeps over a reload
    kept: gr.BrowserState  # own games, day -> code, and VISITOR -> a token

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.visit, self.kept, self.head, self.brief, self.chat, self.moves, self.offers,
            self.result, self.players,
        ]  # fmt: skip

    @property
    def with_words(self) -> list[Any]:
        """The components whose own words follow the language."""
        return [self.title, self.language, self.message, self.send, self.counted]


def lay_out() -> Layout:
    """Place every component."""
    translate = translator(ENGLISH)
    with gr.Row(elem_classes="sauda-head"):
        title = gr.HTML(heading(translate("tab_daily"), translate("daily_lead")))
        language = lay_out_language(NAME)
    head = gr.HTML(elem_id="daily-head", js_on_load=PRESS)
    with gr.Row():
        with gr.Column(scale=2, min_width=240):
            brief = gr.HTML(elem_id="daily-brief")
        with gr.Column(scale=4, min_width=320):
            talk = lay_out_talk(NAME, translate)
        with gr.Column(scale=4, min_width=320):
            offers = gr.HTML(elem_id="daily-chart")
    result = gr.HTML(elem_id="daily-result", js_on_load=PRESS)
    players = gr.HTML(elem_id="daily-players", js_on_load=PRESS)
    counted = gr.Checkbox(label=translate("daily_count"), elem_id="daily-counted")
    return Layout(
        title, language, head, brief, **talk, offers=offers, result=result, players=players,
        counted=counted, visit=gr.State(None, time_to_live=HOUR),
        session=gr.Textbox(visible="hidden"),
        kept=gr.BrowserState({}, storage_key=KEPT, secret=KEPT_KEY),
    )  # fmt: skip
