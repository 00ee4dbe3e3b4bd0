"""The components of the bargain of the day, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from panels.challenges.language import lay_out_language
from panels.haggle.layout import QUICK_MOVES
from panels.haggle.talk.state import SILENT
from panels.haggle.words import ENGLISH, Translate, translator
from panels.site.sessions import HOUR
from panels.ui.look import heading

NAME = "daily"
FORMER = "sauda-daily-tab"  # where a tab keeps the name of its session
# Where a browser keeps its own games. The key is no secret: it only has to stay the same.
KEPT, KEPT_KEY = "sauda-daily", "bargain-of-the-day"
VISITOR = "visitor"  # names this browser where its games count among people's
Parts = dict[str, Any]  # components by the name of their field in `Layout`


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    title: gr.HTML
    language: gr.Radio
    head: gr.HTML  # which day's bargain this is
    notice: gr.HTML  # what is wrong with the address
    friend: gr.HTML  # the game that a link holds
    watch: gr.Button  # asks for that game before the own one
    brief: gr.HTML
    chat: gr.Chatbot
    saying: gr.Row  # of the box and its button, until the game is over
    message: gr.Textbox
    send: gr.Button
    problem: gr.HTML
    quick: gr.Row  # of the quick moves, until the game is over
    quick_moves: tuple[gr.Button, ...]
    offers: gr.HTML
    result: gr.HTML
    players: gr.HTML  # the table of all who played this seed
    ask_sauda: gr.Button  # offered where the model had not loaded
    people: gr.HTML  # the visitor's place among the people of the day
    counted: gr.Checkbox  # whether the visitor's games count among people's
    shared: gr.Column
    share_title: gr.HTML
    text: gr.Textbox
    picture: gr.HTML
    download: gr.DownloadButton
    game: gr.State
    talk: gr.State
    bargain: gr.State  # a Bargain, or None before the first visit
    shown_turns: gr.Number  # turns of the game that this browser shows
    session: gr.Textbox  # the session's name, which the tab keeps over a reload
    kept: gr.BrowserState  # own games, day -> code, and VISITOR -> a token

    @property
    def of_players(self) -> list[Any]:
        """The components that Sauda's own game changes."""
        return [self.players, self.ask_sauda, self.people]

    @property
    def with_words(self) -> list[Any]:
        """The components that show the game, and those whose own words follow the language."""
        return [
            *self.of_game, self.title, self.language, self.send, self.share_title, self.session,
            self.counted,
        ]  # fmt: skip

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.head, self.notice, self.friend, self.watch, self.brief, self.chat, self.saying,
            self.message, self.problem, self.quick, *self.quick_moves, self.offers, self.result,
            *self.of_players, self.shared, self.text, self.picture, self.download, self.game,
            self.talk, self.bargain, self.shown_turns, self.kept,
        ]  # fmt: skip


def lay_out() -> Layout:
    """Place every component."""
    translate = translator(ENGLISH)
    with gr.Row(elem_classes="sauda-head"):
        title = gr.HTML(heading(translate("tab_daily"), translate("daily_lead")))
        parts: Parts = {"title": title, "language": lay_out_language(NAME)}
    parts |= {"head": gr.HTML(), "notice": gr.HTML(elem_id="daily-notice")}
    parts["friend"] = gr.HTML(elem_id="daily-friend")
    parts["watch"] = gr.Button(translate("daily_watch"), visible=False, scale=0, min_width=140)
    with gr.Row():
        with gr.Column(scale=2, min_width=240):
            parts["brief"] = gr.HTML(elem_id="daily-brief")
        with gr.Column(scale=4, min_width=320):
            parts |= lay_out_talk(NAME, translate)
        with gr.Column(scale=4, min_width=320):
            parts["offers"] = gr.HTML(elem_id="daily-chart")
    parts["result"] = gr.HTML(elem_id="daily-result")
    parts["players"] = gr.HTML(elem_id="daily-players")
    parts["ask_sauda"] = gr.Button(
        translate("daily_ask_sauda"), visible=False, scale=0, min_width=160
    )
    parts["people"] = gr.HTML(elem_id="daily-people")
    parts["counted"] = gr.Checkbox(label=translate("daily_count"), elem_id="daily-counted")
    return Layout(**parts, **_share(translate), **_session())


def lay_out_talk(part: str, translate: Translate) -> Parts:
    """Place the chat with what a visitor may say, in the sub-tab called `part`."""
    chat = gr.Chatbot(
        height=240, show_label=False, render_markdown=False, latex_delimiters=[], buttons=[],
        layout="bubble", elem_id=f"{part}-chat", placeholder=translate("unpacking"),
    )  # fmt: skip
    with gr.Row(elem_classes="sauda-actions") as saying:
        message = gr.Textbox(
            placeholder=translate("placeholder"), label=translate("price"), lines=1, max_lines=1,
            scale=4, min_width=160, elem_id=f"{part}-price",
        )  # fmt: skip
        send = gr.Button(translate("send"), variant="primary", scale=0, min_width=96)
    problem = gr.HTML(elem_id=f"{part}-problem")
    with gr.Row(elem_classes="sauda-quick") as quick:
        quick_moves = tuple(gr.Button("…", size="sm", min_width=90) for _ in range(QUICK_MOVES))
    return {
        "chat": chat, "saying": saying, "message": message, "send": send, "problem": problem,
        "quick": quick, "quick_moves": quick_moves,
    }  # fmt: skip


def _share(translate: Translate) -> Parts:
    with gr.Column(visible=False, elem_classes="sauda-share") as shared:
        title = gr.HTML(heading(translate("daily_share"), translate("daily_share_lead")))
        with gr.Row():
            with gr.Column(min_width=320):
                text = gr.Textbox(
                    label=translate("daily_text"), lines=5, interactive=False, buttons=["copy"],
                    elem_id="daily-share",
                )  # fmt: skip
                download = gr.DownloadButton(translate("daily_picture"), size="sm", scale=0)
            with gr.Column(min_width=320):
                picture = gr.HTML(elem_id="daily-picture")
    return {
        "shared": shared, "share_title": title, "text": text, "picture": picture,
        "download": download,
    }  # fmt: skip


def _session() -> Parts:
    return {
        "game": gr.State(None, time_to_live=HOUR),
        "talk": gr.State(SILENT, time_to_live=HOUR),
        "bargain": gr.State(None, time_to_live=HOUR),
        "shown_turns": gr.Number(0, visible="hidden"),
        "session": gr.Textbox(visible="hidden"),
        "kept": gr.BrowserState({}, storage_key=KEPT, secret=KEPT_KEY),
    }
