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
from panels.challenges.daily.layout import lay_out_talk
from panels.challenges.language import followed, lay_out_language, lead
from panels.haggle import callbacks as haggle
from panels.haggle.game_view import brief, bubbles, chart
from panels.haggle.review.card import took
from panels.haggle.review.result_view import compared, oracle_line, seller_line, zopa_bar
from panels.haggle.screen import Screen, Updates, Visit, quick_buttons
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.trouble import Trouble, translated
from panels.haggle.words import ENGLISH, Translate, translator
from panels.site.sessions import HOUR, no_longer_here
from panels.site.visitor import visitor_of
from panels.tour.facts import points
from panels.ui.look import QUEUED, QUIET, heading, note, stat, strip, trouble
from panels.ui.tables import with_interval
from panels.ui.wiring import named
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
    head: gr.HTML
    entering: gr.Column
    name: gr.Textbox
    consent: gr.Checkbox
    start: gr.Button
    playing: gr.Column
    brief: gr.HTML
    chat: gr.Chatbot
    saying: gr.Row
    message: gr.Textbox
    send: gr.Button
    problem: gr.HTML
    quick: gr.Row
    quick_moves: tuple[gr.Button, ...]
    offers: gr.HTML
    result: gr.HTML
    players: gr.HTML  # the person beside Sauda, once both have played
    following: gr.Button
    tally: gr.HTML
    game: gr.State
    talk: gr.State
    place: gr.State  # of the entry's game: a leaderboard.Place, or None
    shown_turns: gr.Number
    kept: gr.BrowserState  # {"token": …}

    @property
    def shown(self) -> list[Any]:
        """All components but those that a visitor alone fills."""
        return [
            self.title, self.language, self.head, self.entering, self.name, self.consent,
            self.start, self.playing, self.brief, self.chat, self.saying, self.message, self.send,
            self.problem, self.quick, *self.quick_moves, self.offers, self.result, self.players,
            self.following, self.tally, self.game, self.talk, self.place, self.shown_turns,
            self.kept,
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

    def show(self, visit: PeopleVisit, problem: Markup | str = "") -> Updates:
        """The words, the tally, and the game of `visit`, or the form where there is none."""
        page, game, translate = self.page, visit.game, visit.translate
        form = {
            page.title: heading(translate("tab_people"), translate("people_lead")),
            page.name: gr.update(label=translate("people_name")),
            page.consent: gr.update(label=translate("people_consent")),
            page.start: translate("people_start"),
            page.send: translate("send"),
            page.message: gr.update(label=translate("price"), placeholder=translate("placeholder")),
            page.tally: show_tally(translate),
            page.problem: problem,
            page.game: game,
            page.talk: visit.talk,
            page.place: visit.place,
            page.kept: {"token": visit.token},
            page.playing: gr.update(visible=game is not None),
            page.entering: gr.update(visible=game is None or visit.is_last),
        } | followed(page.language, visit.language)
        if game is None:
            return form | {page.head: ""}
        return form | {
            page.head: note(head(visit)),
            page.shown_turns: len(game.play.turns),
            page.brief: brief(game, translate, visit.language),
            page.chat: gr.update(
                value=bubbles(chat_of(game, visit.talk, visit.language).messages),
                placeholder=translate("unpacking"),
            ),
            page.saying: gr.update(visible=not game.over),
            page.quick: gr.update(visible=not game.over),
            **dict(zip(page.quick_moves, quick_buttons(game, translate), strict=True)),
            page.offers: chart(game, translate=translate),
            page.result: result(visit),
            page.players: note(translate("daily_waits")) if game.over else "",
            page.following: gr.update(
                value=translate("people_next"), visible=game.over and not visit.is_last
            ),
        }

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
        place = self.page.head if visit.game is None else self.page.problem
        return {place: trouble(translated(error, visit.language))}


def head(visit: PeopleVisit) -> str:
    """Which of the entry's games this is, or what all of them came to."""
    place, entry = visit.place, own_board().entry(visit.place.entry) if visit.is_last else None
    if entry is None:
        return visit.translate(
            "people_head", number=place.number, all=place.games, hours=f"{HOURS:.0f}"
        )
    grade = with_interval(entry.grade)
    return visit.translate("people_done", all=entry.n, grade=grade)


def result(visit: PeopleVisit) -> Markup:
    """The verdict on a finished game and all that was hidden but the seed; "" before the end."""
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
    values = [page.game, page.message, language, page.talk, page.place, page.kept]

    def on_visit(callback: Callable, *bound: Any) -> Callable:
        def called(*given: Any) -> Updates:
            own, visit = given[: -len(values)], _visit(*given[-len(values) :])
            return callback(screen, *bound, *own, visit)

        return named(called, callback)

    def entered(request: gr.Request, *given: Any) -> Updates:
        return on_visit(enter, visitor_of(request).address)(*given)

    gr.on(
        [tab.select, language.change], on_visit(opened), values, page.shown,
        trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    lead(page.language, language)
    gr.on(
        [page.start.click, page.name.submit],
        named(entered, enter), [page.name, page.consent, *values], page.shown, **QUIET,
    )  # fmt: skip
    gr.on(
        [page.message.submit, page.send.click], on_visit(haggle.send), values, page.shown, **QUIET
    )
    for number, button in enumerate(page.quick_moves):
        press = on_visit(haggle.press_quick_move, number)
        button.click(press, [page.shown_turns, *values], page.shown, **QUIET)
    page.following.click(on_visit(follow), values, page.shown, **QUIET)
    page.players.change(
        on_visit(let_sauda_play), values, [page.players, page.tally, page.problem],
        **QUEUED, concurrency_id="daily", concurrency_limit=1,
    )  # fmt: skip


def _visit(game: Any, text: str, language: str, talk: Any, place: Any, kept: object) -> PeopleVisit:
    token = kept.get("token", "") if isinstance(kept, dict) else ""
    return PeopleVisit(
        game, None, text, THIS_PAGE, language, talk, place=place,
        token=token if isinstance(token, str) else "",
    )  # fmt: skip


def lay_out() -> Layout:
    translate = translator(ENGLISH)
    with gr.Row(elem_classes="sauda-head"):
        title = gr.HTML(heading(translate("tab_people"), translate("people_lead")))
        language = lay_out_language(NAME)
    with gr.Column() as entering:
        name = gr.Textbox(
            label=translate("people_name"), max_lines=1, max_length=LONGEST_NAME,
            elem_id="people-name",
        )  # fmt: skip
        consent = gr.Checkbox(label=translate("people_consent"), elem_id="people-consent")
        start = gr.Button(translate("people_start"), variant="primary", scale=0, min_width=220)
    said = gr.HTML(elem_id="people-head")
    with gr.Column(visible=False) as playing:
        with gr.Row():
            with gr.Column(scale=2, min_width=240):
                shown = gr.HTML(elem_id="people-brief")
            with gr.Column(scale=4, min_width=320):
                parts = lay_out_talk(NAME, translate)
            with gr.Column(scale=4, min_width=320):
                offers = gr.HTML(elem_id="people-chart")
        after = gr.HTML(elem_id="people-result")
        players = gr.HTML(elem_id="people-players")
        following = gr.Button(
            translate("people_next"), variant="primary", visible=False, scale=0, min_width=160
        )
    counted = gr.HTML(elem_id="people-tally")
    return Layout(
        title, language, said, entering, name, consent, start, playing, shown, **parts,
        offers=offers, result=after, players=players, following=following, tally=counted,
        game=gr.State(None, time_to_live=HOUR), talk=gr.State(SILENT, time_to_live=HOUR),
        place=gr.State(None, time_to_live=HOUR), shown_turns=gr.Number(0, visible="hidden"),
        kept=gr.BrowserState({}, storage_key=KEPT, secret=KEPT_KEY),
    )  # fmt: skip
