"""For the record: a person's five bargains at hidden seeds, kept with consent, beside Sauda's.

The moves are made by Haggle's callbacks and stored in the leaderboard's file before they are shown.
Sauda plays the games for the tally in a thread of the page: no event of a browser decides which.
"""

import logging
import threading
import time
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from panels.haggle import ending
from panels.haggle.challenges import subtab
from panels.haggle.challenges.subtab import PLAYS, BargainPage, BargainScreen, BargainVisit
from panels.haggle.conversation import SILENT
from panels.haggle.game_view import HTML as HAGGLE
from panels.haggle.result import card, compare, revealed
from panels.haggle.words import ENGLISH, Translate, Trouble, translate_error, translator
from panels.site.card import MODEL_WON, RECORD, mouths
from panels.ui.components.moves import Moves, button
from panels.ui.html import macros
from panels.ui.look import QUIET, folded, note, stat, strip, table, trouble, with_minus_signs
from panels.ui.tables import points, with_interval
from panels.ui.wiring import Updates
from sauda.llm.types import ReplyError
from sauda.serve.http import ENTRIES_OF_ADDRESS, ENTRIES_SECONDS
from sauda.serve.leaderboard import HOURS, Entry, Place, Unavailable, own_board, rules_of
from sauda.serve.limits import Limiter
from sauda.serve.names import LONGEST_NAME, check_name
from sauda.serve.people import GAMES, TASK, next_bargain, play_pairs, record_moves, tally
from sauda.sessions.bazaar import rank_standings

LOG = logging.getLogger(__name__)
HTML = macros("challenges")
RANKED = 1000  # people's entries among which a place is told
MOST_HELD = 50  # tokens of one browser
PAUSE = 20.0  # seconds between two looks for games that Sauda has yet to play
TO_FINALE = """() => requestAnimationFrame(() =>
  document.querySelector('[data-people="last"]')?.scrollIntoView({ block: "nearest" }))"""
ENTERED = Limiter(ENTRIES_OF_ADDRESS, seconds=ENTRIES_SECONDS)


class PeoplePage(BargainPage):
    """Every component that a callback reads or writes."""

    def __init__(self) -> None:
        super().__init__("people")
        translate = translator(ENGLISH)
        # Which game this is, or what all came to; the stylesheet shows form and game by it.
        self.head = Moves(elem_id="people-head")
        with gr.Column(elem_id="people-game"):
            self.lay_out_game()
        with gr.Column(elem_id="people-form"):
            self.name = gr.Textbox(
                label=translate("people_name"), max_lines=1, max_length=LONGEST_NAME,
                elem_id="people-name",
            )  # fmt: skip
            self.consent = gr.Checkbox(label=translate("people_consent"), elem_id="people-consent")
            self.start = gr.Button(
                translate("people_start"), variant="primary", scale=0, min_width=220
            )
        self.tally = gr.HTML(elem_id="people-tally")
        # The button by which a browser withdraws its entries, folded; empty where it has none.
        self.leave = Moves(elem_id="people-leave")
        self.keep("for-the-record")  # {"tokens": […]} of this browser's entries
        self.with_words += [self.name, self.consent, self.start, self.tally, self.leave]


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    page = PeoplePage()
    screen = PeopleScreen(page, {})
    values = screen.fields(language)
    subtab.on_start(tab, language, screen.on_visit(opened), values, page.of_game)
    screen.wire(tab, language, [page.moves, page.result], "next", follow)
    gr.on(
        [page.start.click, page.name.submit],
        screen.on_visit(enter), [page.name, page.consent, *values], [*page.of_game, page.leave],
        js=page.reads, **QUIET,
    )  # fmt: skip
    left = [page.visit, page.kept, page.head, page.moves, page.tally, page.leave]
    page.leave.click(screen.on_visit(withdraw), values, left, js=page.reads, **QUIET)
    played = [page.head, page.players, page.tally, page.moves]
    page.players.change(screen.on_visit(let_sauda_play), values, played, **PLAYS)
    page.head.change(None, None, None, js=TO_FINALE)


# The screen -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PeopleVisit(BargainVisit):
    """The values of a visitor's screen."""

    place: Place | None = None
    tokens: tuple[str, ...] = ()  # of the entries that this browser made, the newest last

    @property
    def token(self) -> str:
        """That of the newest entry; "" where there is none."""
        return self.tokens[-1] if self.tokens else ""

    @property
    def is_last(self) -> bool:
        """Whether the game on show is over and no other one follows."""
        return self.game.over and self.place.number == self.place.games


@dataclass(frozen=True, eq=False)
class PeopleScreen(BargainScreen):
    """The components of the sub-tab."""

    page: PeoplePage
    visit_type = PeopleVisit

    def read(self, stored: object) -> dict[str, Any]:
        stored = stored if isinstance(stored, dict) else {}
        tokens = stored.get("tokens", [stored.get("token")])  # the latter of a former page
        tokens = tokens if isinstance(tokens, list) else []
        tokens = [token for token in tokens if isinstance(token, str)]
        return {"tokens": tuple(filter(None, tokens[-MOST_HELD:]))}

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
            page.leave: way_out(visit),
        }

    def show(self, visit: PeopleVisit, problem: Markup | str = "") -> Updates:
        """The game of `visit`, or nothing beside the form where there is none."""
        page = self.page
        stored = {page.kept: {"tokens": list(visit.tokens)}}
        if visit.game is None:
            return stored | {page.visit: visit, page.head: ""}
        waits = note(visit.translate("daily_waits"))
        return stored | self.table(visit, problem) | {
            page.head: head(visit),
            page.result: result(visit) if visit.game.over else "",
            page.players: waits if visit.game.over else "",
        }  # fmt: skip

    def show_move(self, before: PeopleVisit, after: PeopleVisit) -> Updates:
        """What a move changes, once it is stored; a move that cannot be stored is not made."""
        try:
            record_moves(own_board(), after.token, after.game)
        except ValueError as error:
            return self.refuse(error, before)
        return self.show(after)

    def refuse(self, error: Exception, visit: PeopleVisit, key: str = "people_not_now") -> Updates:
        """The sentence of `error`; in a language in which it has none, that of `key`."""
        sentence = trouble(translate_error(error, visit.language, key))
        return {self.page.head: sentence} if visit.game is None else self.remark(sentence, visit)


def head(visit: PeopleVisit) -> Markup:
    """Which of the entry's games this is, or what all of them came to so far."""
    place, translate = visit.place, visit.translate
    if entry := complete_entry(visit):
        return HTML.person("last", note(_mean(entry, translate)))
    values = {"number": place.number, "all": place.games, "hours": f"{HOURS:.0f}"}
    state = "over" if visit.game.over else "open"
    return HTML.person(state, note(translate("people_head", **values)))


def complete_entry(visit: PeopleVisit) -> Entry | None:
    """The entry whose last game is on show, or which this browser has played before."""
    if visit.game is None:
        return own_board().entry_of(visit.token)
    return own_board().entry(visit.place.entry) if visit.is_last else None


def _mean(entry: Entry, translate: Translate) -> str:
    """The mean grade of an entry with its interval, and its place among people."""
    share, _, interval = with_interval(entry.grade, "z.0%").partition(" ")
    means = {"all": entry.n, "share": share, "interval": interval, "place": _place(entry)}
    return translate("people_done", **means)


def _place(entry: Entry) -> str:
    """The entry's place among people under today's rules, such as "2 / 7"."""
    others = own_board().entries(TASK, rules_of(TASK), RANKED, person=True)
    means = [fmean(other.grades) for other in others]
    return f"{1 + sum(mean > fmean(entry.grades) for mean in means)} / {len(means)}"


def finale(entry: Entry, translate: Translate, origin: str) -> tuple[Markup, Markup]:
    """Who won a complete entry, the person or Sauda, to be shared; every bargain of both.

    Raises ReplyError where Sauda cannot play one of them.
    """
    games = own_board().games(entry)
    pairs = [(game.grade, subtab.standing_of(game.seed).grade) for game in games]
    means = tuple(map(fmean, zip(*pairs, strict=True)))
    rows = [(f"{number}", *pair) for number, pair in enumerate(pairs, 1)]
    heads = ("#", translate("board_you"), translate("daily_sauda"))
    cells = [
        (name, *(f"{grade:z.0%}" for grade in both))
        for name, *both in (*rows, (translate("people_mean"), *means))
    ]
    mine, its = (round(100 * mean) for mean in means)
    band = ending.EVEN if mine == its else ending.WON if mine > its else ending.LOST
    more, less = (with_minus_signs(f"{mean}%") for mean in (max(mine, its), min(mine, its)))
    values = urlencode({RECORD: mine, MODEL_WON: its})
    press = HAGGLE.press([], ".sauda-share", f"card.png?{values}", translate)
    verdict = HTML.finale(
        band, translate(f"people_{band}", more=more, less=less), means, mouths(*means),
        _mean(entry, translate), press, f"{origin}/?tab=haggle&part=people&{values}", translate,
    )  # fmt: skip
    caption = translate("people_finale", all=entry.n)
    return HTML.person("last", verdict), table(heads, cells, caption=caption)


def result(visit: PeopleVisit) -> Markup:
    """The ending of a game, all that was hidden but the seed, the way to the next."""
    game, translate = visit.game, visit.translate
    steps = [] if visit.is_last else [(translate("people_next"), "next", "")]
    press = HAGGLE.press(steps, "", "", translate)
    grade = with_minus_signs(f"{ending.standing_of(game).grade:z.0%}")
    counts = translate("people_counts", grade=grade)
    shown = card(game, translate, visit.language, press, counts, after_time=True)
    return shown + revealed(game, translate)


def show_tally(translate: Translate) -> Markup:
    """People against Sauda in figures, the leaderboard, and the file of all games."""
    try:
        now = tally(own_board())
    except Unavailable as error:
        return trouble(error)
    waiting = note(translate("people_waiting", count=now.waiting)) if now.waiting else Markup("")
    rest = waiting + HTML.people_links(translate)
    if not now.entries:
        return note(translate("people_nobody")) + rest
    cards = [
        stat(f"{share.mean:z.0%}", translate(key), f"[{share.low:z.0%}, {share.high:z.0%}]")
        for share, key in (
            (now.person, "people_people"),
            (now.sauda, "people_sauda"),
            (now.oracle, "people_oracle"),
        )
    ]
    less, _, interval = points(now.difference).partition(" ")
    counts = {"n": now.n, "entries": now.entries, "unfinished": now.unfinished}
    counts["withdrawn"] = now.withdrawn
    counted = note(translate("people_n", **counts))
    return strip(*cards, stat(less, translate("people_less"), interval)) + counted + rest


def way_out(visit: PeopleVisit) -> Markup:
    """What withdrawing deletes, and its button, folded; empty where this browser has no entry."""
    if not visit.tokens:
        return Markup("")
    translate = visit.translate
    press = button(translate("people_withdraw"), "withdraw")
    return folded(translate("people_withdraw"), note(translate("people_what_goes")) + press)


# Events -----------------------------------------------------------------------------------------


def opened(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The game on show in the visitor's language, else the one that this browser's entry plays.

    Of an entry that is complete, what it came to.
    """
    if visit.game is not None or not visit.token:
        return screen.show(visit)
    try:
        place, game = next_bargain(own_board(), visit.token)
    except Unavailable as error:
        return screen.refuse(error, visit)
    except ValueError:  # the entry is complete, its time is over, or the token is none of ours
        shown, page, entry = screen.show(visit), screen.page, complete_entry(visit)
        if entry is None:
            return shown | {page.players: ""}
        return shown | {  # until Sauda has played
            page.head: HTML.person("last", note(_mean(entry, visit.translate))),
            page.players: note(visit.translate("daily_waits")),
        }
    return screen.show(replace(visit, place=place, game=game))


def enter(screen: PeopleScreen, name: str, consent: bool, visit: PeopleVisit) -> Updates:
    """The first game of a new entry, for somebody who agrees to what is kept."""
    try:
        if consent is not True:
            raise Trouble("people_agree")
        chosen, rules = check_name(name or ""), rules_of(TASK)
        own_board().check_free(chosen, TASK, rules)
        if not ENTERED.take(visit.address):
            raise Trouble("people_often")
        ticket = own_board().enter(chosen, TASK, rules, GAMES, person=True)
    except Unavailable as error:
        return screen.refuse(error, visit)
    except ValueError as error:
        return screen.refuse(error, visit, "people_bad_name")
    entered = replace(visit, tokens=(*visit.tokens, ticket.token))
    return follow(screen, entered) | {screen.page.leave: way_out(entered)}


def follow(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The entry's next game."""
    try:
        place, game = next_bargain(own_board(), visit.token)
    except ValueError as error:
        return screen.refuse(error, visit)
    return screen.show(replace(visit, place=place, game=game, talk=SILENT))


def withdraw(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """Nothing of this browser's entries is kept any more, and its game is over; the tally anew."""
    try:
        for token in visit.tokens:
            own_board().withdraw(token)
    except Unavailable as error:
        return screen.refuse(error, visit)
    page, gone = screen.page, replace(visit, game=None, place=None, tokens=())
    done = {page.head: note(visit.translate("people_withdrawn")), page.leave: ""}
    return screen.show(gone) | done | {page.tally: show_tally(visit.translate)}


def let_sauda_play(screen: PeopleScreen, visit: PeopleVisit) -> Updates:
    """The person's row beside Sauda's at the same seed, or the finale; the tally as it stands."""
    page, game, translate = screen.page, visit.game, visit.translate
    entry = complete_entry(visit)
    if entry is None and (game is None or not game.over):
        return {page.players: gr.skip()}
    if why := subtab.absent(translate):
        return {page.players: note(why)}
    try:
        if entry is not None:
            verdict, rows = finale(entry, translate, visit.origin)
            return {page.head: verdict, page.players: rows, page.tally: show_tally(translate)}
        sauda = subtab.sauda_at(game.play.seed, translate)
    except ReplyError as error:
        return {page.players: trouble(translate_error(error, visit.language, "people_not_now"))}
    caption = translate("people_beside", number=visit.place.number)  # the next one may be on
    standings = rank_standings([ending.standing_of(game), sauda])
    rows = compare(standings, translate, caption)
    return {page.players: rows, page.tally: show_tally(translate)}


# Sauda's games for the tally ----------------------------------------------------------------------


def play_pairs_in_background() -> None:
    """Let Sauda play the games of people's complete entries for as long as the page lives."""

    def play() -> None:
        while True:
            try:
                play_pairs(own_board(), lambda seed: subtab.standing_of(seed).grade)
            except Unavailable as error:
                LOG.warning("Sauda played no game of people: %s", error)
            time.sleep(PAUSE)

    threading.Thread(target=play, daemon=True).start()
