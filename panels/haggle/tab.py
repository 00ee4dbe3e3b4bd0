"""Haggle: a visitor sells to Sauda or to a scripted buyer, or buys from a seller.

`screen.py` places the components, `callbacks.py` says what happens, and this module says when; and
what a visitor finds on opening the page: a shared game, the one that this tab had, or a new one.

A tab keeps what the visitor chose, too (`panels/ui/resume.py`). An address is made of a finished
game alone, since a seed stands for every hidden value.
"""

import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from panels.haggle import callbacks, opponents
from panels.haggle.challenges import daily, ladder, people, spot
from panels.haggle.result import ASK, first_ask
from panels.haggle.screen import FIRST, PICKS, Layout, Screen, Updates, Visit
from panels.haggle.words import ENGLISH, LANGUAGES, Translate, translator
from panels.site.card import AGAINST, NO_DEAL, PERCENT, SEED, TASK, WON
from panels.site.sessions import state_of
from panels.ui.components.moves import Move
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED, note
from panels.ui.provenance import lay_out_or_say
from panels.ui.resume import TabStore
from panels.ui.visitor import visitor_of
from panels.ui.wiring import bound, named, with_closed
from sauda.records.seeds import whole_seed
from sauda.sessions.bazaar import Game, hears_words

TITLE = "Haggle"
SEATS = (FIRST.seat, opponents.BUY)
STAGE_GAMES_AT_ONCE = 2  # each holds a thread while a stage plays
REPLIES_AT_ONCE = 64  # events that wait for a model; none of them holds a thread
REVIEWS_AT_ONCE = 1  # a search keeps a core busy: side by side they hold up everybody's moves
GONE_TASKS = tuple(
    f"bazaar/{name}" for name in ("bluff", "career", "crowd", "open", "rushed", "mute")
)
FORMER_NAMES = {"bazaar/seller_brief": opponents.BRIEF_TASK}

# Scripts of the browser --------------------------------------------------------------------------

STORE = TabStore("haggle")
WRITE = f"""(session, seat, market, opponent, backend, language, chat) => {{
  const moved = (chat ?? []).some((message) => message.role === "user");
  const kept = {{ session, seat, market, opponent, backend, language, moved }};
  if (session) ({STORE.write})(JSON.stringify(kept));
}}"""
# The address of a shared game is taken away, so that a reload finds the game as it was left; other
# tabs and sub-tabs have addresses of their own.
LEAVE_GAME = f"""
  const address = new URL(location), query = address.searchParams;
  if ((query.get("tab") ?? "haggle") === "haggle" && !query.has("part")) {{
    {[TASK, SEED, AGAINST, ASK, WON]}.forEach((key) => query.delete(key));
    if (address.href !== location.href) history.replaceState(null, "", address);
  }}"""


TO_GAME = "() => goToGame('haggle')"  # of keyboard.js

# When ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    translate, tabs = translator(ENGLISH), {}
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap") as parts:
        with gr.Tab(translate("tab_any"), id="any") as tabs["tab_any"]:
            page = Layout(translate, opponents.models()["buyer"])
            screen = Screen(page, opponents.models())
            _wire(screen, tabs["tab_any"])
            store = ladder.keep(screen)
        with gr.Tab(translate("tab_ladder"), id="ladder") as tabs["tab_ladder"]:
            ladder.build(tabs["tab_ladder"], screen, store, parts)
        for name, part in (("daily", daily), ("spot", spot), ("people", people)):
            with gr.Tab(translate(f"tab_{name}"), id=name) as tabs[f"tab_{name}"]:
                lay_out_or_say(part.build, tabs[f"tab_{name}"], page.language)

    def name_tabs(chosen: str) -> list[gr.Tab]:
        return [gr.Tab(label=translator(chosen)(key)) for key in tabs]

    page.language.change(name_tabs, page.language, list(tabs.values()), **QUIET)


def _wire(screen: Screen, tab: gr.Tab) -> None:
    """A game as the visitor chooses it.

    A visitor's event answers at once, outside Gradio's queue. Where it asks for the language
    model's reply, that streams in an event of its own; so does the review of a finished game, as
    its card appears. The opening may come before the tab was ever open, and is followed by both
    each time: until then the browser has no component that could tell of a change.
    """
    page = screen.page
    opening = _opens(screen, tab)
    page.clock.tick(bound(callbacks.tick, screen), page.visit, [*page.of_game, page.clock], **QUIET)
    _choices(screen)
    _moves(screen)
    for start in (page.asked.change, opening.then):
        replied = start(
            _streamed(callbacks.stream_reply, screen),
            page.visit,
            page.of_game,
            trigger_mode="multiple",
            concurrency_id="haggle-reply",
            concurrency_limit=REPLIES_AT_ONCE,
            **QUEUED,
        )
    for start, callback in (
        (page.after.change, callbacks.stream_review),
        (replied.then, callbacks.review_former),  # of the opening
    ):
        start(
            _streamed(callback, screen),
            page.visit,
            page.review,
            trigger_mode="multiple",
            concurrency_id="haggle-review",
            concurrency_limit=REVIEWS_AT_ONCE,
            **QUEUED,
        )
    page.side.click(
        _streamed(callbacks.ask_stages, screen),
        page.visit,
        [page.after, page.side],
        concurrency_id="haggle-stages",
        concurrency_limit=STAGE_GAMES_AT_ONCE,
        **QUEUED,
    )


def _opens(screen: Screen, tab: gr.Tab) -> Any:
    """The game that the tab opens with; the browser keeps what it takes to find it again."""
    page = screen.page

    def opened(request: gr.Request, stored: str, visit: Visit) -> Updates:
        if visit.game is not None:  # the tab is opened once more
            return screen.unchanged
        session = visitor_of(request).session
        return open_page(screen, stored, request.query_params, session)

    opening = tab.select(
        named(opened, open_page), [page.kept, page.visit], [*page.of_game, page.session],
        js=f"(kept, visit) => [...({STORE.read})(kept), visit]", **QUIET,
    )  # fmt: skip
    pickers = opening.then(bound(open_pickers, screen), page.visit, page.with_words, **QUIET)
    STORE.show_draft(pickers, page.message, LEAVE_GAME)
    keeps = [page.session, *page.picks, page.chat]
    gr.on([part.change for part in keeps], None, keeps, None, js=WRITE, preprocess=False)
    STORE.keep_draft(page.session, page.message)
    return opening


def _choices(screen: Screen) -> None:
    """A new game whenever the visitor chooses another one."""
    page, fields = screen.page, [screen.page.visit, *screen.page.picks]
    gr.on(
        [page.new_game.click, page.backend.input],
        _on_visit(callbacks.begin, screen), fields, page.of_game, **QUIET_UNCHECKED,
    ).then(None, js=TO_GAME)  # fmt: skip
    page.opponent.input(
        _on_visit(callbacks.change_opponent, screen), fields, [*page.of_game, page.opponent],
        **QUIET_UNCHECKED,
    )  # fmt: skip
    with_closed(
        [page.market, page.opponent],
        [page.seat.input, page.market.input],
        _on_visit(callbacks.take_seat, screen), fields,
        [*page.of_game, page.market, page.opponent],
        **QUIET_UNCHECKED,
    )  # fmt: skip
    page.language.input(
        _on_visit(callbacks.change_language, screen), fields, page.with_words, **QUIET_UNCHECKED
    ).then(_on_visit(callbacks.show_again, screen), fields, page.of_game, **QUIET_UNCHECKED)
    starting = [part.input for part in (page.seat, page.opponent, page.backend)]
    gr.on(  # the model of that seat may have to load first
        [*starting, page.after.click, page.model.click],
        lambda: gr.Timer(active=True), None, page.clock, **QUIET,
    )  # fmt: skip


PRESSES: Mapping[str, Callable[[Screen, Visit], Updates]] = {
    "take_back": callbacks.take_back, "begin": callbacks.begin, "stop": callbacks.stop,
    "ask_again": callbacks.show_again, "stand_in": callbacks.play_stand_in,
    "check_health": callbacks.check_health,
}  # fmt: skip
NUMBERED: Mapping[str, Callable[[Screen, int | None, Visit], Updates]] = {  # with a move's number
    "what_if": callbacks.go_back, "question": callbacks.ask_of_move, "level": callbacks.play_level,
}  # fmt: skip


def _moves(screen: Screen) -> None:
    """What the visitor says, and what the buttons within the regions do."""
    page = screen.page

    gr.on(
        [page.message.submit, page.send.click],
        bound(callbacks.send, screen), [page.visit, page.message], [*page.of_game, page.message],
        **QUIET,
    )  # fmt: skip

    def press(move: Move, *given: Any) -> Updates:
        visit, number, name = _visit_of(screen, *given), move.number(), move.name
        if name in PRESSES:
            return PRESSES[name](screen, visit)
        if name in NUMBERED:
            return NUMBERED[name](screen, number, visit)
        if name == "answer":
            return callbacks.ask_of_move(screen, number, visit, move.number(1))
        if name == "try_price":
            return callbacks.ask_of_move(screen, number, visit, text=move.field("price") or "?")
        if name == "replay_item":
            against = replace(visit, opponent=move.field("against"))
            return callbacks.replay_item(screen, against)
        if name == "seat":
            return callbacks.change_seat(screen, opponents.one_of(SEATS, move.what), visit)
        return callbacks.press_quick_move(screen, move.id, visit)

    given = [page.visit, *page.picks]
    gr.on([page.moves.click, page.model.click], press, given, page.of_game, **QUIET_UNCHECKED)
    page.review.click(press, given, [*page.of_game, page.review], **QUIET_UNCHECKED)
    # The ladder's next person may sell what the former bought.
    page.after.click(press, given, [*page.of_game, page.opponent], **QUIET_UNCHECKED).then(
        bound(callbacks.show_place, screen), page.visit, [page.seat, page.market],
        **QUIET_UNCHECKED,
    )  # fmt: skip


def _visit_of(screen: Screen, visit: Visit, *picks: str) -> Visit:
    """The visit that the session keeps, with what the visitor picks now.

    Seat, backend and language are ones that there are; a game's beginning checks the others.
    """
    picked = dict(zip(PICKS, picks, strict=True))
    picked["seat"] = opponents.one_of(SEATS, picked["seat"])
    picked["backend"] = opponents.one_of([*screen.models["buyer"]], picked["backend"])
    picked["language"] = opponents.one_of(opponents.values(LANGUAGES), picked["language"])
    return replace(visit, **picked)


def _on_visit(callback: Callable, screen: Screen) -> Callable:
    """`callback` as Gradio calls it, with the kept visit and the values of `Layout.picks`."""

    def called(*given: Any) -> Updates:
        return callback(screen, _visit_of(screen, *given))

    return named(called, callback)


def _streamed(callback: Callable, screen: Screen) -> Callable:
    """`callback`, an asynchronous generator, as Gradio calls it; it learns who the visitor is.

    Gradio streams generator functions alone, and gives the request to a parameter of its type.
    """

    async def streamed(request: gr.Request, visit: Visit) -> AsyncIterator[Updates]:
        asked = callback(screen, replace(visit, visitor=visitor_of(request)))
        async with aclosing(asked):  # until the visitor leaves
            async for updates in asked:
                yield updates

    return named(streamed, callback)


# Opening the page --------------------------------------------------------------------------------


def open_page(screen: Screen, stored: str, query: Mapping[str, str], session: str) -> Updates:
    """The game that an address names, else the one that this tab was left with, else a new one.

    `stored` is what the tab kept, as JSON, `session` the name of the session that begins now.
    """
    restored, remark = read_kept(stored, screen.models["buyer"]), ""
    visit = Visit(**restored.picks) if restored else Visit()
    translate = visit.translate
    known = {screen.page.session: session, screen.page.visit: visit}
    game = None
    try:
        if game := shared_game(query, screen.is_ready(query.get(AGAINST, ""), visit.backend)):
            remark = friends_result(query, translate)
        elif restored and (former := state_of(restored.session, screen.page.visit)) and former.game:
            visit = replace(former, **restored.picks, generation=visit.generation)
            game = visit.game
        elif restored and restored.moved:
            remark = translate("gone")
    except MarketGone:
        remark = translate("gone_market")
    except ValueError:
        remark = translate("bad_link")
    try:
        ready = screen.is_ready(visit.opponent, visit.backend)
        game = game or opponents.new_game(visit.seat, visit.market, visit.opponent, ready)
    except ValueError as error:  # an artifact that the opponent needs is missing
        return known | screen.problem(error, visit)
    seat, market = opponents.seat_and_market(game.task_name)
    if seat == opponents.SELL == visit.seat:
        market = visit.market  # an item, or any
    visit = replace(
        visit, game=game, seat=seat, market=market, opponent=opponents.chosen_opponent(game)
    )
    visit.generation.place = seat, market
    shown = screen.show(visit, note(remark) if remark else "")
    # Its review comes by an event of its own, `callbacks.review_former`.
    return (
        known | shown | {screen.page.visit: replace(shown[screen.page.visit], review_request=None)}
    )


def open_pickers(screen: Screen, visit: Visit) -> Updates:
    """The pickers as the game that was opened came about.

    Where they are so already, only the items to sell: hundreds, which no page has to wait for.
    """
    page, translate = screen.page, visit.translate
    if all(getattr(visit, name) == getattr(FIRST, name) for name in PICKS):
        return {page.market: gr.Dropdown(opponents.market_choices(visit.seat))}
    seats = opponents.seat_choices(translate)
    return callbacks.change_language(screen, visit, is_open=False) | {
        page.seat: gr.Radio(seats, value=visit.seat, label=translate("seat")),
        page.language: gr.Radio(value=visit.language, label=translate("language")),
        page.backend: gr.Radio(value=visit.backend, label=translate("backend")),
    }


# What a tab kept ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What a tab kept."""

    session: str  # its name before the reload
    picks: Mapping[str, str]  # by the names of PICKS
    moved: bool  # whether the visitor had said anything


def read_kept(text: str, backends: Collection[str]) -> Kept | None:
    """What a tab kept, from the JSON that it sent; None for anything else.

    Choices that the page does not have are replaced by those it opens with.
    """
    try:
        stored = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(stored, dict) or not isinstance(stored.get("session"), str):
        return None
    seat = opponents.one_of(SEATS, stored.get("seat"))
    market, opponent = opponents.choose_offered(
        seat, stored.get("market", FIRST.market), stored.get("opponent", FIRST.opponent)
    )
    backend = opponents.one_of([FIRST.backend, *backends], stored.get("backend"))
    language = opponents.one_of(
        [FIRST.language, *opponents.values(LANGUAGES)], stored.get("language")
    )
    picks = dict(zip(PICKS, (seat, market, opponent, backend, language), strict=True))
    return Kept(stored["session"], picks, stored.get("moved") is True)


# What an address names ----------------------------------------------------------------------------


def friends_result(query: Mapping[str, str], translate: Translate) -> str:
    """What the friend who sent a game's address won in it; without that, that it is a friend's."""
    won = query.get(WON, "")
    if won == NO_DEAL:
        return translate("friend_no_deal")
    if not PERCENT.fullmatch(won):
        return translate("shared_game")
    return translate("friend_lost" if int(won) < 0 else "friend_took", share=f"{won}%")


class MarketGone(ValueError):
    """A link to a game of a market that the page no longer has."""


def shared_game(query: Mapping[str, str], ready: bool = True) -> Game | None:
    """The game that an address names, a hidden opponent hidden from the friend, too.

    None where it names none: an address of another tab may have a task and a seed. Raises
    ValueError for what the page does not offer, MarketGone for a game of the former open market:
    there the seed drew another deal, whose first ask was another one, and links named none.
    """
    if query.get("tab", "haggle") != "haggle" or not {TASK, SEED} <= query.keys():
        return None
    if query[TASK] in GONE_TASKS:
        raise MarketGone(query[TASK])
    task_name = FORMER_NAMES.get(query[TASK], query[TASK])
    game = opponents.game_at(task_name, whole_seed(query[SEED]), query.get(AGAINST, ""), ready)
    if hears_words(game) and query.get(ASK) != str(first_ask(game)):
        raise MarketGone(task_name)
    return game
