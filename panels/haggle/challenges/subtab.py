"""What the challenges share: the title with the language, what a browser's tab keeps, Sauda's game.

And one bargain on Haggle's screen, so that Haggle's callbacks make the moves.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import gradio as gr
from markupsafe import Markup

from env import IllegalAction, get_task, rollout
from panels.haggle import callbacks as haggle
from panels.haggle.game_view import brief, bubbles, chart, quick_labels
from panels.haggle.opponents import weights_of
from panels.haggle.screen import FIRST, ChatParts, Screen, Visit
from panels.haggle.words import ENGLISH, LANGUAGES, Translate, translator
from panels.site.sessions import HOUR, no_longer_here
from panels.transcripts.episodes import of_this_page
from panels.ui.components.moves import Move, Moves
from panels.ui.look import QUEUED, QUIET, heading
from panels.ui.resume import TabStore, browser_store, reads
from panels.ui.visitor import visitor_of
from panels.ui.wiring import Updates, named
from sauda.llm.backends import in_page
from sauda.llm.server import Failed, Ready
from sauda.serve.leaderboard import own_board, token_digest
from sauda.serve.limits import Limiter
from sauda.sessions.bazaar import Game, Standing
from sauda.sessions.daily import DAYS_KEPT, LONGEST_CODE, TASK, player

FIELDS = 3  # values that make a visit
VISITOR = "visitor"  # names this browser where its games count among people's
# Games of one day or level from one address, and in all within 24 hours, that count among people's.
PLACES, PLACES_IN_ALL = 4, 10_000
COUNTED = Limiter(PLACES, PLACES_IN_ALL, seconds=24 * 3600.0)
# The press of the other picker, so that everything follows which follows that one.
PRESS_OTHER = """(chosen) => {
  const all = [...document.querySelectorAll("#haggle-language input")];
  all.find((input) => input.value === chosen)?.click();
  return chosen;
}"""


class SubTab:
    """The title and the picker of the language of a sub-tab called `part`, placed as it is made."""

    def __init__(self, part: str, **row: str) -> None:
        self.part, translate = part, translator(ENGLISH)
        with gr.Row(elem_classes="sauda-head", **row):
            self.title = gr.HTML(heading(translate(f"tab_{part}"), translate(f"{part}_lead")))
            self.language = gr.Radio(
                LANGUAGES, value=ENGLISH, label=translate("language"), show_label=False,
                container=False, scale=0, min_width=310, elem_id=f"{part}-language",
            )  # fmt: skip
        self.with_words: list[Any] = [self.title, self.language]  # their words follow the language

    def keep(self, secret: str) -> None:
        """Place what the browser keeps, the last value of each event whose script is `reads`."""
        self.kept = browser_store(f"sauda-{self.part}", secret)
        self.reads = reads(self.kept)

    def words(self, language: str) -> Updates:
        """The title in the visitor's language, and the picker with that language picked."""
        translate = translator(language)
        return {
            self.title: heading(translate(f"tab_{self.part}"), translate(f"{self.part}_lead")),
            self.language: gr.update(value=language, label=translate("language")),
        }


def on_start(tab: gr.Tab, language: gr.Radio, *event: Any, js: str | None = None) -> Any:
    """Let an event answer as `tab` is opened, and as its language changes.

    A language that the browser kept arrives late.
    """
    starts = [tab.select, language.change]
    return gr.on(starts, *event, js=js, trigger_mode="always_last", **QUIET)


def wire_language(
    page: SubTab, tab: gr.Tab, language: gr.Radio, words: Callable, inputs: Any, **script: str
) -> None:
    """Let `words` write the part's own words, and its picker lead `language`, the one of Haggle."""
    on_start(tab, language, words, inputs, page.with_words, **script)
    page.language.input(lambda chosen: chosen, page.language, language, js=PRESS_OTHER, **QUIET)


# What a tab of the browser keeps over a reload --------------------------------------------------


def wire_reload(
    page: SubTab,
    tab: gr.Tab,
    language: gr.Radio,
    opened: Callable[..., Updates],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    typed: gr.Textbox,
) -> None:
    """Let `opened` fill the part, and the browser keep the session's name and what is `typed`.

    By its name, the last input, the former session is found on the server while it is there. The
    words are in their box again after each opening.
    """
    session = gr.Textbox(visible="hidden")
    store = TabStore(f"{page.part}-tab", 'new URL(location).searchParams.get("day") ?? ""')

    def open_part(request: gr.Request, *given: Any) -> Updates:
        return opened(request, *given) | {session: visitor_of(request).session}

    opening = on_start(
        tab, language, named(open_part, opened), [*inputs, session], [*outputs, session],
        js=f"(...values) => [...({page.reads})(...values.slice(0, -1)), ...({store.read})('')]",
    )  # fmt: skip
    session.change(None, session, None, js=store.write)
    store.keep_draft(session, typed)
    store.show_draft(opening, typed)


ORIGIN = re.compile(r"https?://[\w.\-]+(:\d{1,5})?", re.ASCII)


def origin_of(request: gr.Request) -> str:
    """Scheme and host of the page, for a link to send around; "" where the browser did not say."""
    origin = request.headers.get("origin", "")
    return origin if ORIGIN.fullmatch(origin) else ""


# What counts among people's, by consent ----------------------------------------------------------


def texts_in(stored: object) -> dict[str, str]:
    """What a browser kept, name by name, VISITOR's token among it: what is no text is left out."""
    if not isinstance(stored, dict):
        return {}
    return {
        name: text
        for name, text in stored.items()
        if isinstance(text, str) and len(text) <= LONGEST_CODE
    }


def count_visitor(counted: bool, stored: Mapping[str, str]) -> dict[str, str]:
    """What the browser keeps once its games count among people's from now on, or no longer.

    What was stored of them is deleted; raises Unavailable where it cannot be now.
    """
    if visitor := stored.get(VISITOR):
        own_board().withdraw(visitor)
    others = {name: text for name, text in stored.items() if name != VISITOR}
    return others | ({VISITOR: secrets.token_hex(16)} if counted else {})


def count_game(name: str, visitor: str, grade: float, address: str) -> dict[str, float] | None:
    """The grades of all who let the game called `name` count, this one among them, by digest.

    Of each visitor the first counts; None where too many of this address do. Raises Unavailable.
    """
    digest, board = token_digest(visitor), own_board()
    if digest not in board.grades_of_day(name) and not COUNTED.take(f"{address} {name}"):
        return None
    board.add_day(name, digest, grade)
    return board.grades_of_day(name)


# A bargain on Haggle's screen -------------------------------------------------------------------


class BargainPage(SubTab, ChatParts):
    """The components of a bargain that a callback reads or writes."""

    head: gr.HTML  # which game this is, and what is wrong
    kept: gr.BrowserState

    def lay_out_game(self) -> None:
        """Place what shows the game."""
        with gr.Row():
            with gr.Column(scale=2, min_width=240):
                self.brief = gr.HTML(elem_id=f"{self.part}-brief")
            with gr.Column(scale=6, min_width=320):
                self.lay_out_chat(self.part, translator(ENGLISH))
                self.result = Moves(elem_id=f"{self.part}-result")
            with gr.Column(scale=3, min_width=240):
                self.offers = gr.HTML(elem_id=f"{self.part}-chart")
                # The table of those who played this seed.
                self.players = Moves(elem_id=f"{self.part}-players")
        self.visit = gr.State(None, time_to_live=HOUR)
        self.with_words += [self.message, self.send]

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.visit, self.kept, self.head, self.brief, self.chat, self.moves, self.offers,
            self.result, self.players,
        ]  # fmt: skip


@dataclass(frozen=True)
class BargainVisit(Visit):
    """The values of a visitor's screen."""

    address: str = ""  # of the network
    origin: str = ""  # scheme and host of the page; "" where the browser did not say

    @property
    def kept_game(self) -> Game:
        if self.game is None:
            raise IllegalAction(f"{no_longer_here('this game was')}; open the page again")
        return self.game


@dataclass(frozen=True, eq=False)
class BargainScreen(Screen):
    """The components of a bargain, for Haggle's callbacks."""

    page: BargainPage
    visit_type: ClassVar[type[BargainVisit]]

    def words(self, visit: BargainVisit) -> Updates:
        """The own words, in the visitor's language, of the components that a game leaves alone."""
        page, translate = self.page, visit.translate
        return page.words(visit.language) | {
            page.message: gr.update(label=translate("price"), placeholder=translate("placeholder")),
            page.send: translate("send"),
        }

    def table(self, visit: BargainVisit, problem: Markup | str = "") -> Updates:
        """What every bargain shows of its game, whether it is over or not."""
        page, game, translate = self.page, visit.game, visit.translate
        messages = bubbles(visit.chat.messages)
        return {
            page.visit: visit,
            page.brief: brief(game, translate, visit.language),
            page.chat: gr.update(value=messages, placeholder=translate("unpacking")),
            page.moves: self.moves(visit, problem),
            page.offers: chart(game, translate=translate),
        }

    def show_move(self, before: BargainVisit, after: BargainVisit) -> Updates:
        return self.show(after)

    def from_another_tab(self, visit: BargainVisit) -> Updates | None:
        """The game as another tab of the browser left it; None where this one's is the latest."""
        return None

    def offered(self, visit: BargainVisit, is_wrong: bool) -> list[tuple[str, str]]:
        return quick_labels(visit.game, visit.translate)  # and no move is taken back

    def read(self, stored: object) -> dict[str, Any]:
        """The values of a visit that the browser keeps, checked."""
        raise NotImplementedError

    def visit_of(
        self, request: gr.Request, visit: Any, language: str, stored: object
    ) -> BargainVisit:
        """The visit that the session keeps, with what the page's fields hold now."""
        return replace(
            visit or self.visit_type(), language=language, address=visitor_of(request).address,
            origin=origin_of(request), **self.read(stored),
        )  # fmt: skip

    def on_visit(self, callback: Callable) -> Callable:
        """`callback` as Gradio calls it: with values, of which the last ones make its visit."""

        def called(request: gr.Request, *given: Any) -> Updates:
            values, fields = given[:-FIELDS], given[-FIELDS:]
            return callback(self, *values, self.visit_of(request, *fields))

        return named(called, callback)

    def fields(self, language: gr.Radio) -> list[Any]:
        """The components whose values make a visit; `language` is the picker of Haggle."""
        return [self.page.visit, language, self.page.kept]

    def wire(
        self,
        tab: gr.Tab,
        language: gr.Radio,
        regions: Sequence[gr.HTML],
        press: str,
        callback: Callable[..., Updates],
    ) -> None:
        """Let the words follow `language`, and what is typed and pressed in `regions` make moves.

        One of their buttons, `press`, makes no move but calls `callback`.
        """
        page, values = self.page, self.fields(language)

        def sent(request: gr.Request, text: str, *given: Any) -> Updates:
            visit = self.visit_of(request, *given)
            return self.from_another_tab(visit) or haggle.send(self, visit, text)

        def pressed(move: Move, request: gr.Request, *given: Any) -> Updates:
            visit = self.visit_of(request, *given)
            if move.name == press:
                return callback(self, visit)
            if updates := self.from_another_tab(visit):
                return updates
            return haggle.press_quick_move(self, move.id, visit)

        wire_language(page, tab, language, self.on_visit(type(self).words), values)
        gr.on(
            [page.message.submit, page.send.click],
            named(sent, haggle.send), [page.message, *values], [*page.of_game, page.message],
            js=page.reads, **QUIET,
        )  # fmt: skip
        gr.on(
            [part.click for part in regions],
            named(pressed, haggle.press_quick_move), values, page.of_game, js=page.reads, **QUIET,
        )  # fmt: skip


# Sauda's game -----------------------------------------------------------------------------------

PLAYS = {**QUEUED, "concurrency_id": "daily", "concurrency_limit": 1}  # the event in which it plays


@lru_cache(maxsize=DAYS_KEPT)
def standing_of(seed: int) -> Standing:
    """Sauda's game of a seed, played once a process in this page; takes seconds.

    Raises ReplyError where the model cannot reply, or nobody waits for the game any more.
    """
    task = get_task(TASK)
    return player("Sauda", rollout(task, of_this_page(task, FIRST.opponent), seed))


def sauda_at(seed: int, translate: Translate) -> Standing:
    """Sauda's game of a seed, under its name in the visitor's language; raises ReplyError."""
    return replace(standing_of(seed), name=translate("daily_sauda"))


def absent(translate: Translate) -> str:
    """Why Sauda has no row yet, in a sentence; "" where it is ready to play."""
    now = in_page(weights_of(FIRST.opponent)).stage
    if isinstance(now, Ready):
        return ""
    if isinstance(now, Failed):
        reason = translate("daily_cannot", reason=now.reason)
    else:
        reason = translate("daily_loading")
    return translate("daily_failed", reason=reason)
