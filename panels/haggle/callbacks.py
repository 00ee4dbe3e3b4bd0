"""What the Haggle tab does when a visitor chooses, moves or goes back.

A callback takes the tab's `Screen` and a `Visit`, and returns new values by component. A component
that it leaves out keeps its value.
"""

from dataclasses import replace

import gradio as gr

from env import IllegalAction
from panels.haggle.conversation import SILENT, converse
from panels.haggle.game_view import HTML
from panels.haggle.layout import Visit
from panels.haggle.opponents import (
    SELL,
    chosen_opponent,
    game_at,
    leads_to,
    market_choices,
    new_game,
    offered,
    opponent_choices,
    seat_choices,
)
from panels.haggle.screen import Screen, Updates
from panels.haggle.words import Trouble
from panels.ui.look import note
from sauda.sessions.bazaar import Game, back, moves_of, propose, quick_moves

# Choices ------------------------------------------------------------------------------------------


def begin(screen: Screen, visit: Visit, also: Updates | None = None) -> Updates:
    """A new game as chosen, with what `also` changes; nothing where a later choice came first.

    A choice that cannot be leaves the former game on show.
    """
    generation = visit.generation
    choice = generation.choose()
    generation.place = visit.seat, visit.market
    try:
        ready = screen.is_ready(visit.opponent, visit.backend)
        game = new_game(visit.seat, visit.market, visit.opponent, ready)
        updates = screen.show(replace(visit, game=game, first_game=None, talk=SILENT))
    except ValueError as error:
        generation.place = None
        return screen.problem(error, visit)
    return updates | (also or {}) if generation.settles(choice) else screen.unchanged


def take_seat(screen: Screen, visit: Visit) -> Updates:
    """A new game in the seat and market, against the first opponent there, whose pickers follow.

    Nothing where they are chosen already: a list tells its value again as it closes.
    """
    market, opponent = offered(visit.seat, visit.market, "")
    if visit.generation.place == (visit.seat, market):
        return screen.unchanged
    chosen = replace(visit, market=market, opponent=opponent)
    return begin(screen, chosen, _pickers(screen, chosen))


def change_opponent(screen: Screen, visit: Visit) -> Updates:
    """The same item and seed from the start, against another opponent; nothing for the same one."""
    now = visit.game
    is_here = now and leads_to(visit.seat, visit.market, now)
    is_same = is_here and visit.opponent == chosen_opponent(now)  # as a list closes
    return screen.unchanged if is_same else replay_item(screen, visit)


def replay_item(screen: Screen, visit: Visit) -> Updates:
    """The same item and seed from the start, against any opponent; nothing where none is picked.

    Where the game of another seat or market is still on its way, a new game there instead.
    """
    now, picker = visit.game, {screen.page.opponent: gr.update(value=visit.opponent)}
    if not visit.opponent:  # the line that asks for a choice
        return screen.unchanged
    if now and not leads_to(visit.seat, visit.market, now):
        return begin(screen, visit, picker)
    if now and not moves_of(now) and visit.opponent == chosen_opponent(now):
        return screen.unchanged  # a picker may tell of one choice twice
    choice = visit.generation.choose()
    try:
        game = visit.kept_game
        ready = screen.is_ready(visit.opponent, visit.backend)
        again = game_at(game.task_name, game.play.seed, visit.opponent, ready)
    except ValueError as error:
        return screen.problem(error, visit)
    updates = screen.show(replace(visit, game=again, first_game=None, talk=SILENT)) | picker
    if game.play.turns:  # something was begun that begins again
        updates |= screen.remark(note(visit.translate("same_item")), updates[screen.page.visit])
    return updates if visit.generation.settles(choice) else screen.unchanged


def _pickers(screen: Screen, visit: Visit) -> Updates:
    """The pickers of market and opponent; what they do not offer gives way to their first choice.

    A value may come from the choices of another seat, or from a stranger's call.
    """
    page, translate, seat = screen.page, visit.translate, visit.seat
    market, opponent = offered(seat, visit.market, visit.opponent)
    opponents = opponent_choices(seat, market, visit.language)
    return {
        page.market: gr.Dropdown(
            market_choices(seat, visit.language),
            value=market,
            label=translate("ware" if seat == SELL else "market"),
        ),
        page.opponent: gr.Dropdown(
            opponents,
            value=opponent,
            label=translate("buyer" if seat == SELL else "seller"),
            visible=len(opponents) > 1,
        ),
    }


def change_language(screen: Screen, visit: Visit, is_open: bool = True) -> Updates:
    """The words of every component in the visit's language; the game stays as it is.

    The fold of the pickers `is_open`: the visitor has just chosen in it, and may choose more.
    """
    page, translate = screen.page, visit.translate
    return {
        page.head: HTML.head(translate, is_open),
        page.language: gr.Radio(label=translate("language")),
        page.seat: gr.Radio(seat_choices(translate), label=translate("seat")),
        **_pickers(screen, visit),
        page.new_game: translate("new"),
        page.message: gr.Textbox(label=translate("price"), placeholder=translate("placeholder")),
        page.send: translate("send"),
        page.details: gr.Accordion(label=translate("raw")),
        page.backend: gr.Radio(label=translate("backend")),
    }


# Moves --------------------------------------------------------------------------------------------


def send(screen: Screen, visit: Visit) -> Updates:
    """The move in the visitor's text, or the answer to it where it makes none.

    Text stays in the box while the other side thinks, and where it cannot be answered. Where the
    model gave no reply, a move takes the place of the unanswered one, and talk asks it again.
    """
    page = screen.page
    try:
        game = visit.open_game
        if visit.reply_request is None and game.waiting:  # it is to open, and has yet to reply
            return screen.show(visit)
        if game.waiting or not (visit.text or "").strip():
            key = "kept_words" if game.waiting else "say_price"
            return screen.remark(note(visit.translate(key)), visit)
        if game.over and (told := screen.after_the_end(visit)):
            return screen.remark(note(told), visit)
        turns = len(visit.game.play.turns)
        moved, talk = converse(game, visit.talk, visit.text)
        if moved.play is game.play and moved.unconfirmed is None:  # talk, and no move
            moved, talk = replace(visit.game, unconfirmed=None), talk.last_at(turns)
        after = replace(visit, game=moved, talk=talk)
    except IllegalAction as error:
        if visit.game is None:
            return screen.problem(error, visit)
        kept = replace(visit, game=replace(visit.game, unconfirmed=None))
        return screen.problem(error, kept) | {page.visit: replace(kept, text="")}
    return screen.show_move(visit, after) | {page.message: ""}


def press_quick_move(
    screen: Screen, number: int | None, shown_turns: int | None, visit: Visit
) -> Updates:
    """The move of quick button `number`, unless the browser shows an earlier turn."""
    try:
        if shown_turns != len(visit.kept_game.play.turns):
            raise Trouble("old_button")
        game = visit.open_game
        moves = [] if game.over or game.waiting else quick_moves(game.observation)
        if number not in range(len(moves)) or moves[number].action is None:
            raise Trouble("no_such_move")
        after = propose(game, moves[number].action)
    except IllegalAction as error:
        return screen.problem(error, visit)
    return screen.show_move(visit, replace(visit, game=after))


def take_back(screen: Screen, visit: Visit) -> Updates:
    """The game before the visitor's last move."""
    visit.generation.advance()
    try:
        moves = moves_of(visit.kept_game)
        if not moves:
            raise Trouble("nothing_to_undo")
        return _show_earlier(screen, visit, visit.game, len(moves) - 1)
    except IllegalAction as error:
        return screen.problem(error, visit)


def go_back(screen: Screen, number: object, visit: Visit) -> Updates:
    """The first game before its chosen move, as a branch beside it."""
    return _branch(screen, visit, visit.first_game or visit.game, number)


def what_if(screen: Screen, number: object, visit: Visit) -> Updates:
    """The reviewed game before its move `number`, counted from 0, beside the first game."""
    return _branch(screen, visit, visit.game, number)


def _branch(screen: Screen, visit: Visit, origin: Game | None, number: object) -> Updates:
    visit.generation.advance()
    try:
        first = visit.first_game or origin or visit.kept_game
        if not isinstance(number, int):
            raise Trouble("pick_move")
        return _show_earlier(screen, replace(visit, first_game=first), origin, number)
    except IllegalAction as error:
        return screen.problem(error, visit)


def _show_earlier(screen: Screen, visit: Visit, game: Game, number: int) -> Updates:
    """`game` before its move `number`; IllegalAction if there is none."""
    earlier = back(game, number)
    talk = visit.talk.back_to(len(earlier.play.turns))
    return screen.show(replace(visit, game=earlier, talk=talk))
