"""Every tab, sub-tab and ending, each fold open, in two widths and both colours: readable, fitting.

What a phone and a desktop show alike is still looked at in both: texts meet where room is short.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import chain, repeat
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from panels import PANELS
from sauda.serve.people import GAMES
from sauda.sessions.daily import today
from sauda.sessions.ladder import LEVELS
from tests.support.page import DRAWN, bids_that_beat, overflow, settle, violations

LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]
HEIGHTS = {1280: 900, 390: 844}
MOST_MOVES = 30

# Opens every fold: a press of the page's own, unlike one by hand, closes no other fold.
UNFOLD = """() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    for (const fold of document.querySelectorAll(".sauda-fold > button:not(.open)"))
        if (fold.checkVisibility()) fold.click();
}"""
# The labels of a drawing that meet, and the texts that a box without a way to scroll cuts.
UNREADABLE = """() => {
    const shown = (all) => [...document.querySelectorAll(all)].filter((one) => one.checkVisibility(
        { visibilityProperty: true, opacityProperty: true }));
    const found = [];
    for (const svg of shown(".js-plotly-plot, .prose svg")) {
        const texts = [...svg.querySelectorAll("text")]
            .map((text) => [text.textContent.trim(), text.getBoundingClientRect(), text])
            .filter(([words, box, text]) => words && box.width && text.checkVisibility());
        const around = svg.getBoundingClientRect();
        texts.forEach(([words, a, text], n) => {
            if (a.left < around.left - 2 || a.right > around.right + 2) found.push(`cut: ${words}`);
            for (const [others, b] of texts.slice(n + 1)) {
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 1 && high > 3) found.push(`meet: ${words} / ${others}`);
            }
        });
    }
    for (const box of shown("input:is([type=text], :not([type])), button, .prose *")) {
        const style = getComputedStyle(box), hidden = style.overflowX === "hidden";
        if (style.textOverflow === "ellipsis" || style.clipPath.includes("inset")) continue;
        if ((hidden || box.matches("input")) && box.scrollWidth > box.clientWidth + 1)
            found.push(`cut: ${box.value || box.innerText || box.placeholder}`);
    }
    return [...new Set(found)];
}"""


def faults(page: Page) -> list[str]:
    """What is wrong with the view on show once every fold in it is open."""
    page.evaluate(UNFOLD)
    settle(page)
    expect(page.locator(".empty.large:visible")).to_have_count(0, timeout=DRAWN)
    settle(page)
    wide = overflow(page)
    scrolls = [f"sideways scroll by {wide} px"] if wide > 0 else []
    return violations(page) + scrolls + page.evaluate(UNREADABLE)


@pytest.fixture(params=LOOKS, ids=[f"{w}-{'dark' if d else 'light'}" for w, d in LOOKS])
def opening(request, open_page) -> Callable[..., Page]:
    """`open_page` in one width and colour."""
    width, dark = request.param
    return partial(open_page, width=width, dark=dark, height=HEIGHTS[width])


@pytest.mark.parametrize("title", [panel.TITLE for panel in PANELS])
def test_every_view_of_a_tab_is_readable_with_all_its_folds_open(opening, open_page, title):
    page = opening(tab=title)
    parts = page.locator(".sauda-subtabs:visible > .tab-wrapper [role=tab]:visible").all()
    seen = {}
    for part in parts or [None]:
        if part:
            part.click()
            settle(page)
        seen[part.inner_text() if part else title] = faults(page)
    assert seen == {part: [] for part in seen}
    open_page.assert_no_trouble()


# Endings -----------------------------------------------------------------------------------------

BUYER = {"tab": "haggle", "task": "bazaar/people", "seed": 1, "against": "hidden", "ask": 1500}
SELLER = {"tab": "haggle", "task": "bazaar/sell", "seed": 1, "against": "linear"}
DAY = {"tab": "haggle", "part": "daily", "day": today() - timedelta(days=1)}
BARGAINS = {  # by name: the address, and what is said or pressed, the last of it to the end
    "bought": (BUYER, "₹1,200"),
    "bought at a loss": (BUYER, "accept"),
    "walked away from a seller": (BUYER, "walk"),
    "a seller leaves": (BUYER, "₹300"),
    "sold": (SELLER, "₹1,200"),
    "sold at a loss": (SELLER, "offer", "accept"),
    "walked away from a buyer": (SELLER, "offer", "walk"),
    "a buyer leaves": (SELLER, "₹5,000"),
    "bargain of the day, a deal": (DAY, "accept"),
    "bargain of the day, none": (DAY, "walk"),
}


def finish(page: Page, *moves: str) -> None:
    """Say or press the moves, the last one until the bargain on show is over."""
    over = page.locator(".sauda-took:visible")
    for move in chain(moves, repeat(moves[-1], MOST_MOVES)):
        if over.count():
            break
        with page.expect_response("**/run/**"):
            if move.startswith("₹"):
                box = page.locator("[id$=-price]:visible :is(input, textarea)")
                box.fill(move)
                box.press("Enter")
            else:
                page.locator(f"[data-id^={move}]:visible").first.click()
        settle(page)
    expect(over).to_be_visible()


def let_sauda_play(page: Page) -> None:
    """Wait until the model has played the same games, where the page says that it does."""
    waits = page.locator("[id$=-players]:visible", has_text="…")
    expect(waits).to_have_count(0, timeout=GAMES * DRAWN)


@pytest.mark.parametrize("name", BARGAINS)
def test_every_end_of_a_bargain_is_readable_with_all_its_folds_open(opening, name):
    address, *moves = BARGAINS[name]
    page = opening(query=urlencode(address, safe="/"))
    expect(page.locator(".sauda-brief:visible")).to_be_visible(timeout=DRAWN)
    settle(page)
    finish(page, *moves)
    let_sauda_play(page)
    assert faults(page) == []


def a_level(opening, *moves: str) -> Page:
    page = opening(query="tab=haggle&part=ladder")
    page.locator("#ladder-levels button").first.click()
    expect(page.locator("#haggle-badge")).to_contain_text(LEVELS[0].text("line"))
    settle(page)
    finish(page, *moves)
    return page


def for_the_record(opening) -> Page:
    page = opening(query="tab=haggle&part=people")
    page.get_by_label("Your name").fill(f"axe {uuid4().hex[:8]}")
    page.locator("#people-consent input").check()
    page.get_by_role("button", name="Start").click()
    for number in range(GAMES):
        if number:
            page.locator("[data-id^=next]:visible").first.click()
        expect(page.locator("[id$=people-say]")).to_be_visible()
        settle(page)
        finish(page, "walk" if number else "accept")
    let_sauda_play(page)
    return page


def a_pair_told_apart(opening) -> Page:
    page = opening(query="tab=haggle&part=spot")
    page.locator("[data-id^=guess]:visible").first.click()
    expect(page.locator("#spot-verdict")).not_to_be_empty()
    settle(page)
    return page


def an_arena_left(opening) -> Page:
    page = opening(tab="GPU arena")
    page.locator("#arena-board [data-id^=bid]").first.click()
    page.get_by_label("credits", exact=True).fill("10")
    page.get_by_role("button", name="Send the offer").click()
    settle(page)
    page.get_by_text("Pool, hold a block, talk or leave").click()
    page.get_by_label("Move", exact=True).select_option("Leave the market")
    settle(page)
    page.get_by_role("button", name="Do it", exact=True).click()
    expect(page.locator("#arena-end")).to_contain_text("rank in this world")
    return page


def an_arena_watched(opening) -> Page:
    page = opening(tab="GPU arena")
    page.get_by_text("Let another player act for you").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#arena-end")).to_contain_text("rank in this world")
    return page


def a_pitch_judged(opening) -> Page:
    page = opening(tab="Judge")
    page.get_by_role("button", name="Show an example").click()
    expect(page.get_by_label("Your pitch")).not_to_have_value("")
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator("#judge-verdict blockquote")).to_be_visible()
    return page


ENDINGS = {
    "a level won": lambda opening: a_level(
        opening, *(f"₹{bid}" for bid in bids_that_beat(LEVELS[0]))
    ),
    "a level lost": lambda opening: a_level(opening, "walk"),
    "for the record": for_the_record,
    "a pair told apart": a_pair_told_apart,
    "arena, left": an_arena_left,
    "arena, watched": an_arena_watched,
    "judge": a_pitch_judged,
}


@pytest.mark.parametrize("name", ENDINGS)
def test_every_other_ending_is_readable_with_all_its_folds_open(opening, name):
    assert faults(ENDINGS[name](opening)) == []
