"""For the record: a person's five bargains at hidden seeds, kept with consent, beside Sauda's.

The moves are made by Haggle's callbacks and stored in the leaderboard's file before they are shown.
"""

from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.challenges import subtab
from panels.challenges.subtab import PLAYS, BargainPage, BargainScreen, BargainVisit
from panels.haggle.conversation import SILENT
from panels.haggle.result import compare, revealed, took
from panels.haggle.words import ENGLISH, Translate, Trouble, translate_error, translator
from panels.tour.facts import points
from panels.ui.html import macros
from panels.ui.look import QUIET, note, stat, strip, trouble
from panels.ui.tables import with_interval
from panels.ui.wiring import Updates, button
from sauda.llm.types import ReplyError
from sauda.serve.http import ENTRIES_OF_ADDRESS, ENTRIES_SECONDS
from sauda.serve.leaderboard import HOURS, Place, Unavailable, own_board, rules_of
from sauda.serve.limits import Limiter
from sauda.serve.names import LONGEST_NAME, check_name
from sauda.serve.people import GAMES, TASK, next_bargain, record_moves, tally
from sauda.sessions.bazaar import as_episode, rank_standings, stand
from sauda.sessions.review import informed_grade

HTML = macros("challenges")
ENTERED = Limiter(ENTRIES_OF_ADDRESS, seconds=ENTRIES_SECONDS)


class PeoplePage(BargainPage):
    """Every component that a callback reads or writes."""

    def __init__(self) -> None:
        super().__init__("people")
        translate = translator(ENGLISH)
        with gr.Column(elem_id="people-form"):
            self.name = gr.Textbox(
                label=translate("people_name"), max_lines=1, max_length=LONGEST_NAME,
                elem_id="people-name",
            )  # fmt: skip
            self.consent = gr.Checkbox(label=translate("people_consent"), elem_id="people-consent")
            self.start = gr.Button(
                translate("people_start"), variant="primary", scale=0, min_width=220
            )
        # Which game this is; the stylesheet shows the form, the game or both by it.
        self.head = gr.HTML(elem_id="people-head")
        with gr.Column(elem_id="people-game"):
            self.lay_out_game()
        self.tally = gr.HTML(elem_id="people-tally")
        # {"token": …} of the entry. The key is no secret: it only has to stay the same.
        self.kept = gr.BrowserState({}, storage_key="sauda-people", secret="for-the-record")
        self.with_words += [self.name, self.consent, self.start, self.tally]


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    page = PeoplePage()
    screen = PeopleScreen(page, {})
    values = screen.fields(language)
    subtab.on_start(tab, language, screen.on_visit(opened), values, page.of_game)
    screen.wire(tab, language, [page.moves, page.result], "next", follow)
    gr.on(
        [page.start.click, page.name.submit],
        screen.on_visit(enter), [page.name, page.consent, *values], page.of_game, **QUIET,
    )  # fmt: skip
    played = [page.players, page.tally, page.moves]
    page.players.change(screen.on_visit(let_sauda_play), values, played, **PLAYS)


# The screen -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PeopleVisit(BargainVisit):
    """The values of a visitor's screen."""

    place: Place | None = None
    token: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the game on show is over and no other one follows."""
        return self.game.over and self.place.number == self.place.games


@dataclass(frozen=True, eq=False)
class PeopleScreen(BargainScreen):
    """The components of the sub-tab."""

    page: PeoplePage
    visit_type = PeopleVisit

    def read(self, request: gr.Request, stored: object) -> dict[str, Any]:
        token = stored.get("token", "") if isinstance(stored, dict) else ""
        return {"token": token if isinstance(token, str) else ""}

    def after_the_end(self, visit: PeopleVisit) -> str:
        return visit.translate("people_over")

    def words(self, visit: PeopleVisit) -> Updates:
        """The tally and the own words, in the visitor's language, of the form."""
        page, translate = self.page, visit.translate
        return super().words(visit) | {
            page.name: gr.update(label=translate("people_name")),
            page.consent: gr.update(label=translate("people_consent")),
            page.start: translate("people_start"),
            page.tally: show_tally(translate),
        }

    def show(self, visit: PeopleVisit, problem: Markup | str = "") -> Updates:
        """The game of `visit`, or nothing beside the form where there is none."""
        page, kept = self.page, {"token": visit.token}
        if visit.game is None:
            return {page.visit: visit, page.kept: kept, page.head: ""}
        waits = note(visit.translate("daily_waits"))
        return self.table(visit, problem) | {
            page.kept: kept,
            page.head: head(visit),
            page.result: result(visit) if visit.game.over else "",
            page.players: waits if visit.game.over else "",
        }

    def show_move(self, before: PeopleVisit, after: PeopleVisit) -> Updates:
        """What a move changes, once it is stored; a move that cannot be stored is not made."""
        try:
            record_moves(own_board(), after.token, after.game)
        except ValueError as error:
            return self.refuse(error, before)
        return self.show(after)

    def refuse(self, error: Exception, visit: PeopleVisit, key: str = "people_not_now") -> Updates:
        """The sentence of `error`; in a language in which it has none, that of `key`."""
        told = trouble(translate_error(error, visit.language, key))
        return {self.page.head: told} if visit.game is None else self.remark(told, visit)


def head(visit: PeopleVisit) -> Markup:
    """Which of the entry's games this is, or what all of them came to."""
    place, translate = visit.place, visit.translate
    if visit.is_last and (entry := own_board().entry(place.entry)):
        said = translate("people_done", all=entry.n, grade=with_interval(entry.grade))
    else:
        values = {"number": place.number, "all": place.games, "hours": f"{HOURS:.0f}"}
        said = translate("people_head", **values)
    return HTML.person("last" if visit.is_last else "over" if visit.game.over else "open", said)


def result(visit: PeopleVisit) -> Markup:
    """The verdict on a finished game, all that was hidden but the seed, the way to the next."""
    game, translate = visit.game, visit.translate
    parts = [
        took(stand("you", game.task, as_episode(game), visitor=True), translate),
        revealed(game, translate),
        "" if visit.is_last else button(translate("people_next"), press="next"),
    ]
    return Markup("").join(parts)


def show_tally(translate: Translate) -> Markup:
    """People against Sauda in figures, the leaderboard, and the file of all games."""
    try:
        found = tally(own_board())
    except Unavailable as error:
        return trouble(error)
    links = HTML.people_links(translate)
    if found is None:
        return note(translate("people_nobody")) + links
    cards = [
        stat(f"{one.mean:z.0%}", translate(key), f"[{one.low:z.0%}, {one.high:z.0%}]")
        for one, key in (
            (found.person, "people_people"),
            (found.sauda, "people_sauda"),
            (found.oracle, "people_oracle"),
        )
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


def enter(screen: PeopleScreen, name: str, consent: bool, visit: PeopleVisit) -> Updates:
    """The first game of a new entry, for somebody who agrees to what is kept."""
    try:
        if consent is not True:
            raise Trouble("people_agree")
        chosen = check_name(name or "")
    except ValueError as error:
        return screen.refuse(error, visit, "people_bad_name")
    if not ENTERED.take(visit.address):
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
    if game is None or not game.over:
        return {page.players: gr.skip()}
    if why := subtab.absent(translate):
        return {page.players: note(why)}
    try:
        sauda = subtab.sauda_at(game.play.seed, translate)
        own_board().pair(visit.place, sauda.grade, informed_grade(game.task, game.play.seed))
    except (ReplyError, Unavailable) as error:
        return screen.refuse(error, visit)
    you = stand("you", game.task, as_episode(game), visitor=True)
    caption = translate("people_beside", number=visit.place.number)  # the next one may be on
    rows = compare(rank_standings([you, sauda]), translate, caption)
    return {page.players: rows, page.tally: show_tally(translate)}
