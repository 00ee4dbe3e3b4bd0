"""A visitor's state in the Haggle tab, and the tab's components, laid out and not yet wired."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import gradio as gr

from env import IllegalAction
from panels.haggle.conversation import SILENT, Chat, Talk, chat_of
from panels.haggle.game_view import HTML
from panels.haggle.opponents import (
    ANY_ITEM,
    SELL,
    SERVED,
    market_choices,
    model_name,
    opponent_choices,
    seat_choices,
)
from panels.haggle.words import ENGLISH, LANGUAGES, Translate, translator
from panels.site.visitor import HOUR, no_longer_here
from panels.ui.wiring import PRESS
from sauda.fairness import PAGE, Visitor
from sauda.llm.backends import THIS_PAGE
from sauda.sessions.bazaar import Game, before_unanswered

PICKS = ("seat", "market", "opponent", "backend", "language")  # fields of a visit, and pickers


# A visitor's state --------------------------------------------------------------------------------


class SessionGeneration:
    """Session generation id; stale streams are discarded.

    Gradio's own cancelling fails on an event that has just ended, and leaves the next one waiting.
    """

    def __init__(self) -> None:
        self.number = 0
        self.place: tuple[str, str] | None = None  # the seat and market last chosen
        self._choices = 0
        self._streams = False  # whether a stream of this generation is under way
        self.was_cut = False  # and since then nobody has drawn the chat anew

    def advance(self) -> int:
        """A new generation, which makes every earlier stream stale."""
        self.was_cut |= self._streams
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
        was_cut, self.was_cut = self.was_cut, False
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


class Request:
    """Asks for a model's move or a review; of all events that see it, one may claim it."""

    numbers = count(1)

    def __init__(self) -> None:
        self.number = next(self.numbers)
        self._unclaimed = threading.Lock()

    def claim(self) -> bool:
        """True the first time, and False ever after."""
        return self._unclaimed.acquire(blocking=False)


@dataclass(frozen=True)
class Visit:
    """A visitor's game, which the session keeps, and what the fields of the page hold beside it."""

    game: Game | None = None
    first_game: Game | None = None  # the game that "What if" went back from
    text: str = ""  # in the message box
    backend: str = THIS_PAGE
    language: str = ENGLISH
    talk: Talk = SILENT  # the small talk of the game
    reply_request: Request | None = None  # for the model's move: asked, and not failed
    review_request: Request | None = None  # where a finished game was shown
    seat: str = SELL
    market: str = ANY_ITEM  # in the seller's seat, the item
    opponent: str = SERVED[0]
    visitor: Visitor = PAGE  # whose turn it is among those who wait for a model
    generation: SessionGeneration = field(default_factory=SessionGeneration, compare=False)

    @property
    def open_game(self) -> Game:
        """The game in which the visitor may move: before a move that the model left unanswered."""
        game = self.kept_game
        return game if self.reply_request else before_unanswered(game)

    @property
    def kept_game(self) -> Game:
        """The game; IllegalAction where the page no longer has it."""
        if self.game is None:
            raise IllegalAction(f"{no_longer_here('this game was')}; press “New game”")
        return self.game

    @property
    def translate(self) -> Translate:
        return translator(self.language)

    @cached_property
    def chat(self) -> Chat:
        """The game's chat in the visitor's language."""
        return chat_of(self.game, self.talk, self.language)

    @property
    def model_name(self) -> str:
        """The short name of the language model across the table."""
        return model_name(self.game.opponent, self.translate)


FIRST = Visit()  # as the page opens


# Layout -------------------------------------------------------------------------------------------


class ChatParts:
    """The chat with what a visitor may say."""

    def lay_out_chat(self, part: str, translate: Translate, height: int = 240) -> None:
        """Place them in the sub-tab called `part`."""
        self.chat = gr.Chatbot(
            height=height, show_label=False, render_markdown=False, latex_delimiters=[], buttons=[],
            layout="bubble", elem_id=f"{part}-chat", placeholder=translate("unpacking"),
        )  # fmt: skip
        with gr.Row(elem_classes="sauda-actions", elem_id=f"{part}-say"):
            self.message = gr.Textbox(
                placeholder=translate("placeholder"), label=translate("price"), lines=1,
                max_lines=1, scale=4, min_width=160, elem_id=f"{part}-price",
            )  # fmt: skip
            self.send = gr.Button(translate("send"), variant="primary", scale=0, min_width=96)
        # What is wrong, the quick moves, what the visitor may do about a reply.
        self.moves = gr.HTML(elem_id=f"{part}-moves", js_on_load=PRESS)


class Layout(ChatParts):
    """Every component that a callback reads or writes."""

    def __init__(self, translate: Translate, backends: Mapping[str, Any]) -> None:
        """Place them; `backends` are the names in the picker of who answers for Sauda.

        The hundreds of items come once the page is open, see `resume.open_pickers`.
        """
        # The heading, and what unfolds the pickers on a phone.
        self.head = gr.HTML(HTML.head(translate, False), elem_id="haggle-head")
        with gr.Row(elem_classes="sauda-actions", elem_id="haggle-pickers"):
            self.seat = gr.Radio(
                seat_choices(translate), value=FIRST.seat, label=translate("seat"), scale=1,
                min_width=180, elem_id="haggle-seat",
            )  # fmt: skip
            self.market = gr.Dropdown(  # in the seller's seat, the item
                market_choices(FIRST.seat)[:1], value=FIRST.market, label=translate("ware"),
                scale=3, min_width=160, elem_id="haggle-market",
            )  # fmt: skip
            self.opponent = gr.Dropdown(
                opponent_choices(FIRST.seat, FIRST.market), value=FIRST.opponent,
                label=translate("buyer"), scale=3, min_width=160, elem_id="haggle-other",
            )  # fmt: skip
            self.new_game = gr.Button(translate("new"), scale=0, min_width=110)
            self.language = gr.Radio(
                LANGUAGES, value=FIRST.language, label=translate("language"), show_label=False,
                container=False, scale=0, min_width=322, elem_id="haggle-language",
            )  # fmt: skip
        with gr.Row(elem_id="haggle-table"):  # on a phone the stylesheet puts the brief first
            with gr.Column(scale=3, min_width=320, elem_id="haggle-talk"):
                self.lay_out_chat("haggle", translate, height=340)
                # The result card, and the way back to an earlier move.
                self.after = gr.HTML(elem_id="haggle-after", js_on_load=PRESS)
                self.review = gr.HTML(elem_id="haggle-review", js_on_load=PRESS)
            with gr.Column(scale=2, min_width=280, elem_id="haggle-side"):
                # The item, the own limit, and who sits across.
                self.brief = gr.HTML(elem_id="haggle-given")
                # The offers, what is heard in the words, the result.
                self.side = gr.HTML(elem_id="haggle-shown", js_on_load=PRESS)
        with gr.Accordion(translate("raw"), open=False) as self.details:
            self.backend = gr.Radio(
                list(backends), value=FIRST.backend, label=translate("backend"),
                elem_id="haggle-backend",
            )  # fmt: skip
            # Whether the models reply, and what the one across wrote.
            self.model = gr.HTML(elem_id="haggle-model", js_on_load=PRESS)
        self.visit = gr.State(FIRST, time_to_live=HOUR)
        # The number of a Request; its change starts the model's reply.
        self.asked = gr.Textbox(visible="hidden", elem_id="haggle-asked")
        self.session = gr.Textbox(visible="hidden")  # its name, which the browser keeps
        self.kept = gr.Textbox(visible="hidden")  # what the browser kept
        self.clock = gr.Timer(1.0)
        # The components that show the game or hold it, all but its review.
        self.of_game = [
            self.visit, self.brief, self.chat, self.moves, self.after, self.side, self.model,
            self.asked,
        ]  # fmt: skip
        # Those whose own words follow the language.
        self.with_words = [
            self.head, self.language, self.seat, self.market, self.opponent, self.new_game,
            self.message, self.send, self.details, self.backend,
        ]  # fmt: skip
        self.picks = [getattr(self, name) for name in PICKS]
