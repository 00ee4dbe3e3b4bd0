"""The ladder: fifteen persons from easy to hard, each a game of Haggle's own chat.

A level is played on Haggle's first sub-tab, and its ending shows the stars. The browser keeps them,
level -> stars; who agrees lets the levels that it has beaten count among people's.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from panels.haggle import callbacks as haggle
from panels.haggle.challenges import subtab
from panels.haggle.challenges.subtab import VISITOR, SubTab
from panels.haggle.screen import Screen, Visit
from panels.haggle.words import ENGLISH, Translate, translator
from panels.site.card import CLIMBED
from panels.ui.components.moves import Move, Moves
from panels.ui.html import macros
from panels.ui.look import QUIET, QUIET_UNCHECKED, note, trouble
from panels.ui.resume import browser_store, reads
from panels.ui.visitor import visitor_of
from panels.ui.wiring import Updates, bound, named
from sauda.language.lines import name_in
from sauda.serve.leaderboard import Unavailable, own_board, token_digest
from sauda.sessions.ladder import LEVELS, level_of, open_numbers, stars

LOG = logging.getLogger(__name__)
HTML = macros("challenges")
TO_GAME = "(visit) => (goToGame('haggle'), [visit])"  # of keyboard.js


class LadderPage(SubTab):
    """Every component of the sub-tab that a callback reads or writes."""

    def __init__(self) -> None:
        super().__init__("ladder")
        self.levels = Moves(elem_id="ladder-levels")
        self.counted = gr.Checkbox(
            label=translator(ENGLISH)("ladder_count"), elem_id="ladder-counted"
        )
        self.among = gr.HTML(elem_id="ladder-among")
        self.far = Moves(elem_id="ladder-far")  # how far, to send around
        self.with_words += [self.levels, self.counted, self.among, self.far]


def keep(screen: Screen) -> gr.BrowserState:
    """What the browser keeps of the ladder: the stars of each game that ends on `screen`.

    Where a level begins after another game, the pickers follow.
    """
    store = browser_store("sauda-ladder", "ladder")

    def ended(request: gr.Request, visit: Visit, stored: object) -> Updates:
        if visit.game and not visit.game.over and level_of(visit.game):
            return haggle.show_place(screen, visit)
        return record(store, visit, stored, visitor_of(request).address)

    page = screen.page
    page.after.change(
        named(ended, record), [page.visit, store], [store, page.seat, page.market, page.opponent],
        js=reads(store), **QUIET,
    )  # fmt: skip
    return store


def build(tab: gr.Tab, screen: Screen, store: gr.BrowserState, parts: gr.Tabs) -> None:
    """Lay out the part and wire it; a level is played on `screen`, in the first of `parts`."""
    page, haggled = LadderPage(), screen.page
    page.kept, page.reads = store, reads(store)
    inputs = [haggled.language, store]

    def words(request: gr.Request, language: str, stored: object) -> Updates:
        return page.words(language) | show(page, language, stored, subtab.origin_of(request))

    def count(counted: bool, language: str, stored: object) -> Updates:
        return count_me(page, store, counted, language, stored)

    def press(move: Move, visit: Visit, language: str) -> Updates:
        started = haggle.play_level(screen, move.number(), replace(visit, language=language))
        return started | {parts: gr.Tabs(selected="any")}

    subtab.wire_language(page, tab, haggled.language, named(words, show), inputs, js=page.reads)
    page.counted.input(
        named(count, count_me), [page.counted, *inputs], [store, page.counted, page.among],
        js=page.reads, **QUIET,
    )  # fmt: skip
    page.levels.click(
        named(press, haggle.play_level), [haggled.visit, haggled.language],
        [*haggled.of_game, haggled.opponent, parts], **QUIET_UNCHECKED,
    ).then(None, js=TO_GAME).then(
        bound(haggle.show_place, screen), haggled.visit, [haggled.seat, haggled.market],
        **QUIET_UNCHECKED,
    )  # fmt: skip


# What the browser keeps -------------------------------------------------------------------------


def won_in(stored: object) -> dict[int, int]:
    """The stars by level number in what a browser sent; whatever else it sent is left out."""
    texts, most = subtab.texts_in(stored), {f"{n}" for n in range(1, 4)}
    won = {level.number: texts.get(f"{level.number}", "") for level in LEVELS}
    return {number: int(text) for number, text in won.items() if text in most}


def record(store: gr.BrowserState, visit: Visit, stored: object, address: str) -> Updates:
    """The stars of the level that has just ended, where they are more than before.

    The first time that a level is beaten counts among people's for who agreed to that.
    """
    level = visit.game and level_of(visit.game)
    won = stars(visit.game) if level else 0
    texts = subtab.texts_in(stored)
    if won <= won_in(texts).get(level.number if level else 0, 0):
        return {store: gr.skip()}
    if visitor := texts.get(VISITOR):
        try:
            subtab.count_game(board_name(level.number), visitor, won, address)
        except Unavailable as error:  # the star is kept; the sub-tab says that the board is away
            LOG.warning("a beaten level is not counted: %s", error)
    return {store: texts | {f"{level.number}": f"{won}"}}


def board_name(number: int) -> str:
    """The name under which those who have beaten a level stand on the board."""
    return f"ladder {number}"


def count_me(
    page: LadderPage, store: gr.BrowserState, counted: bool, language: str, stored: object
) -> Updates:
    """Let the levels that this browser beats count among people's from now on, or no longer."""
    texts, translate = subtab.texts_in(stored), translator(language)
    try:
        texts = subtab.count_visitor(counted, texts)
    except Unavailable as error:
        return {page.counted: True, page.among: trouble(error)}
    return {store: texts, page.among: among_people(texts, translate)}


# What the sub-tab shows -------------------------------------------------------------------------


def show(page: LadderPage, language: str, stored: object, origin: str = "") -> Updates:
    """The persons with the visitor's stars, how far that is, and the choice to be counted."""
    texts, won, translate = subtab.texts_in(stored), won_in(stored), translator(language)
    return {
        page.levels: persons(won, language),
        page.counted: gr.update(value=VISITOR in texts, label=translate("ladder_count")),
        page.among: among_people(texts, translate),
        page.far: how_far(won, translate, origin),
    }


def persons(won: Mapping[int, int], language: str) -> Markup:
    """Each person with its stars and the button to its game; one that is not open has none."""
    translate, can_play = translator(language), open_numbers(won)
    levels = [
        (each, name_in(language, each.item), won.get(each.number, 0), each.number in can_play)
        for each in LEVELS
    ]
    to_beat = min(can_play - won.keys(), default=0)
    return HTML.ladder(levels, to_beat, language, translate)


def how_far(won: Mapping[int, int], translate: Translate, origin: str) -> Markup:
    """How many persons are beaten and by how many stars, as a text, a link and a picture."""
    if not won:
        return Markup("")
    beaten, most = len(won), sum(len(level.shares) for level in LEVELS)
    counts = {"beaten": beaten, "all": len(LEVELS), "stars": sum(won.values()), "most": most}
    drawn = "".join("★" if won.get(level.number) else "☆" for level in LEVELS)
    link = f"{origin}/?tab=haggle&part=ladder&{CLIMBED}={beaten}"
    lines = [translate("ladder_far", **counts), drawn, translate("ladder_ask")]
    return HTML.share("ladder", lines, link, f"card.png?{CLIMBED}={beaten}", "", translate)


def among_people(texts: Mapping[str, str], translate: Translate) -> Markup:
    """How many people who let it count beat as many persons; "" where the visitor's do not."""
    if VISITOR not in texts:
        return Markup("")
    names = [board_name(level.number) for level in LEVELS]
    try:
        beaten = Counter(who for name in names for who in own_board().grades_of_day(name))
    except Unavailable as error:
        return trouble(error)
    mine = beaten[token_digest(texts[VISITOR])]
    place = 1 + sum(count > mine for count in beaten.values())
    return note(translate("ladder_among", mine=mine, place=place, all=max(len(beaten), place)))
