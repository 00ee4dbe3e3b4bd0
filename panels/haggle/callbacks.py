"""What the Haggle tab does as it opens, and when a visitor chooses, moves or goes back.

A callback takes the tab's `Screen` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value.
"""

from collections.abc import Mapping
from dataclasses import replace

import gradio as gr

from env import IllegalAction
from panels.haggle.choices import (
    SELL,
    chosen_opponent,
    game_at,
    leads_to,
    market_choices,
    new_game,
    offered,
    opponent_choices,
    seat_and_market,
    seat_choices,
)
from panels.haggle.conversation import SILENT
from panels.haggle.layout import SessionGeneration, head
from panels.haggle.resume import (
    FIRST,
    Kept,
    MarketGone,
    Picks,
    Setup,
    check_market,
    from_query,
    possible,
    read_kept,
)
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.visitor_text import converse
from panels.haggle.words import Trouble, translator
from panels.site.sessions import Gone, states_of
from panels.ui.look import note
from sauda.sessions.bazaar import Game, back, moves_of, propose, quick_moves


def begin(
    screen: Screen,
    generation: SessionGeneration,
    seat: str,
    market: str,
    opponent: str,
    backend: str,
    language: str,
    visit: Visit | None = None,
    also: Updates | None = None,
) -> Updates:
    """A new game as chosen, with what `also` changes; nothing where a later choice came first.

    A choice that cannot be leaves the game of `visit` on show.
    """
    choice = generation.choose()
    generation.place = seat, market
    fresh = Visit(None, None, "", backend, language)
    try:
        game = new_game(seat, market, opponent, screen.is_ready(opponent, backend))
        updates = screen.show(replace(fresh, game=game)) | (also or {})
    except ValueError as error:
        generation.place = None
        return screen.problem(error, visit or fresh)
    return updates if generation.settles(choice) else screen.unchanged


def take_seat(
    screen: Screen,
    generation: SessionGeneration,
    seat: str,
    market: str,
    opponent: str,
    backend: str,
    language: str,
) -> Updates:
    """A new game in the seat and market, against the first opponent there, whose pickers follow.

    Nothing where they are chosen already: a list tells its value again as it closes.
    """
    market, opponent = offered(seat, market, "")
    if generation.place == (seat, market):
        return screen.unchanged
    pickers = _pickers(screen, seat, market, opponent, language)
    return begin(screen, generation, seat, market, opponent, backend, language, also=pickers)


def change_opponent(
    screen: Screen,
    generation: SessionGeneration,
    opponent: str,
    seat: str,
    market: str,
    visit: Visit,
) -> Updates:
    """The same item and seed from the start, against another opponent; nothing for the same one.

    A list tells its value again as it closes.
    """
    now = visit.game
    if now and leads_to(seat, market, now) and opponent == chosen_opponent(now):
        return screen.unchanged
    return replay_item(screen, generation, opponent, seat, market, visit)


def replay_item(
    screen: Screen,
    generation: SessionGeneration,
    opponent: str,
    seat: str,
    market: str,
    visit: Visit,
) -> Updates:
    """The same item and seed from the start, against any opponent; nothing where none is picked.

    Where the game of another seat or market is still on its way, a new game there instead.
    """
    now, picker = visit.game, {screen.page.opponent: gr.update(value=opponent)}
    if not opponent:  # the line that asks for a choice
        return screen.unchanged
    if now and not leads_to(seat, market, now):
        choices = (seat, market, opponent, visit.backend, visit.language)
        return begin(screen, generation, *choices, visit, picker)
    if now and not moves_of(now) and opponent == chosen_opponent(now):
        return screen.unchanged  # a picker may tell of one choice twice
    choice = generation.choose()
    try:
        game = visit.kept_game
        ready = screen.is_ready(opponent, visit.backend)
        again = game_at(game.task_name, game.play.seed, opponent, ready)
    except ValueError as error:
        return screen.problem(error, visit)
    updates = screen.show(replace(visit, game=again, first_game=None, talk=SILENT)) | picker
    if game.play.turns:  # something was begun that begins again
        updates |= screen.remark(note(visit.translate("same_item")), updates[screen.page.visit])
    return updates if generation.settles(choice) else screen.unchanged


def _pickers(screen: Screen, seat: str, market: str, opponent: str, language: str) -> Updates:
    """The pickers of market and opponent; what they do not offer gives way to their first choice.

    A value may come from the choices of another seat, or from a stranger's call.
    """
    page, translate = screen.page, translator(language)
    market_label, opponent_label = ("ware", "buyer") if seat == SELL else ("market", "seller")
    markets = market_choices(seat, language)
    market, opponent = offered(seat, market, opponent)
    opponents = opponent_choices(seat, market, language)
    return {
        page.market: gr.Dropdown(markets, value=market, label=translate(market_label)),
        page.opponent: gr.Dropdown(
            opponents,
            value=opponent,
            label=translate(opponent_label),
            visible=len(opponents) > 1,
        ),
    }


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
        game = visit.kept_game
        if shown_turns != len(game.play.turns):
            raise Trouble("old_button")
        game = visit.open_game
        moves = [] if game.over or game.waiting else quick_moves(game.observation)
        if number not in range(len(moves)) or moves[number].action is None:
            raise Trouble("no_such_move")
        after = propose(game, moves[number].action)
    except IllegalAction as error:
        return screen.problem(error, visit)
    return screen.show_move(visit, replace(visit, game=after))


def take_back(screen: Screen, generation: SessionGeneration, visit: Visit) -> Updates:
    """The game before the visitor's last move."""
    generation.advance()
    try:
        game = visit.kept_game
        if not moves_of(game):
            raise Trouble("nothing_to_undo")
        earlier = back(game, len(moves_of(game)) - 1)
    except IllegalAction as error:
        return screen.problem(error, visit)
    talk = visit.talk.back_to(len(earlier.play.turns))
    return screen.show(replace(visit, game=earlier, talk=talk))


def go_back(
    screen: Screen, generation: SessionGeneration, past_move: int | None, visit: Visit
) -> Updates:
    """The game before the chosen move, as a branch beside the first game."""
    generation.advance()
    try:
        return branch(screen, visit, visit.first_game or visit.kept_game, past_move)
    except IllegalAction as error:
        return screen.problem(error, visit)


def branch(screen: Screen, visit: Visit, origin: Game, number: object) -> Updates:
    """`origin` before its move `number`, beside the first game; IllegalAction if there is none."""
    if not isinstance(number, int):
        raise Trouble("pick_move")
    earlier = back(origin, number)
    talk = visit.talk.back_to(len(earlier.play.turns))
    first = visit.first_game or origin
    return screen.show(replace(visit, game=earlier, first_game=first, talk=talk))


def change_language(
    screen: Screen, seat: str, market: str, opponent: str, language: str
) -> Updates:
    """The words of every component in `language`; the game stays as it is.

    The fold of the pickers is open: the visitor has just chosen in it, and may choose more.
    """
    page, translate = screen.page, translator(language)
    return {
        page.head: head(translate, is_open=True),
        page.language: gr.Radio(label=translate("language")),
        page.seat: gr.Radio(seat_choices(translate), label=translate("seat")),
        **_pickers(screen, seat, market, opponent, language),
        page.new_game: translate("new"),
        page.message: gr.Textbox(label=translate("price"), placeholder=translate("placeholder")),
        page.send: translate("send"),
        page.details: gr.Accordion(label=translate("raw")),
        page.backend: gr.Radio(label=translate("backend")),
    }


def open_page(
    screen: Screen,
    generation: SessionGeneration,
    kept: str,
    query: Mapping[str, str],
    session: str,
) -> Updates:
    """The game that an address names, else the one that this tab was left with, else a new one.

    `kept` is what the tab kept, as JSON, `session` the name of the session that begins now.
    """
    generation.advance()
    backends = screen.models["buyer"]
    found = read_kept(kept, backends)
    picks = found.picks if found else FIRST
    known = {screen.page.session: session}
    try:
        visit, remark = _visit(screen, found, picks, query)
    except ValueError as error:  # an artifact that the opponent needs is missing
        nobody = Visit(None, None, "", picks.backend, picks.language)
        return screen.problem(error, nobody) | known
    picks = possible(_picks_of(visit.game, picks), backends)
    generation.place = picks.seat, picks.market
    return screen.show(visit, note(visit.translate(remark)) if remark else "") | known


def open_pickers(screen: Screen, visit: Visit | None, kept: str) -> Updates:
    """The pickers as the game that was opened came about; nothing where they are so already."""
    page, backends = screen.page, screen.models["buyer"]
    found = read_kept(kept, backends)
    picks = found.picks if found else FIRST
    if visit is not None and visit.game is not None:
        picks = possible(_picks_of(visit.game, picks), backends)
    if picks == FIRST:
        return {page.seat: gr.skip()}
    translate = translator(picks.language)
    shown = change_language(screen, picks.seat, picks.market, picks.opponent, picks.language)
    return shown | {
        page.head: head(translate),
        page.seat: gr.Radio(seat_choices(translate), value=picks.seat, label=translate("seat")),
        page.language: gr.Radio(value=picks.language, label=translate("language")),
        page.backend: gr.Radio(value=picks.backend, label=translate("backend")),
    }


def _visit(
    screen: Screen, found: Kept | None, picks: Picks, query: Mapping[str, str]
) -> tuple[Visit, str]:
    """The visit that begins, and the key of what is said about it."""

    def visit(game: Game) -> Visit:
        return Visit(game, None, "", picks.backend, picks.language)

    remark = ""
    try:
        if setup := from_query(query):
            return visit(_shared(screen, setup, picks)), "shared_game"
        if found:
            return _former(screen, found), ""
    except Gone:
        remark = "gone" if found.moved else ""
    except MarketGone:
        remark = "gone_market"
    except ValueError:
        remark = "bad_link"
    ready = screen.is_ready(picks.opponent, picks.backend)
    return visit(new_game(picks.seat, picks.market, picks.opponent, ready)), remark


def _shared(screen: Screen, setup: Setup, picks: Picks) -> Game:
    ready = screen.is_ready(setup.opponent, picks.backend)
    return check_market(game_at(setup.task_name, setup.seed, setup.opponent, ready), setup)


def _former(screen: Screen, found: Kept) -> Visit:
    """The visit of this tab before it was loaded again; raises Gone."""
    picks, (former,) = found.picks, states_of(found.session, [screen.page.visit])
    if former is None:
        raise Gone(found.session)
    return replace(former, backend=picks.backend, language=picks.language)


def _picks_of(game: Game, picks: Picks) -> Picks:
    """The choices that led to `game`, where `picks` are others."""
    seat, market = seat_and_market(game.task_name)
    if seat == SELL == picks.seat:
        market = picks.market  # an item, or any
    return replace(picks, seat=seat, market=market, opponent=chosen_opponent(game))
