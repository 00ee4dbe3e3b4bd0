"""What the Haggle tab shows of a game: new values by component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.haggle.badge import opponent_badge
from panels.haggle.choices import opponent_choices, seat_and_market
from panels.haggle.conversation import SILENT, Talk, chat_of
from panels.haggle.game_view import brief, bubbles, chart, past_moves, quick_buttons, sells
from panels.haggle.hearing import effect_of, has_effect, raw, reading
from panels.haggle.layout import Layout, ReplyRequest, ReviewRequest
from panels.haggle.opponents import (
    ANY_SELLER,
    READY_SOON,
    SELLER_MODELS,
    SERVED,
    bare_stages,
    buyer_models,
    health_list,
    is_language_model,
    model_name,
    weights_of,
)
from panels.haggle.result import Board, board_of, card, compared_games, result
from panels.haggle.review import is_reviewed, review_pending
from panels.haggle.words import Translate, Trouble, translated, translator
from panels.site.sessions import no_longer_here
from panels.ui.look import heading, note, trouble
from panels.ui.wiring import button, pick_list, region
from sauda.llm.backends import in_page
from sauda.llm.server import ModelWorker, Ready
from sauda.sessions.bazaar import Game, before_unanswered, moves_of

SELLERS_CHAT = ["sauda-selling"]  # CSS: the user of the chat is in the seller's colour
TO_CHAT = {"show": "haggle-chat"}  # where the game goes on
Updates = dict[Any, Any]  # new values, or components with new properties, by component


@dataclass(frozen=True)
class Visit:
    """A visitor's game, which the session keeps, and what the fields of the page hold beside it."""

    game: Game | None
    first_game: Game | None  # the game that "What if" went back from
    text: str  # in the message box
    backend: str
    language: str
    talk: Talk = SILENT  # the small talk of the game
    reply_request: ReplyRequest | None = None  # for the model's move: asked, and not failed
    review_request: ReviewRequest | None = None  # where a finished game was shown

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
        visit = replace(
            visit,
            text="",
            reply_request=ReplyRequest() if game.waiting and not problem else None,
            review_request=ReviewRequest() if is_reviewed(game) else None,
        )
        board = board_of(game)
        return {
            page.visit: visit,
            page.brief: self.brief(visit),
            page.chat: gr.update(
                value=bubbles(chat_of(game, visit.talk, visit.language).messages),
                elem_classes=SELLERS_CHAT if sells(game) else [],
                placeholder=translate("you_open" if sells(game) else "unpacking"),
            ),
            page.moves: self.moves(visit, problem),
            page.after: self.after(visit, board),
            page.review: review_pending(game, translate),
            page.side: self.side(visit, board),
            page.model: self.model(visit),
        }

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
        return Markup("").join(
            [
                region("haggle-problem", problem),
                quick_buttons(movable, len(game.play.turns), translate),
                Markup('<div class="sauda-quick">{}</div>').format(
                    Markup("").join(
                        button(translate(key), press=name) for name, key, shows in offered if shows
                    )
                ),
            ]
        )

    def after(self, visit: Visit, board: Board) -> Markup:
        """After the end the card, with what may come next; and the way back to an earlier move."""
        game, first, translate = visit.game, visit.first_game, visit.translate
        parts = [self._card(visit, board)] if game.over else []
        if game.over or first is not None:
            said = chat_of(first or game, visit.talk, visit.language).own_words
            moves = pick_list(translate("pick_move"), past_moves(said, translate), "haggle-move")
            back = button(translate("whatif_go"), press="go_back", **TO_CHAT)
            title = heading(translate("whatif"), translate("whatif_lead"))
            parts.append(
                Markup('<div class="sauda-whatif">{}<p class="sauda-press">{}{}</p></div>').format(
                    title, moves, back
                )
            )
        parts.append(region("haggle-pair", compared_games(first, game, translate)))
        return Markup("").join(parts)

    def _card(self, visit: Visit, board: Board) -> Markup:
        """The result, a rematch, the link to the game, the opponents for the same item again."""
        game, translate = visit.game, visit.translate
        others = opponent_choices(*seat_and_market(game.task_name), visit.language)
        against = Markup("")
        if len(others) > 1:
            picks = [(translate("choose_opponent"), ""), *others]
            again = button(translate("play_again"), press="replay_item", **TO_CHAT)
            against = Markup('<p class="sauda-press">{}{}</p>').format(
                pick_list(translate("same_item_against"), picks, "haggle-against"), again
            )
        words = {"copied": translate("link_copied"), "kept": translate("link_not_copied")}
        return Markup(
            '<div id="haggle-card" class="sauda-card">{}<p class="sauda-press">{}{}'
            '<span id="haggle-copied" class="sauda-note" role="status"></span></p>{}</div>'
        ).format(
            card(game, translate, board),
            button(translate("rematch"), "sauda-button sauda-primary", press="begin", **TO_CHAT),
            button(translate("copy_link"), copy=".sauda-share", **words),
            against,
        )

    def side(self, visit: Visit, board: Board, remark: Markup | str | None = None) -> Markup:
        """The offers, what is heard in the words and what these changed, the result.

        A `remark` on the stages that play the seed stands in the place of the button that asks.
        """
        game, translate = visit.game, visit.translate
        spoken = chat_of(game, visit.talk, visit.language).language
        ask = Markup("")
        if remark is None and game.over and bare_stages(game.task_name):
            ask = button(translate("board_ask"), press="ask_stages")
        effect = f"{translate('effect')} {effect_of(game, translate)}" if has_effect(game) else ""
        return Markup("").join(
            [
                region("haggle-chart", chart(game, translate=translate)),
                region("haggle-reads", reading(game, translate, spoken)),
                region("haggle-changed", note(effect) if effect else ""),
                region("haggle-result", result(game, translate, visit.language, board)),
                region("haggle-stages", ask if remark is None else remark),
            ]
        )

    def model(self, visit: Visit) -> Markup:
        """Whether each language model replies, and what the one across wrote last."""
        translate = visit.translate
        wrote = raw(visit.game, translate) if visit.game else Markup("")
        return Markup("").join(
            [
                health_list(self.models["buyer"], translate),
                button(translate("check"), press="check_health"),
                region("haggle-raw", wrote),
            ]
        )

    @property
    def unchanged(self) -> Updates:
        """No new value. Gradio takes an empty dictionary for the value of one output."""
        return {self.page.visit: gr.skip()}

    def problem(self, error: Exception, visit: Visit) -> Updates:
        """The sentence of `error`; the game stays as it is."""
        return self.remark(trouble(translated(error, visit.language)), visit)

    def remark(self, remark: Markup, visit: Visit) -> Updates:
        """A remark above the moves, which stay as they are."""
        return {self.page.moves: self.moves(visit, remark) if visit.game else remark}

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
