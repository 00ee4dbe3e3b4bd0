"""What the Haggle tab shows of a game: new values by component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.haggle.choices import Choices, opponent_choices, seat_and_market
from panels.haggle.game_view import (
    brief,
    bubbles,
    chart,
    past_moves,
    quick_label,
    sells,
)
from panels.haggle.layout import QUICK_MOVES, Layout, ReplyRequest, ReviewRequest
from panels.haggle.models import READY_SOON
from panels.haggle.opponents.badge import opponent_badge
from panels.haggle.opponents.hearing import reading
from panels.haggle.opponents.model_view import has_effect, raw
from panels.haggle.opponents.stages import (
    ANY_SELLER,
    SELLER_MODELS,
    SERVED,
    bare_stages,
    buyer_models,
    is_language_model,
    model_name,
    weights_of,
)
from panels.haggle.review.card import card
from panels.haggle.review.result_view import board_of, compared_games, result
from panels.haggle.review.review_view import is_reviewed, review_pending
from panels.haggle.talk.conversation import Chat, chat_of
from panels.haggle.talk.state import SILENT, Talk
from panels.haggle.talk.trouble import Trouble, translated
from panels.haggle.words import ENGLISH, Translate, translator
from panels.site.sessions import no_longer_here
from panels.ui.look import trouble
from sauda.llm.backends import in_page
from sauda.llm.server import ModelWorker, Ready
from sauda.sessions.bazaar import Game, before_unanswered, moves_of, quick_moves

SELLERS_CHAT = ["sauda-selling"]  # CSS: the user of the chat is in the seller's colour
Updates = dict[Any, Any]  # new values, or components with new properties, by component


@dataclass(frozen=True)
class Visit:
    """The values of a visitor's screen that nearly every callback reads."""

    game: Game | None
    first_game: Game | None  # the game that "What if" went back from
    text: str  # in the message box
    backend: str
    language: str
    talk: Talk = SILENT  # the small talk of the game
    reply_request: ReplyRequest | None = None  # for the model's move: asked, and not failed

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

    @property
    def model_name(self) -> str:
        """The short name of the language model across the table."""
        return model_name(self.game.opponent, self.translate)


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
        """Everything that shows the game of `visit`; a language model that is to move is asked.

        A `problem` keeps the model from being asked: the visitor reads it, then asks again or lets
        a script play on. The message box is left alone: what is typed while an answer is on its
        way stays there.
        """
        page, game, translate = self.page, visit.game, visit.translate
        asks = game.waiting and not problem
        chat, board = chat_of(game, visit.talk, visit.language), board_of(game)
        return {
            page.game: game,
            page.first_game: visit.first_game,
            page.reply_request: ReplyRequest() if asks else None,
            page.shown_turns: len(game.play.turns),
            page.talk: visit.talk,
            page.problem: problem,
            page.brief: brief(game, translate, visit.language),
            page.offers: chart(game, translate=translate),
            page.card: gr.update(visible=game.over),
            page.card_text: card(game, translate, board),
            page.same_item: gr.update(**self._others(visit)),
            page.copied: "",
            page.result: result(game, translate, visit.language, board),
            page.ask_stages: gr.update(visible=game.over and bool(bare_stages(game.task_name))),
            page.review: review_pending(game, translate),
            page.review_request: ReviewRequest() if is_reviewed(game) else None,
            page.tells: reading(game, translate, chat.language),
            page.badge: self.badge(visit),
            page.raw_reply: raw(game, translate),
            page.comparison: compared_games(visit.first_game, game, translate),
            page.effect: "",
            page.chat: gr.update(
                value=bubbles(chat.messages),
                elem_classes=SELLERS_CHAT if sells(game) else [],
                placeholder=translate("you_open" if sells(game) else "unpacking"),
            ),
            **self._buttons(visit, chat, asks),
            page.stand_in: gr.update(visible=game.waiting and bool(problem)),
        }

    def show_move(self, before: Visit, after: Visit) -> Updates:
        """What a move changes on a screen that shows `before`.

        Gradio makes a component anew for each that an event updates, which is most of the time of
        a scripted reply. While a language model plays, other events change the screen too, so then
        everything is shown.
        """
        updates = self.show(after)
        if before.game.model_seat or after.game.model_seat:
            return updates
        page, shown = self.page, self.show(before)
        stale = {part: value for part, value in updates.items() if value != shown[part]}
        told = (page.game, page.talk, page.reply_request, page.problem)  # also set elsewhere
        return (
            stale
            | {part: updates[part] for part in told}
            | {page.chat: updates[page.chat]["value"]}
        )

    def _buttons(self, visit: Visit, chat: Chat, asks: bool) -> Updates:
        """The buttons that the game allows, and the moves to go back to."""
        page, game, translate = self.page, visit.game, visit.translate
        first, movable = visit.first_game, game if asks else before_unanswered(game)
        said = (chat_of(first, visit.talk, visit.language) if first else chat).own_words
        earlier = past_moves(said, translate)
        return {
            **dict(zip(page.quick_moves, quick_buttons(movable, translate), strict=True)),
            page.stop: gr.update(visible=asks),
            page.ask_again: gr.update(visible=game.waiting and not asks),
            page.take_back: gr.update(visible=bool(moves_of(game)) and not game.over),
            page.show_effect: gr.update(visible=has_effect(game)),
            page.what_if: gr.update(visible=game.over or visit.first_game is not None),
            page.past_move: gr.update(choices=earlier, value=0 if earlier else None),
        }

    @property
    def unchanged(self) -> Updates:
        """No new value. Gradio takes an empty dictionary for the value of one output."""
        return {self.page.game: gr.skip()}

    def problem(self, error: Exception, language: str = ENGLISH) -> Updates:
        """The sentence of `error`; the game stays as it is."""
        return {self.page.problem: trouble(translated(error, language))}

    def _others(self, visit: Visit) -> dict[str, Any]:
        """The opponents for the same item again, once the game is over."""
        if not visit.game.over:
            return {}
        choices: Choices = opponent_choices(*seat_and_market(visit.game.task_name), visit.language)
        first = (visit.translate("choose_opponent"), "")
        return {"choices": [first, *choices], "value": "", "visible": len(choices) > 1}

    def badge(self, visit: Visit) -> Markup:
        """Who plays against the visitor, with its measured score and load status."""
        return opponent_badge(visit.game, self.model_facing(visit), visit.translate)

    def model_facing(self, visit: Visit) -> ModelWorker:
        """The language model for the seat across from the visitor."""
        game = visit.game
        across = (game.stands_in_for or game.opponent) if sells(game) else ANY_SELLER
        return self.model_of(across, visit.backend)

    def model_of(self, opponent: str, backend: str) -> ModelWorker:
        """The language model of an opponent: one that the page serves, or another stage of it.

        Raises Trouble where no model answers under the name `backend`.
        """
        if backend not in self.models["buyer"]:
            raise Trouble("bad_choice")
        if opponent in (ANY_SELLER, *SELLER_MODELS):
            return self.models["seller"][backend]
        if opponent in buyer_models() and opponent not in SERVED:
            return self.by_name(weights_of(opponent))
        return self.models["buyer"][backend]

    def is_ready(self, opponent: str, backend: str) -> bool:
        """Whether an opponent is a language model that can reply now; waits a moment for it."""
        if not is_language_model(opponent):
            return False
        return isinstance(self.model_of(opponent, backend).wait(READY_SOON), Ready)


def quick_buttons(game: Game, translate: Translate) -> list[Updates]:
    """What the quick buttons show: the moves that can be made now, or that there is none."""
    if game.over or game.waiting:
        # One update a button: Gradio empties each update that it reads.
        return [gr.update(value="…", interactive=False, visible=True) for _ in range(QUICK_MOVES)]
    return [
        gr.update(
            value=quick_label(game, move, translate),
            interactive=True,
            visible=move.action is not None,
        )
        for move in quick_moves(game.observation)
    ]
