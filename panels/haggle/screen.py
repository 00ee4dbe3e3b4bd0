"""A visitor's game as a value, the tab's components, and what they show of the game."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.haggle import game_view, opponents
from panels.haggle import result as results
from panels.haggle.conversation import SILENT, Chat, Talk, chat_of
from panels.haggle.game_view import HTML, sells
from panels.haggle.result import Board
from panels.haggle.review import is_reviewed
from panels.haggle.words import ENGLISH, LANGUAGES, Translate, translate_error, translator
from panels.site.sessions import HOUR, no_longer_here
from panels.ui.components.moves import Moves, button, move_row
from panels.ui.look import note, trouble
from panels.ui.wiring import Updates, region
from sauda.fairness import PAGE, Visitor
from sauda.llm.backends import THIS_PAGE, in_page
from sauda.llm.server import Failed, ModelWorker, Ready
from sauda.players import SERVED
from sauda.sessions.bazaar import Game, before_unanswered, moves_of
from sauda.sessions.review import Review

PICKS = ("seat", "market", "opponent", "backend", "language")  # fields of a visit, and pickers
READY_SOON = 0.5  # seconds that a new game waits for a model that has nearly loaded


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
        self.seated: Visit | None = None  # as a model took its seat last
        self.reviewed: Review | None = None  # of the game that ended last

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
    """Asks for a model's move, a review or a seat; of all events that see it, one may claim it."""

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
    backend: str = THIS_PAGE
    language: str = ENGLISH
    talk: Talk = SILENT  # the small talk of the game
    reply_request: Request | None = None  # for the model's move: asked, and not failed
    review_request: Request | None = None  # where a finished game was shown
    seat_request: Request | None = None  # of a model that loads: a first move makes it void
    seat: str = opponents.SELL
    market: str = opponents.ANY_ITEM  # in the seller's seat, the item
    opponent: str = opponents.buyer_models()[0]
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
        return opponents.model_name(self.game.opponent, self.translate)


FIRST = Visit()  # as the page opens


# Layout -------------------------------------------------------------------------------------------


class ChatParts:
    """The chat with what a visitor may say."""

    def lay_out_chat(self, part: str, translate: Translate, height: int = 240) -> None:
        """Place them in the sub-tab called `part`."""
        self.part = part
        self.chat = gr.Chatbot(
            height=height, show_label=False, render_markdown=False, latex_delimiters=[], buttons=[],
            layout="bubble", elem_id=f"{part}-chat", placeholder=translate("unpacking"),
        )  # fmt: skip
        with gr.Row(elem_classes="sauda-actions", elem_id=f"{part}-say"):
            self.message = gr.Textbox(
                placeholder=translate("placeholder"), label=translate("price"), show_label=False,
                lines=1, max_lines=1, scale=4, min_width=160, elem_id=f"{part}-price",
            )  # fmt: skip
            self.send = gr.Button(translate("send"), variant="primary", scale=0, min_width=96)
        # What is wrong, the quick moves, what the visitor may do about a reply.
        self.moves = Moves(elem_id=f"{part}-moves")


class Layout(ChatParts):
    """Every component that a callback reads or writes."""

    def __init__(self, translate: Translate, backends: Mapping[str, Any]) -> None:
        """Place them; `backends` are the names in the picker of who answers for Sauda.

        The hundreds of items come once the page is open, see `tab.open_pickers`.
        """
        with gr.Row(elem_id="haggle-table"):  # on a phone the stylesheet puts the brief first
            with gr.Column(scale=3, min_width=320, elem_id="haggle-talk"):
                self.lay_out_chat("haggle", translate, height=340)
                # The result card, and both games once there is a branch.
                self.after = Moves(elem_id="haggle-after")
                self.review = Moves(elem_id="haggle-review")
            with gr.Column(scale=2, min_width=280, elem_id="haggle-side"):
                # The item, the own limit, and who sits across.
                self.brief = gr.HTML(elem_id="haggle-given")
                self._lay_out_pickers(translate)
                # The offers, what is heard in the words, the result.
                self.side = Moves(elem_id="haggle-shown")
        with gr.Accordion(translate("raw"), open=False) as self.details:
            self.backend = gr.Radio(
                list(backends), value=FIRST.backend, label=translate("backend"),
                elem_id="haggle-backend",
            )  # fmt: skip
            # Whether the models reply, and what the one across wrote.
            self.model = Moves(elem_id="haggle-model")
        self.visit = gr.State(FIRST, time_to_live=HOUR)
        # The number of a Request; its change starts the model's reply.
        self.asked = gr.Textbox(visible="hidden", elem_id="haggle-asked")
        self.session = gr.Textbox(visible="hidden")  # its name, which the browser keeps
        self.kept = gr.Textbox(visible="hidden")  # what the browser kept
        self.clock = gr.Timer(3.0)  # while a model loads
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

    def _lay_out_pickers(self, translate: Translate) -> None:
        """Place what chooses a game."""
        # The heading, and what unfolds the pickers on a phone.
        self.head = gr.HTML(HTML.head(translate, False), elem_id="haggle-head")
        with gr.Row(elem_classes="sauda-actions", elem_id="haggle-pickers"):
            self.seat = gr.Radio(
                opponents.seat_choices(translate), value=FIRST.seat, label=translate("seat"),
                scale=1, min_width=180, elem_id="haggle-seat",
            )  # fmt: skip
            self.market = gr.Dropdown(  # in the seller's seat, the item
                opponents.market_choices(FIRST.seat)[:1], value=FIRST.market,
                label=translate("ware"), scale=3, min_width=160, elem_id="haggle-market",
            )  # fmt: skip
            self.opponent = gr.Dropdown(
                opponents.opponent_choices(FIRST.seat, FIRST.market), value=FIRST.opponent,
                label=translate("buyer"), scale=3, min_width=160, elem_id="haggle-other",
            )  # fmt: skip
            self.new_game = gr.Button(translate("new"), scale=0, min_width=110)
            self.language = gr.Radio(
                LANGUAGES, value=FIRST.language, label=translate("language"), show_label=False,
                container=False, scale=0, min_width=322, elem_id="haggle-language",
            )  # fmt: skip


# What the tab shows -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Screen:
    """The tab's components, and the language models: by seat and backend, or by their name."""

    page: Layout
    models: Mapping[str, Mapping[str, ModelWorker]]
    by_name: Callable[[str], ModelWorker] = in_page  # of this page, for the other stages

    def after_the_end(self, visit: Visit) -> str:
        """What is said to whoever writes after the end; "" where the chat answers itself."""
        return ""

    def show(self, visit: Visit, problem: Markup | str = "") -> Updates:
        """What shows the game of `visit`; a language model that is to move is asked.

        A `problem` keeps the model from being asked: the visitor reads it, then asks again or lets
        a script play on. The message box is left alone: what is typed while an answer is on its
        way stays there.
        """
        page, game, translate = self.page, visit.game, visit.translate
        visit = replace(
            visit,
            reply_request=Request() if game.waiting and not problem else None,
            review_request=Request() if is_reviewed(game) else None,
            seat_request=Request() if game.stands_in_for and not moves_of(game) else None,
        )
        board = results.board_of(game)
        return self.ask(visit) | {
            page.visit: visit,
            page.brief: self.brief(visit),
            page.chat: gr.update(
                value=game_view.bubbles(visit.chat.messages),
                elem_classes=game_view.chat_classes(game),
                placeholder=translate("you_open" if sells(game) else "unpacking"),
            ),
            page.moves: self.moves(visit, problem),
            page.after: self.after(visit, board),
            page.side: self.side(visit, board),
            page.model: self.model(visit),
        }

    def ask(self, visit: Visit) -> Updates:
        """What starts the event that asks the model, or draws the chat after a cut reply again."""
        if visit.reply_request is None and not visit.generation.was_cut:
            return {}
        return {self.page.asked: f"{(visit.reply_request or Request()).number}"}

    def show_move(self, before: Visit, after: Visit) -> Updates:
        """What shows a move of the visitor that led from `before` to `after`.

        The chat gets its messages alone: Gradio makes a component anew for other properties. A
        move is not made where a model has taken its seat meanwhile: the visitor has yet to see it.
        """
        if before.seat_request is not None and not before.seat_request.claim():
            now = before.generation.seated
            return self.remark(note(now.translate("seated", name=now.model_name)), now)
        updates = self.show(after)
        return updates | {self.page.chat: updates[self.page.chat]["value"]}

    def brief(self, visit: Visit) -> Markup:
        """The item, the own limit, and who plays against the visitor, with its load status."""
        game, translate = visit.game, visit.translate
        facing = self.model_facing(visit)
        badge = game_view.opponent_badge(game, facing, translate, visit.language)
        return region("haggle-brief", game_view.brief(game, translate, visit.language)) + region(
            "haggle-badge", badge
        )

    def moves(self, visit: Visit, problem: Markup | str = "") -> Markup:
        """What is wrong, and the moves until the game is over."""
        remark = region(f"{self.page.part}-problem", problem)
        return remark if visit.game.over else remark + move_row(self.offered(visit, bool(problem)))

    def offered(self, visit: Visit, is_wrong: bool) -> list[tuple[str, str]]:
        """The quick moves, and what can be done about the other side's reply."""
        game, translate, asks = visit.game, visit.translate, visit.reply_request is not None
        replies = (
            ("stop", "stop", asks),
            ("retry", "ask_again", game.waiting and not asks),
            ("undo", "take_back", bool(moves_of(game))),
            ("stand_in", "stand_in", game.waiting and not asks and is_wrong),
        )
        quick = game_view.quick_labels(game if asks else before_unanswered(game), translate)
        return quick + [(translate(key), move) for key, move, shows in replies if shows]

    def after(self, visit: Visit, board: Board) -> Markup:
        """After the end the card, with what may come next; beside a branch the first game."""
        game, first, translate = visit.game, visit.first_game, visit.translate
        shown = Markup("")
        if game.over:
            others = opponents.opponent_choices(
                *opponents.seat_and_market(game.task_name), visit.language
            )
            steps = results.steps_on(game, translate, visit.language)
            press = HTML.press(steps, ".sauda-share", results.picture_of(game), translate)
            place, address = results.describe_place(game, board, translate), results.to_query(game)
            card = results.card(game, translate, visit.language, press, place, address)
            shown += HTML.ended(card, others, translate)
        pair = "" if first is None else results.compared_games(first, game, translate)
        return shown + region("haggle-pair", pair)

    def side(self, visit: Visit, board: Board, remark: Markup | str | None = None) -> Markup:
        """The offers, what is heard in the words and what these changed, the result.

        A `remark` on the stages that play the seed stands in the place of the button that asks.
        """
        game, translate = visit.game, visit.translate
        if remark is None and game.over and opponents.bare_stages(game.task_name):
            remark = button(translate("board_ask"), "ask_stages")
        return HTML.beside(
            game_view.chart(game, translate=translate),
            game_view.reading(game, visit.chat.asks, translate),
            results.effect_of_words(game, translate),
            results.result(game, translate, visit.language, board),
            remark or "",
        )

    def model(self, visit: Visit) -> Markup:
        """Whether each language model replies, and what the one across wrote last."""
        translate = visit.translate
        health = [
            (name, _health_of(model, translate)) for name, model in self.models["buyer"].items()
        ]
        return HTML.model(
            health, game_view.raw(visit.game, translate) if visit.game else "", translate
        )

    @property
    def unchanged(self) -> Updates:
        """No new value. Gradio takes an empty dictionary for the value of one output."""
        return {self.page.visit: gr.skip()}

    def problem(self, error: Exception, visit: Visit) -> Updates:
        """The sentence of `error`; the game stays as it is."""
        return self.remark(trouble(translate_error(error, visit.language)), visit)

    def remark(self, remark: Markup, visit: Visit) -> Updates:
        """A remark above the moves, which stay as they are."""
        moves = self.moves(visit, remark) if visit.game else remark
        return {self.page.moves: moves} | ({} if visit.reply_request else self.ask(visit))

    def model_facing(self, visit: Visit) -> ModelWorker:
        """The language model for the seat across from the visitor."""
        game = visit.game
        across = (game.stands_in_for or game.opponent) if sells(game) else opponents.ANY_SELLER
        return self.model_of(across, visit.backend)

    def model_of(self, opponent: str, backend: str) -> ModelWorker:
        """The language model of an opponent: one that the page serves, or another stage of it."""
        if opponent in (opponents.ANY_SELLER, *opponents.SELLER_MODELS):
            return self.models["seller"][backend]
        if opponent in opponents.buyer_models() and opponent != SERVED:
            return self.by_name(opponents.weights_of(opponent))
        return self.models["buyer"][backend]

    def is_ready(self, opponent: str, backend: str) -> bool:
        """Whether an opponent is a language model that can reply now; waits a moment for it."""
        if not opponents.is_language_model(opponent):
            return False
        return isinstance(self.model_of(opponent, backend).wait(READY_SOON), Ready)


def _health_of(model: ModelWorker, translate: Translate) -> str:
    """Whether a language model replies."""
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {translate('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"
