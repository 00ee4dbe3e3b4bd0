"""Bargain of the day: one item and seed for everybody, a rank, a link that replays the game.

The rank is open, and says so: whoever knows the date can practise the game, and a friend's link
shows one. Haggle's callbacks make the moves. A callback takes the screen and the values of its
inputs, and returns new values by component.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import count, takewhile
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import EndReason, rupees
from panels.haggle import ending as endings
from panels.haggle import result
from panels.haggle.challenges import subtab
from panels.haggle.challenges.subtab import (
    PLACES,
    PLAYS,
    VISITOR,
    BargainPage,
    BargainScreen,
    BargainVisit,
)
from panels.haggle.conversation import NOTE, SILENT, Chat, chart_words, chat_of
from panels.haggle.game_view import bubbles, chart
from panels.haggle.words import ENGLISH, Translate, translate_error, translator
from panels.site.card import WON
from panels.site.sessions import state_of
from panels.ui.components.moves import Moves, button
from panels.ui.html import macros
from panels.ui.look import QUIET, note, trouble, with_minus_signs
from panels.ui.offers import SMALL, ending
from panels.ui.wiring import Updates, region
from sauda.language.lines import name_in
from sauda.llm.types import ReplyError
from sauda.serve.leaderboard import Unavailable
from sauda.sessions import daily as session
from sauda.sessions.bazaar import Game, Standing, as_episode, moves_of, rank, rank_standings
from sauda.sessions.ladder import person_of

HTML = macros("challenges")
IN_ADDRESS = ("day", "moves")
MOST_KEPT = 60  # games in a browser, the newest days


class DailyPage(BargainPage):
    """Every component that a callback reads or writes."""

    def __init__(self) -> None:
        super().__init__("daily")
        # Which day's bargain this is, what is wrong with the address, a friend's game.
        self.head = Moves(elem_id="daily-head")
        self.lay_out_game()
        label = translator(ENGLISH)("daily_count")
        self.counted = gr.Checkbox(label=label, elem_id="daily-counted")
        # Own games, day -> code, and VISITOR -> a token. The key is no secret: it only has to stay.
        self.keep("bargain-of-the-day")
        self.with_words += [self.counted]


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    page = DailyPage()
    screen = DailyScreen(page, {})
    values = screen.fields(language)

    def opened(request: gr.Request, *given: Any) -> Updates:
        *fields, former = given
        return open_day(screen, request.query_params, former, screen.visit_of(request, *fields))

    subtab.wire_reload(page, tab, language, opened, values, page.of_game, page.message)
    screen.wire(tab, language, [page.moves, page.head], "watch", watch)
    counting = page.counted.input(
        screen.on_visit(count_me),
        [page.counted, *values],
        [page.kept, page.counted, page.moves],
        js=page.reads,
        **QUIET,
    )
    # The table of players appears when a game ends: no other move costs a queued event.
    plays = (screen.on_visit(let_sauda_play), values, page.players)
    gr.on([page.players.change, page.players.click], *plays, js=page.reads, **PLAYS)
    counting.then(*plays, js=page.reads, **PLAYS)


# The visit --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DailyVisit(BargainVisit):
    """The values of a visitor's screen; with a game there is a day."""

    day: date | None = None  # that is open
    asked: tuple[str | None, ...] = ()  # day and moves of the address, as they came
    linked: Game | None = None  # the finished game that the address holds, if any
    watched: bool = False  # whether the visitor asked for a friend's game before the own one
    kept: Mapping[str, str] = field(default_factory=dict)  # own games, running or over: day -> code
    notice: Markup | str = ""  # what is wrong with the address

    @cached_property
    def chat(self) -> Chat:
        """The game's chat: nobody knows the words of a move of the browser's memory or a button."""
        return chat_of(self.game, self.talk, self.language, in_prices=True)

    @property
    def you(self) -> Standing:
        """The visitor's standing in the finished game."""
        return endings.standing_of(self.game)

    @property
    def streak(self) -> int:
        """How many days in a row, up to the open one, this browser has a game of."""
        days = (self.day - timedelta(days=back) for back in count())
        return sum(1 for _ in takewhile(lambda day: day.isoformat() in self.kept, days))

    @property
    def code(self) -> str | None:
        """What the browser kept of the day's game."""
        return self.kept.get(self.day.isoformat())

    @property
    def friend(self) -> Game | None:
        """The friend's game of the link; None where the link holds the visitor's own."""
        is_own = self.linked is not None and self.code == session.encode(self.linked)
        return None if is_own else self.linked


# The screen -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DailyScreen(BargainScreen):
    """The components of the bargain of the day."""

    page: DailyPage
    visit_type = DailyVisit

    def read(self, stored: object) -> dict[str, Any]:
        return {"kept": subtab.texts_in(stored)}

    def words(self, visit: DailyVisit) -> Updates:
        counted = gr.update(value=VISITOR in visit.kept, label=visit.translate("daily_count"))
        return super().words(visit) | {self.page.counted: counted}

    def after_the_end(self, visit: DailyVisit) -> str:
        """That the bargain is over, whatever was written."""
        of_today = visit.day == session.today()
        return visit.translate("daily_over" if of_today else "daily_over_before")

    def from_another_tab(self, visit: DailyVisit) -> Updates | None:
        if visit.game is None or visit.code in (None, session.encode(visit.game)):
            return None
        try:
            game = session.resume(visit.day, visit.code)
        except session.BadLink:  # as the visitor was told when the day was opened
            return None
        now = replace(visit, game=game, talk=SILENT)
        return self.show(now, note(visit.translate("daily_elsewhere")))

    def show(self, visit: DailyVisit, problem: Markup | str = "") -> Updates:
        """Everything that shows the game of `visit`; what is hidden shows once it is over."""
        page, game, translate = self.page, visit.game, visit.translate
        if moves_of(game):
            codes = {**visit.kept, visit.day.isoformat(): session.encode(game)}
            visit = replace(visit, kept=dict(sorted(codes.items())[-MOST_KEPT:]))
        return self.table(visit, problem) | {
            page.kept: dict(visit.kept),
            page.head: self.head(visit),
            page.result: show_result(visit) if game.over else note(translate("hidden_limit")),
            page.players: players(visit, translate("daily_waits")) if game.over else "",
        }

    def head(self, visit: DailyVisit) -> Markup:
        """Which day's bargain is open, what is wrong with the address, a friend's game."""
        day, shown, translate = visit.day, Markup(""), visit.translate
        if visit.friend is not None:
            shown = show_friend(visit)
        elif visit.linked is not None:
            shown = note(translate("daily_own_link"))
        before = day_address(day - timedelta(days=1))
        across, named = person_of(visit.game), day_in_words(day, translate)
        person = (across.face, *(across.text(what, visit.language) for what in ("name", "line")))
        return HTML.day(named, before, visit.notice, person, shown, translate)


def show_friend(visit: DailyVisit) -> Markup:
    """The game that a link holds: who may see it now, its replay, both games once both are over.

    Limits show only when the visitor's own game is over. Nobody is "you" in a friend's game.
    """
    friend, mine, translate = visit.friend, visit.game, visit.translate
    if not (mine.over or visit.watched):
        return HTML.play_first(translate)
    chat = chat_of(friend, language=visit.language, in_prices=True)
    end, cards = ending(friend.play.state.table.past[-1], chart_words(translate)), ""
    if mine.over:
        ends = (
            ("daily_you", mine, result.ending_of(mine, translate)),
            ("daily_friend", friend, end),
        )
        cards = result.HTML.games(
            [(translate(name), chart(game, SMALL, translate),
              f"{how}; {result.share_won(game, translate)}") for name, game, how in ends]
        )  # fmt: skip
    both = [message for message in chat.messages if message["role"] != NOTE]
    lines = [(message["role"], Markup(message["content"])) for message in bubbles(both)]
    return HTML.friend(lines, end, cards, translate)


def show_result(visit: DailyVisit) -> Markup:
    """The ending with what to share, the place among the scripts; what was hidden."""
    game, translate = visit.game, visit.translate
    everybody = rank_standings([visit.you, *session.scripts(visit.day)])
    place = f"{result.describe_place(game, everybody, translate)} "
    place += translate("daily_streak", count=visit.streak)
    before = day_address(visit.day - timedelta(days=1))
    steps, picture = [(translate("daily_before"), "", before)], result.picture_of(game)
    press = result.HTML.press(steps, "#daily-text", picture, translate)
    parts = [
        result.card(game, translate, visit.language, press, place),
        note(translate("daily_open")),
        result.revealed(game, translate),
        result.replay_note(game, everybody, translate),
        show_share(visit, translate("place_number", place=rank(everybody)[0], all=len(everybody))),
    ]
    return Markup("").join(parts)


def players(visit: DailyVisit, about_sauda: str, sauda: Sequence[Standing] = ()) -> Markup:
    """All who played the day's seed, best first, and what is said of Sauda."""
    friends = []
    if visit.friend is not None:
        name = visit.translate("daily_friend").lower()
        friends = [session.player(name, as_episode(visit.friend))]
    rows = rank_standings([visit.you, *friends, *session.scripts(visit.day), *sauda])
    return result.compare(rows, visit.translate) + note(about_sauda)


# What a visitor sends to friends -----------------------------------------------------------------

# A bid's block, by the least distance from the ask before it, as a share of the list price.
BLOCKS = {0.30: "🟥", 0.15: "🟧", 0.05: "🟨"}
CLOSE = "🟩"
ENDS = {EndReason.AGREEMENT: "🤝", EndReason.WALKAWAY: "🚶", EndReason.DEADLINE: "⌛"}


def day_in_words(day: date, translate: Translate) -> str:
    """The day as "23 November 2026"."""
    month = translate("daily_months").split()[day.month - 1]
    return f"{day.day} {month} {day.year}"


def day_address(day: date, code: str = "") -> str:
    """The query string that opens a day's bargain, with the game of `code` if there is one."""
    moves = f"&moves={code}" if code else ""
    return f"?tab=haggle&part=daily&day={day.isoformat()}{moves}"


def show_share(visit: DailyVisit, place: str) -> Markup:
    """A text, a link that replays the game, and a picture in the size in which links are shown.

    `place` is the one among the scripts. Text and picture name no price of the game: whoever sees
    them can still play.
    """
    game, translate = visit.game, visit.translate
    table, day = game.play.state.table, day_in_words(visit.day, translate)
    won = with_minus_signs(f"{visit.you.share:.0%}")
    name = name_in(visit.language, table.item.name)
    item = translate("daily_item", item=name, price=rupees(table.item.list_price))
    lines = [
        translate("daily_title", day=day, item=item),
        f"{translate('of_winnable', share=won)}; {translate('daily_place', place=place)}",
        blocks(game),
    ]
    link = f"{visit.origin}/{day_address(visit.day, session.encode(game))}"
    link += f"&{WON}={result.won_in_link(game)}"
    return HTML.share(
        "daily", lines, link, result.picture_of(game), translate("daily_share_lead"), translate
    )


def blocks(game: Game) -> str:
    """A coloured block per bid, by its distance from the ask, then how the game ended: no price."""
    table, shown = game.play.state.table, ""
    for ask, bid in zip(table.asks, table.bids, strict=False):
        gap = (ask - bid) / table.item.list_price
        shown += next((block for share, block in BLOCKS.items() if gap > share), CLOSE)
    return shown + ENDS.get(table.past[-1].end, "")


# Events -----------------------------------------------------------------------------------------


def open_day(
    screen: DailyScreen, address: Mapping[str, str], former: str, visit: DailyVisit
) -> Updates:
    """The bargain that the address names, today's where it names none.

    A game under way stays, drawn anew in the visitor's language; one that this browser has begun
    goes on, and one that it has finished shows its end. Where the address names no such game, a
    sentence says so and the day's own opens. `former` is the name of this tab's session before.
    """
    asked = tuple(
        named and named[: session.LONGEST_CODE + 1] for named in map(address.get, IN_ADDRESS)
    )
    if visit.game and asked in ((None, None), visit.asked):
        return screen.show(visit)
    faults = []
    day, friend = session.today(), None
    try:
        day = session.day_of(asked[0])
        friend = session.replay(day, asked[1]) if asked[1] is not None else None
    except session.BadLink as error:
        faults.append(str(translate_error(error, visit.language)))
    link = {"day": day, "asked": asked, "linked": friend, "watched": False}
    opened = replace(visit, game=None, talk=SILENT, **link)
    fresh = _former(screen, former, opened)
    if fresh is None:
        game = session.bargain_of(day)
        try:
            game = game if opened.code is None else session.resume(day, opened.code)
        except session.BadLink:
            faults.append(visit.translate("daily_kept_broken"))
        fresh = replace(opened, game=game)
    notice = trouble(ValueError(" ".join(faults))) if faults else ""
    return screen.show(replace(fresh, notice=notice))


def _former(screen: DailyScreen, name: str, visit: DailyVisit) -> DailyVisit | None:
    """The visit with the game and the words of this tab's former session.

    None where that session is gone, or had another game than the one that the browser kept.
    """
    former = state_of(name, screen.page.visit)
    if former is None or former.day != visit.day:
        return None
    if visit.code not in (None, session.encode(former.game)):
        return None
    return replace(visit, game=former.game, talk=former.talk, watched=former.watched)


def watch(screen: DailyScreen, visit: DailyVisit) -> Updates:
    """The friend's game before the own one, for a visitor who asks for it."""
    if visit.game is None or visit.linked is None:
        return screen.unchanged
    return screen.show(replace(visit, watched=True))


def let_sauda_play(screen: DailyScreen, visit: DailyVisit) -> Updates:
    """Sauda's row in the table of a finished game, once it has played; why there is none."""
    shown, translate, rows = screen.page.players, visit.translate, []
    if visit.game is None or not visit.game.over:
        return {shown: gr.skip()}  # Gradio takes no empty dictionary
    if not (about_sauda := subtab.absent(translate)):
        try:
            rows = [subtab.sauda_at(visit.game.play.seed, translate)]
            shares = {"sauda": rows[0].share, "share": visit.you.share}
            percentages = {who: with_minus_signs(f"{s:z.0%}") for who, s in shares.items()}
            about_sauda = translate("daily_played", **percentages)
        except ReplyError as error:
            about_sauda = translate("daily_failed", reason=translate_error(error, visit.language))
    ask = Markup("") if rows else button(translate("daily_ask_sauda"), "ask")
    people = region("daily-people", among_people(visit))
    return {shown: players(visit, about_sauda, rows) + ask + people}


def count_me(screen: DailyScreen, counted: bool, visit: DailyVisit) -> Updates:
    """Let the games of this browser count among people's from now on, or no longer.

    Where what was stored cannot be deleted now, they count on.
    """
    try:
        return {screen.page.kept: subtab.count_visitor(counted, visit.kept)}
    except Unavailable as error:
        return screen.problem(error, visit) | {screen.page.counted: True}


def among_people(visit: DailyVisit) -> Markup:
    """The visitor's place among all whose games of the day count; "" where the own one does not."""
    visitor = visit.kept.get(VISITOR)
    if visitor is None:
        return Markup("")
    mine = visit.you.grade
    try:
        grades = subtab.count_game(visit.day.isoformat(), visitor, mine, visit.address)
    except Unavailable as error:
        return trouble(error)
    if grades is None:
        return note(visit.translate("daily_crowded", most=PLACES))
    place = 1 + sum(grade > mine for grade in grades.values())
    return note(visit.translate("daily_among", place=place, all=len(grades)))
