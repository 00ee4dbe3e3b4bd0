"""For the record: a person's five bargains at hidden seeds, kept with consent, beside Sauda's.

The moves are made by Haggle's callbacks and stored in the leaderboard's file before they are shown.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.challenges.daily import sauda_plays
from panels.challenges.language import followed, lay_out_language, lead
from panels.haggle import callbacks as haggle
from panels.haggle.conversation import SILENT, chat_of
from panels.haggle.game_view import brief, bubbles, chart, quick_buttons
from panels.haggle.layout import lay_out_talk
from panels.haggle.result import compared, oracle_line, seller_line, took, zopa_bar
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.words import ENGLISH, Translate, Trouble, translated, translator
from panels.site.sessions import HOUR, no_longer_here
from panels.site.visitor import visitor_of
from panels.tour.figures import points
from panels.ui.look import QUEUED, QUIET, heading, note, stat, strip, trouble
from panels.ui.tables import with_interval
from panels.ui.wiring import PRESS, button, event_value, named, region, sent_number
from sauda.llm.backends import THIS_PAGE
from sauda.llm.types import ReplyError
from sauda.serve.http import ENTRIES_IN_ALL, ENTRIES_OF_ADDRESS
from sauda.serve.leaderboard import HOURS, Place, Unavailable, own_board, rules_of
from sauda.serve.limits import Limiter
from sauda.serve.names import LONGEST_NAME, check_name
from sauda.serve.people import GAMES, TASK, next_bargain, record_moves, tally
from sauda.sessions.bazaar import Game, as_episode, rank_standings, stand
from sauda.sessions.review import informed_grade

NAME = "people"
# Where a browser keeps the token of its entry. The key is no secret: it only has to stay the same.
KEPT, KEPT_KEY = "sauda-people", "for-the-record"
LINKS = Markup(
    '<p class="sauda-note"><a class="sauda-inpage" href="?tab=results&part=leaderboard">{}</a> · '
    '<a href="leaderboard/people" download="people.json">{}</a></p>'
)
PERCENT = "z.0%"
ENTERED = Limiter(ENTRIES_OF_ADDRESS, ENTRIES_IN_ALL, seconds=3600.0)


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    title: gr.HTML
    language: gr.Radio
    head: gr.HTML  # which game this is; the stylesheet shows the form, the game or both by it
    name: gr.Textbox
    consent: gr.Checkbox
    start: gr.Button
    brief: gr.HTML
    chat: gr.Chatbot
    message: gr.Textbox
    send: gr.Button
    moves: gr.HTML  # what is wrong, and the quick moves
    offers: gr.HTML
    result: gr.HTML  # and the way to the next game
    players: gr.HTML  # the person beside Sauda, once both have played
    tally: gr.HTML
    visit: gr.State  # a PeopleVisit
    kept: gr.BrowserState  # {"token": …}

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.visit, self.kept, self.head, self.brief, self.chat, self.moves, self.offers,
            self.result, self.players,
        ]  # fmt: skip

    @property
    def with_words(self) -> list[Any]:
        """The components whose own words follow the language."""
        return [
            self.title, self.language, self.name, self.consent, self.start, self.send, self.message,
            self.tally,
        ]  # fmt: skip


@dataclass(frozen=True)
class PeopleVisit(Visit):
    """The values of a visitor's screen."""

    place: Place | None = None
    token: str = ""

    @property
    def kept_game(self) -> Game:
        if self.game is None:
            raise IllegalAction(f"{no_longer_here('this game was')}; open the page again")
        return self.game

    @property
    def is_last(self) -> bool:
        """Whether the game on show is over and no other one follows."""
        return self.game.over and self.place.number == self.place.games


@dataclass(frozen=True, eq=False)
class PeopleScreen(Screen):
    """The components of the sub-tab."""

    page: Layout

    def after_the_end(self, visit: PeopleVisit) -> str:
        return visit.translate("people_over")

    def words(self, visit: PeopleVisit) -> Updates:
        """The tally and the own words, in the visitor's language, of the form."""
        page, translate = self.page, visit.translate
        return followed(page.language, visit.language) | {
            page.title: heading(translate("tab_people"), translate("people_lead")),
            page.name: gr.update(label=translate("people_name")),
            page.consent: gr.update(label=translate("people_consent")),
            page.start: translate("people_start"),
            page.send: translate("send"),
            page.message: gr.update(label=translate("price"), placeholder=translate("placeholder")),
            page.tally: show_tally(translate),
        }

    def show(self, visit: PeopleVisit, problem: Markup | str = "") -> Updates:
        """The game of `visit`, or nothing beside the form where there is none."""
        page, game, translate = self.page, visit.game, visit.translate
        known = {page.visit: visit, page.kept: {"token": visit.token}, page.head: head(visit)}
        if game is None:
            return known
        chat = chat_of(game, visit.talk, visit.language)
        return known | {
            page.brief: brief(game, translate, visit.language),
            page.chat: gr.update(value=bubbles(chat.messages), placeholder=translate("unpacking")),
            page.moves: self.moves(visit, problem),
            page.offers: chart(game, translate=translate),
            page.result: result(visit),
            page.players: note(translate("daily_waits")) if game.over else "",
        }

    def moves(self, visit: PeopleVisit, problem: Markup | str = "") -> Markup:
        """What is wrong, and the quick moves until the game is over."""
        game = visit.game
        quick = quick_buttons(game, len(game.play.turns), visit.translate)
        return region("people-problem", problem) + (quick if not game.over else "")

    def show_move(self, before: PeopleVisit, after: PeopleVisit) -> Updates:
        """What a move changes, once it is stored; a move that cannot be stored is not made."""
        try:
            record_moves(own_board(), after.token, after.game)
        except ValueError as error:
            return self.refuse(error, before)
        return self.show(after)

    def refuse(self, error: Exception, visit: PeopleVisit, key: str = "") -> Updates:
        """The sentence of `error`; in a language in which it has none, that of `key`."""
        if visit.language != ENGLISH and not isinstance(error, Trouble):
            error = Trouble(key or "people_not_now")
        if visit.game is None:
            return {self.page.head: trouble(translated(error, visit.language))}
        return self.problem(error, visit)


def head(visit: PeopleVisit) -> Markup:
    """Which of the entry's games this is, or what all of them came to; "" beside the form alone."""
    place, game, translate = visit.place, visit.game, visit.translate
    if game is None:
        return Markup("")
    entry = own_board().entry(place.entry) if visit.is_last else None
    state = "last" if visit.is_last else "over" if game.over else "open"
    said = (
        translate("people_done", all=entry.n, grade=with_interval(entry.grade))
        if entry
        else translate("people_head", number=place.number, all=place.games, hours=f"{HOURS:.0f}")
    )
    return Markup('<div data-people="{}">{}</div>').format(state, note(said))


def result(visit: PeopleVisit) -> Markup:
    """The verdict on a finished game, all that was hidden but the seed, and the way to the next.

    Empty before the end.
    """
    game, translate = visit.game, visit.translate
    if not game.over:
        return Markup("")
    played = as_episode(game)
    you = stand("you", game.task, played, visitor=True)
    return Markup("").join(
        [
            took(you, translate),
            zopa_bar(game, translate),
            seller_line(played, translate),
            oracle_line(game.task, played, translate),
            button(translate("people_next"), press="next") if not visit.is_last else "",
        ]
    )


def show_tally(translate: Translate) -> Markup:
    """People against Sauda in figures, the leaderboard, and the file of all games."""
    try:
        found = tally(own_board())
    except Unavailable as error:
        return trouble(error)
    links = LINKS.format(translate("people_board"), translate("people_export"))
    if found is None:
        return note(translate("people_nobody")) + links
    figures = [
        (found.person, "people_people"), (found.sauda, "people_sauda"),
        (found.oracle, "people_oracle"),
    ]  # fmt: skip
    cards = [
        stat(
            f"{one.mean:{PERCENT}}", translate(key), f"[{one.low:{PERCENT}}, {one.high:{PERCENT}}]"
        )
        for one, key in figures
    ]
    less, _, interval = points(found.difference).partition(" ")
    counted = translate("people_n", n=found.n, people=found.people)
    return strip(*cards, stat(less, translate("people_less"), interval)) + note(counted) + links


# Events -----------------------------------------------------------------------------------------


def opened(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The game on show in the visitor's language, else the one that this browser's entry plays."""
    if visit.game is not None or not visit.token:
        return screen.show(visit)
    try:
        place, game = next_bargain(own_board(), visit.token)
    except ValueError:  # the entry is complete, its time is over, or the token is none of ours
        return screen.show(replace(visit, token=""))
    return screen.show(replace(visit, place=place, game=game))


def enter(
    screen: PeopleScreen, address: str, name: str, consent: bool, visit: PeopleVisit
) -> Updates:
    """The first game of a new entry, for somebody who agrees to what is kept."""
    try:
        if consent is not True:
            raise Trouble("people_agree")
        chosen = check_name(name or "")
    except ValueError as error:
        return screen.refuse(error, visit, "people_bad_name")
    if not ENTERED.take(address):
        return screen.refuse(Trouble("people_often"), visit)
    try:
        ticket = own_board().enter(chosen, TASK, rules_of(TASK), GAMES, person=True)
    except Unavailable as error:
        return screen.refuse(error, visit)
    return follow(screen, replace(visit, token=ticket.token))


def follow(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The entry's next game."""
    try:
        place, game = next_bargain(own_board(), visit.token)
    except ValueError as error:
        return screen.refuse(error, visit)
    return screen.show(replace(visit, place=place, game=game, talk=SILENT))


def let_sauda_play(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The person's row beside Sauda's at the same seed, which is stored for the tally."""
    page, game, translate = screen.page, visit.game, visit.translate
    if game is None or visit.place is None or not game.over:
        return {page.players: gr.skip()}
    if absent := sauda_plays.absent(sauda_plays.stage(), translate):
        return {page.players: note(absent)}
    try:
        sauda = replace(sauda_plays.standing_of(game.play.seed), name=translate("daily_sauda"))
        own_board().pair(visit.place, sauda.grade, informed_grade(game.task, game.play.seed))
    except (ReplyError, Unavailable) as error:
        return screen.refuse(error, visit)
    you = stand("you", game.task, as_episode(game), visitor=True)
    caption = translate("people_beside", number=visit.place.number)  # the next one may be on
    rows = compared(rank_standings([you, sauda]), translate, caption)
    return {page.players: rows, page.tally: show_tally(translate)}


# Layout -----------------------------------------------------------------------------------------


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    page = lay_out()
    screen = PeopleScreen(page, {})
    values = [page.visit, page.message, language, page.kept]

    def on_visit(callback: Callable, *bound: Any) -> Callable:
        def called(*given: Any) -> Updates:
            own, visit = given[: -len(values)], _visit(*given[-len(values) :])
            return callback(screen, *bound, *own, visit)

        return named(called, callback)

    def entered(request: gr.Request, *given: Any) -> Updates:
        return on_visit(enter, visitor_of(request).address)(*given)

    def press(event: gr.EventData, *given: Any) -> Updates:
        if event_value(event, "press") == "next":
            return follow(screen, _visit(*given))
        number, turns = sent_number(event, "number"), sent_number(event, "turns")
        return haggle.press_quick_move(screen, number, turns, _visit(*given))

    starts = [tab.select, language.change]
    for callback, outputs in ((opened, page.of_game), (PeopleScreen.words, page.with_words)):
        gr.on(starts, on_visit(callback), values, outputs, trigger_mode="always_last", **QUIET)
    lead(page.language, language)
    gr.on(
        [page.start.click, page.name.submit],
        named(entered, enter), [page.name, page.consent, *values], page.of_game, **QUIET,
    )  # fmt: skip
    gr.on(
        [page.message.submit, page.send.click],
        on_visit(haggle.send), values, [*page.of_game, page.message], **QUIET,
    )  # fmt: skip
    gr.on(
        [page.moves.click, page.result.click],
        named(press, haggle.press_quick_move), values, page.of_game, **QUIET,
    )  # fmt: skip
    page.players.change(
        on_visit(let_sauda_play), values, [page.players, page.tally, page.moves],
        **QUEUED, concurrency_id="daily", concurrency_limit=1,
    )  # fmt: skip


def _visit(kept: Any, text: str, language: str, stored: object) -> PeopleVisit:
    token = stored.get("token", "") if isinstance(stored, dict) else ""
    return replace(
        kept or PeopleVisit(None, None, "", THIS_PAGE, language),
        text=text, language=language, token=token if isinstance(token, str) else "",
    )  # fmt: skip


def lay_out() -> Layout:
    translate = translator(ENGLISH)
    with gr.Row(elem_classes="sauda-head"):
        title = gr.HTML(heading(translate("tab_people"), translate("people_lead")))
        language = lay_out_language(NAME)
    with gr.Column(elem_id="people-form"):
        name = gr.Textbox(
            label=translate("people_name"), max_lines=1, max_length=LONGEST_NAME,
            elem_id="people-name",
        )  # fmt: skip
        consent = gr.Checkbox(label=translate("people_consent"), elem_id="people-consent")
        start = gr.Button(translate("people_start"), variant="primary", scale=0, min_width=220)
    said = gr.HTML(elem_id="people-head")
    with gr.Column(elem_id="people-game"):
        with gr.Row():
            with gr.Column(scale=2, min_width=240):
                shown = gr.HTML(elem_id="people-brief")
            with gr.Column(scale=4, min_width=320):
                talk = lay_out_talk(NAME, translate)
            with gr.Column(scale=4, min_width=320):
                offers = gr.HTML(elem_id="people-chart")
        after = gr.HTML(elem_id="people-result", js_on_load=PRESS)
        players = gr.HTML(elem_id="people-players")
    counted = gr.HTML(elem_id="people-tally")
    return Layout(
        title, language, said, name, consent, start, shown, **talk, offers=offers, result=after,
        players=players, tally=counted, visit=gr.State(None, time_to_live=HOUR),
        kept=gr.BrowserState({}, storage_key=KEPT, secret=KEPT_KEY),
    )  # fmt: skip
