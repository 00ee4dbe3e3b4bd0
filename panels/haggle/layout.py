"""The components of the Haggle tab, laid out and not yet wired."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.haggle.choices import market_choices, opponent_choices, seat_choices
from panels.haggle.opening.kept import FIRST
from panels.haggle.talk.state import SILENT
from panels.haggle.words import LANGUAGES, Translate
from panels.site.sessions import HOUR
from panels.ui.look import heading

TITLE = "Haggle"
FIRST_OPPONENT = FIRST.opponent
QUICK_MOVES = 4
# A button of the review names its move and shows the chat, where the game goes on. The listener
# outlives the HTML that is shown within.
PRESS_TRY = """element.addEventListener("click", event => {
    const button = event.target.closest("button[data-move]");
    if (!button) return;
    trigger("click", {move: Number(button.dataset.move)});
    document.getElementById("haggle-chat").scrollIntoView({block: "nearest"});
});"""
# Awaited, since a browser may ask the visitor first. Without leave the link stays to be copied.
COPY_LINK = """async () => {
    const link = document.querySelector("#haggle-card .sauda-share");
    const copied = await navigator.clipboard?.writeText(link.href).then(() => true, () => false);
    const words = copied ? link.dataset.copied : link.dataset.kept;
    return `<p class="sauda-note" role="status">${words}</p>`;
}"""
SHOW_CHAT = """() => {
    document.getElementById("haggle-chat").scrollIntoView({block: "nearest"});
}"""
Parts = dict[str, Any]  # components by the name of their field in `Layout`


class SessionGeneration:
    """Session generation id; stale streams are discarded.

    Gradio's own cancelling fails on an event that has just ended, and leaves the next one waiting.
    """

    def __init__(self) -> None:
        self.number = 0
        self.place: tuple[str, str] | None = None  # the seat and market last chosen
        self._choices = 0
        self._streams = False  # whether a stream of this generation is under way
        self._was_cut = False

    def advance(self) -> int:
        """A new generation, which makes every earlier stream stale."""
        self._was_cut |= self._streams
        self._streams = False
        self.number += 1
        return self.number

    def begin_stream(self) -> int:
        """A new generation for a stream."""
        self.advance()
        self._streams = True
        return self.number

    def end_stream(self, number: int) -> bool:
        """Whether the stream of that number is not stale; it is no longer under way."""
        if self.number != number:
            return False
        self._streams = False
        return True

    def mend(self) -> bool:
        """Whether a stream was cut since the last call: its last piece may come late."""
        was_cut, self._was_cut = self._was_cut, False
        return was_cut

    def choose(self) -> int:
        """A new generation for a choice whose game is still to come, and the choice's number."""
        self.advance()
        self._choices += 1
        return self._choices

    def settles(self, choice: int) -> bool:
        """Whether the choice of that number is the latest; streams begun since then are stale."""
        if self._choices != choice:
            return False
        self.advance()
        return True


class ReplyRequest:
    """A request for the language model's move; of all events that see it, one may claim it."""

    def __init__(self) -> None:
        self._unclaimed = threading.Lock()

    def claim(self) -> bool:
        """True the first time, and False ever after."""
        return self._unclaimed.acquire(blocking=False)


class ReviewRequest(ReplyRequest):
    """A request for the review of a finished game; it is claimed as a `ReplyRequest` is."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    title: gr.HTML
    choose: gr.HTML  # a phone shows the pickers by it
    language: gr.Radio
    seat: gr.Radio
    market: gr.Dropdown  # in the seller's seat, the item
    opponent: gr.Dropdown
    new_game: gr.Button
    badge: gr.HTML
    brief: gr.HTML
    chat: gr.Chatbot
    message: gr.Textbox
    send: gr.Button
    problem: gr.HTML
    quick_moves: tuple[gr.Button, ...]
    stop: gr.Button
    ask_again: gr.Button
    take_back: gr.Button
    stand_in: gr.Button  # offered where too many visitors wait for the model
    offers: gr.HTML
    tells: gr.HTML
    show_effect: gr.Button
    effect: gr.HTML
    card: gr.Column
    card_text: gr.HTML
    rematch: gr.Button
    same_item: gr.Dropdown  # another opponent, for the same item
    copy_link: gr.Button
    copied: gr.HTML
    result: gr.HTML
    ask_stages: gr.Button
    review: gr.HTML
    what_if: gr.Column
    what_if_heading: gr.HTML
    past_move: gr.Dropdown
    go_back: gr.Button
    comparison: gr.HTML
    details: gr.Accordion
    backend: gr.Radio
    health: gr.HTML
    check_health: gr.Button
    raw_reply: gr.HTML
    game: gr.State
    first_game: gr.State  # the game that "What if" went back from, or None
    talk: gr.State  # the small talk of the game
    reply_request: gr.State  # a ReplyRequest where the language model is to move, or None
    review_request: gr.State  # a ReviewRequest where a finished game was shown, or None
    review_due: gr.State  # set to a ReviewRequest, it starts the event that makes the review
    shown_turns: gr.Number  # turns of the game that this browser shows
    generation: gr.State
    session: gr.Textbox  # the session's name, which the browser keeps over a reload
    kept: gr.Textbox  # what the browser kept
    clock: gr.Timer

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.game, self.first_game, self.talk, self.reply_request, self.shown_turns,
            self.brief, self.chat, self.message, self.problem, *self.quick_moves, self.offers,
            self.card, self.card_text, self.same_item, self.copied, self.result, self.ask_stages,
            self.tells,
            self.badge, self.stop, self.ask_again, self.take_back, self.stand_in, self.raw_reply,
            self.what_if, self.past_move, self.comparison, self.show_effect, self.effect,
            self.review, self.review_request,
        ]  # fmt: skip

    @property
    def with_words(self) -> list[Any]:
        """The components whose own words follow the language."""
        return [
            self.title, self.choose, self.language, self.seat, self.market, self.opponent,
            self.new_game, self.message, self.send, self.stop, self.ask_again, self.take_back,
            self.stand_in, self.what_if_heading, self.go_back, self.details, self.backend,
            self.check_health, self.show_effect, self.rematch, self.same_item, self.copy_link,
            self.ask_stages, self.past_move,
        ]  # fmt: skip

    @property
    def picks(self) -> list[Any]:
        """What the visitor chooses, in the order of `opening.kept.Picks`."""
        return [self.seat, self.market, self.opponent, self.backend, self.language]


def lay_out(translate: Translate, backends: Mapping[str, Any]) -> Layout:
    """Place every component; `backends` are the names in the picker of who answers for Sauda."""
    parts: Parts = {**_head(translate), **_pickers(translate)}
    with gr.Row(elem_id="haggle-table"):  # on a phone the stylesheet puts the brief first
        with gr.Column(scale=3, min_width=320, elem_id="haggle-talk"):
            parts["badge"] = gr.HTML(elem_id="haggle-badge")
            parts |= _talk(translate)
            parts |= _card(translate)
            parts["review"] = gr.HTML(elem_id="haggle-review", js_on_load=PRESS_TRY)
        with gr.Column(scale=2, min_width=280, elem_id="haggle-side"):
            parts["brief"] = gr.HTML(elem_id="haggle-brief")
            parts |= _offers_and_result(translate)
    parts |= _what_if(translate)
    parts |= _details(translate, backends)
    return Layout(**parts, **_session())


def choices_fold(translate: Translate, is_open: bool = False) -> Markup:
    """What a phone unfolds to show the pickers, by the stylesheet; wider screens always do."""
    return Markup('<details class="sauda-choose"{}><summary>{}</summary></details>').format(
        Markup(" open") if is_open else "", translate("choose")
    )


def _head(translate: Translate) -> Parts:
    title = gr.HTML(heading(TITLE, translate("lead")), elem_id="haggle-title")
    choose = gr.HTML(choices_fold(translate), elem_id="haggle-choose")
    return {"title": title, "choose": choose}


def _pickers(translate: Translate) -> Parts:
    with gr.Row(elem_classes="sauda-actions", elem_id="haggle-pickers"):
        seat = gr.Radio(
            seat_choices(translate), value=FIRST.seat, label=translate("seat"), scale=1,
            min_width=180, elem_id="haggle-seat",
        )  # fmt: skip
        market = gr.Dropdown(
            market_choices(FIRST.seat), value=FIRST.market, label=translate("ware"), scale=3,
            min_width=160, elem_id="haggle-market",
        )  # fmt: skip
        opponent = gr.Dropdown(
            opponent_choices(FIRST.seat, FIRST.market), value=FIRST_OPPONENT,
            label=translate("buyer"), scale=3, min_width=160, elem_id="haggle-other",
        )  # fmt: skip
        new_game = gr.Button(translate("new"), variant="secondary", scale=0, min_width=110)
        language = gr.Radio(
            LANGUAGES, value=FIRST.language, label=translate("language"), show_label=False,
            container=False, scale=0, min_width=322, elem_id="haggle-language",
        )  # fmt: skip
    return {
        "seat": seat, "market": market, "opponent": opponent, "new_game": new_game,
        "language": language,
    }  # fmt: skip


def _talk(translate: Translate) -> Parts:
    chat = gr.Chatbot(
        height=340, show_label=False, render_markdown=False, latex_delimiters=[], buttons=[],
        layout="bubble", elem_id="haggle-chat", placeholder=translate("unpacking"),
    )  # fmt: skip
    with gr.Row(elem_classes="sauda-actions", elem_id="haggle-say"):
        message = gr.Textbox(
            placeholder=translate("placeholder"), label=translate("price"), lines=1, max_lines=1,
            scale=4, min_width=160, elem_id="haggle-price",
        )  # fmt: skip
        send = gr.Button(translate("send"), variant="primary", scale=0, min_width=96)
    problem = gr.HTML(elem_id="haggle-problem")
    with gr.Row(elem_classes="sauda-quick", elem_id="haggle-quick"):
        quick_moves = tuple(gr.Button("…", size="sm", min_width=90) for _ in range(QUICK_MOVES))
    with gr.Row(elem_classes="sauda-quick"):
        stop, ask_again, take_back, stand_in = (
            gr.Button(translate(key), visible=False, min_width=90)
            for key in ("stop", "retry", "undo", "stand_in")
        )
    return {
        "chat": chat, "message": message, "send": send, "problem": problem,
        "quick_moves": quick_moves, "stop": stop, "ask_again": ask_again, "take_back": take_back,
        "stand_in": stand_in,
    }  # fmt: skip


def _card(translate: Translate) -> Parts:
    """The result in the place of the input, with what a visitor may do next."""
    with gr.Column(visible=False, elem_id="haggle-card", elem_classes="sauda-card") as card:
        card_text = gr.HTML()
        with gr.Row(elem_classes="sauda-actions"):
            rematch = gr.Button(translate("rematch"), variant="primary", scale=0, min_width=96)
            copy_link = gr.Button(translate("copy_link"), scale=0, min_width=120)
        same_item = gr.Dropdown(
            [], label=translate("same_item_against"), filterable=False, elem_id="haggle-against"
        )
        copied = gr.HTML(elem_id="haggle-copied")
    return {
        "card": card, "card_text": card_text, "rematch": rematch, "copy_link": copy_link,
        "same_item": same_item, "copied": copied,
    }  # fmt: skip


def _offers_and_result(translate: Translate) -> Parts:
    return {
        "offers": gr.HTML(elem_id="haggle-chart"),
        "tells": gr.HTML(elem_id="haggle-reads"),
        "show_effect": gr.Button(
            translate("effect"), size="md", visible=False, elem_id="haggle-why"
        ),
        "effect": gr.HTML(elem_id="haggle-changed"),
        "result": gr.HTML(elem_id="haggle-result"),
        "ask_stages": gr.Button(
            translate("board_ask"), size="md", visible=False, elem_id="haggle-stages"
        ),
    }


def _what_if(translate: Translate) -> Parts:
    with gr.Column(visible=False, elem_classes="sauda-whatif") as what_if:
        lead = gr.HTML(heading(translate("whatif"), translate("whatif_lead")))
        with gr.Row(elem_classes="sauda-actions"):
            past_move = gr.Dropdown(
                [], label=translate("pick_move"), show_label=False, scale=3, elem_id="haggle-move"
            )
            go_back = gr.Button(translate("whatif_go"), scale=0, min_width=120)
    comparison = gr.HTML(elem_id="haggle-pair")
    return {
        "what_if": what_if, "what_if_heading": lead, "past_move": past_move, "go_back": go_back,
        "comparison": comparison,
    }  # fmt: skip


def _details(translate: Translate, backends: Mapping[str, Any]) -> Parts:
    with gr.Accordion(translate("raw"), open=False) as details:
        backend = gr.Radio(
            list(backends), value=FIRST.backend, label=translate("backend"),
            elem_id="haggle-backend",
        )  # fmt: skip
        health = gr.HTML(elem_id="haggle-health")
        check_health = gr.Button(translate("check"), scale=0, min_width=120)
        raw_reply = gr.HTML(elem_id="haggle-raw")
    return {
        "details": details, "backend": backend, "health": health, "check_health": check_health,
        "raw_reply": raw_reply,
    }  # fmt: skip


def _session() -> Parts:
    return {
        "game": gr.State(None, time_to_live=HOUR),
        "first_game": gr.State(None, time_to_live=HOUR),
        "talk": gr.State(SILENT, time_to_live=HOUR),
        "reply_request": gr.State(None, time_to_live=HOUR),
        "review_request": gr.State(None, time_to_live=HOUR),
        "review_due": gr.State(None, time_to_live=HOUR),
        "generation": gr.State(SessionGeneration(), time_to_live=HOUR),
        "shown_turns": gr.Number(0, visible="hidden"),
        "session": gr.Textbox(visible="hidden"),
        "kept": gr.Textbox(visible="hidden"),
        "clock": gr.Timer(1.0),
    }
