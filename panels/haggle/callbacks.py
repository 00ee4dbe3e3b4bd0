"""What the Haggle tab does when a visitor chooses, moves or goes back.

A callback takes the tab's `Screen` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value.
"""

from dataclasses import replace

import gradio as gr

from env import IllegalAction
from panels.haggle.choices import (
    ANY_ITEM,
    SELL,
    market_choices,
    new_game,
    opponent_choices,
    seat_choices,
    values,
)
from panels.haggle.layout import FIRST_OPPONENT, TITLE, SessionGeneration
from panels.haggle.models import MODELS, READY_SOON
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.visitor_text import play_text
from panels.haggle.words import ENGLISH, translator
from panels.ui.look import heading
from sauda.llm.serving.events import Ready
from sauda.llm.serving.served import THIS_PAGE
from sauda.sessions.bazaar import Game, answer, back, moves_of, quick_moves


def load(screen: Screen, generation: SessionGeneration) -> Updates:
    """The game that a visitor sees on opening the page."""
    return begin(screen, generation, SELL, ANY_ITEM, FIRST_OPPONENT, THIS_PAGE, ENGLISH)


def begin(
    screen: Screen,
    generation: SessionGeneration,
    seat: str,
    market: str,
    opponent: str,
    backend: str,
    language: str,
) -> Updates:
    """A new game as chosen."""
    generation.advance()
    model = screen.models["buyer" if seat == SELL else "seller"][backend]
    ready = opponent in MODELS and isinstance(model.wait(READY_SOON), Ready)
    try:
        game = new_game(seat, market, opponent, ready)
    except ValueError as error:
        return screen.problem(error)
    return screen.show(Visit(game, None, "", backend, language))


def choose_seat(screen: Screen, seat: str, market: str, language: str) -> Updates:
    """The two pickers with the choices of the seat; a picker with one choice is hidden."""
    page, translate = screen.page, translator(language)
    markets = market_choices(seat)
    if market not in values(markets):
        market = markets[0][1]
    opponents = opponent_choices(seat, market)
    market_label, opponent_label = _picker_labels(seat)
    return {
        page.market: gr.Dropdown(markets, value=market, label=translate(market_label)),
        page.opponent: gr.Dropdown(
            opponents,
            value=opponents[0][1],
            label=translate(opponent_label),
            visible=len(opponents) > 1,
        ),
    }


def send(screen: Screen, visit: Visit) -> Updates:
    """The move in the visitor's text. Text that holds no legal move stays in the box."""
    try:
        after = play_text(visit.kept_game, visit.text)
    except ValueError as error:  # IllegalAction is one too
        if visit.game is None or visit.game.unconfirmed is None:
            return screen.problem(error)
        return screen.problem(error) | {screen.page.game: replace(visit.game, unconfirmed=None)}
    kept_text = visit.text if after.unconfirmed else ""
    return screen.show_move(visit, replace(visit, game=after, text=kept_text))


def press_quick_move(screen: Screen, number: int, shown_turns: float, visit: Visit) -> Updates:
    """The move of quick button `number`, unless the browser shows an earlier turn."""
    try:
        game = visit.kept_game
        if shown_turns != len(game.play.turns):
            raise IllegalAction("that button was for the move before; here is the new one")
        moves = [] if game.over or game.waiting else quick_moves(game.observation)
        if not moves or moves[number].action is None:
            raise IllegalAction("that move cannot be made now")
        after = answer(game, moves[number].action)
    except IllegalAction as error:
        return screen.problem(error)
    return screen.show_move(visit, replace(visit, game=after))


def take_back(screen: Screen, generation: SessionGeneration, visit: Visit) -> Updates:
    """The game before the visitor's last move."""
    generation.advance()
    try:
        game = visit.kept_game
        earlier = back(game, len(moves_of(game)) - 1)
    except IllegalAction as error:
        return screen.problem(error)
    return screen.show(replace(visit, game=earlier))


def go_back(
    screen: Screen, generation: SessionGeneration, past_move: int | None, visit: Visit
) -> Updates:
    """The game before the chosen move, as a branch beside the first game."""
    generation.advance()
    try:
        return branch(screen, visit, visit.first_game or visit.kept_game, past_move)
    except IllegalAction as error:
        return screen.problem(error)


def branch(screen: Screen, visit: Visit, origin: Game, number: object) -> Updates:
    """`origin` before its move `number`, beside the first game; IllegalAction if there is none."""
    if not isinstance(number, int):
        raise IllegalAction("pick the move to go back to")
    earlier = back(origin, number)
    return screen.show(replace(visit, game=earlier, first_game=visit.first_game or origin))


def change_language(screen: Screen, seat: str, language: str) -> Updates:
    """The words of every component in `language`; the game stays as it is."""
    page, translate = screen.page, translator(language)
    market_label, opponent_label = _picker_labels(seat)
    return {
        page.title: heading(TITLE, translate("lead")),
        page.seat: gr.Radio(seat_choices(translate), label=translate("seat")),
        page.market: gr.Dropdown(label=translate(market_label)),
        page.opponent: gr.Dropdown(label=translate(opponent_label)),
        page.new_game: translate("new"),
        page.message: gr.Textbox(label=translate("price"), placeholder=translate("placeholder")),
        page.send: translate("send"),
        page.stop: gr.Button(translate("stop")),
        page.ask_again: gr.Button(translate("retry")),
        page.take_back: gr.Button(translate("undo")),
        page.stand_in: gr.Button(translate("stand_in")),
        page.what_if_heading: heading(translate("whatif"), translate("whatif_lead")),
        page.go_back: translate("whatif_go"),
        page.details: gr.Accordion(label=translate("raw")),
        page.backend: gr.Radio(label=translate("backend")),
        page.check_health: translate("check"),
        page.show_effect: gr.Button(translate("effect")),
    }


def _picker_labels(seat: str) -> tuple[str, str]:
    """The keys of the labels of the market picker and of the opponent picker."""
    return ("ware", "buyer") if seat == SELL else ("market", "seller")
