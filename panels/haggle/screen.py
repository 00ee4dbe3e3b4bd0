"""What the Haggle tab shows of a visit: new values by component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.haggle.game_view import (
    HTML,
    brief,
    bubbles,
    chart,
    opponent_badge,
    quick_buttons,
    raw,
    reading,
    sells,
)
from panels.haggle.layout import Layout, Request, Visit
from panels.haggle.opponents import (
    ANY_SELLER,
    SELLER_MODELS,
    SERVED,
    bare_stages,
    buyer_models,
    is_language_model,
    opponent_choices,
    seat_and_market,
    weights_of,
)
from panels.haggle.result import (
    Board,
    board_of,
    card,
    compared_games,
    effect_of_words,
    is_reviewed,
    result,
)
from panels.haggle.words import Translate, translate_error
from panels.ui.look import trouble
from panels.ui.wiring import button, region
from sauda.llm.backends import in_page
from sauda.llm.server import Failed, ModelWorker, Ready
from sauda.sessions.bazaar import before_unanswered, moves_of

READY_SOON = 0.5  # seconds that a new game waits for a model that has nearly loaded
SELLERS_CHAT = ["sauda-selling"]  # CSS: the user of the chat is in the seller's colour
Updates = dict[Any, Any]  # new values, or components with new properties, by component


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
            text="",
            reply_request=Request() if game.waiting and not problem else None,
            review_request=Request() if is_reviewed(game) else None,
        )
        board = board_of(game)
        return self.ask(visit) | {
            page.visit: visit,
            page.brief: self.brief(visit),
            page.chat: gr.update(
                value=bubbles(visit.chat.messages),
                elem_classes=SELLERS_CHAT if sells(game) else [],
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

        The chat gets its messages alone: Gradio makes a component anew for other properties.
        """
        updates = self.show(after)
        return updates | {self.page.chat: updates[self.page.chat]["value"]}

    def brief(self, visit: Visit) -> Markup:
        """The item, the own limit, and who plays against the visitor, with its load status."""
        game, translate = visit.game, visit.translate
        badge = opponent_badge(game, self.model_facing(visit), translate)
        return region("haggle-brief", brief(game, translate, visit.language)) + region(
            "haggle-badge", badge
        )

    def moves(self, visit: Visit, problem: Markup | str = "") -> Markup:
        """What is wrong, the quick moves, and what can be done about the other side's reply."""
        game, translate, asks = visit.game, visit.translate, visit.reply_request is not None
        movable = game if asks else before_unanswered(game)
        offered = (
            ("stop", "stop", asks),
            ("ask_again", "retry", game.waiting and not asks),
            ("take_back", "undo", bool(moves_of(game)) and not game.over),
            ("stand_in", "stand_in", game.waiting and not asks and bool(problem)),
        )
        return HTML.moves(
            problem,
            quick_buttons(movable, len(game.play.turns), translate),
            [(name, key) for name, key, shows in offered if shows],
            translate,
        )

    def after(self, visit: Visit, board: Board) -> Markup:
        """After the end the card, with what may come next; and the way back to an earlier move."""
        game, first, translate = visit.game, visit.first_game, visit.translate
        shown = Markup("")
        if game.over:
            others = opponent_choices(*seat_and_market(game.task_name), visit.language)
            shown += HTML.ended(card(game, translate, board), others, translate)
        if game.over or first is not None:
            origin = visit if first is None else replace(visit, game=first)
            moves = [
                (translate("whatif_move", number=number + 1, said=text), number)
                for number, text in enumerate(origin.chat.own_words)
            ]
            shown += HTML.what_if(moves, translate)
        pair = "" if first is None else compared_games(first, game, translate)
        return shown + region("haggle-pair", pair)

    def side(self, visit: Visit, board: Board, remark: Markup | str | None = None) -> Markup:
        """The offers, what is heard in the words and what these changed, the result.

        A `remark` on the stages that play the seed stands in the place of the button that asks.
        """
        game, translate = visit.game, visit.translate
        if remark is None and game.over and bare_stages(game.task_name):
            remark = button(translate("board_ask"), press="ask_stages")
        return HTML.side(
            chart(game, translate=translate),
            reading(game, translate, visit.chat.language),
            effect_of_words(game, translate),
            result(game, translate, visit.language, board),
            remark or "",
        )

    def model(self, visit: Visit) -> Markup:
        """Whether each language model replies, and what the one across wrote last."""
        translate = visit.translate
        health = [
            (name, _health_of(model, translate)) for name, model in self.models["buyer"].items()
        ]
        return HTML.model(health, raw(visit.game, translate) if visit.game else "", translate)

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
        across = (game.stands_in_for or game.opponent) if sells(game) else ANY_SELLER
        return self.model_of(across, visit.backend)

    def model_of(self, opponent: str, backend: str) -> ModelWorker:
        """The language model of an opponent: one that the page serves, or another stage of it."""
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


def _health_of(model: ModelWorker, translate: Translate) -> str:
    """Whether a language model replies."""
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {translate('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"
