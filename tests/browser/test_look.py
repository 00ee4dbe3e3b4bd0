"""The page as a browser draws it: readable, fitting a phone, from one host; markup stays text."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from panels import PANELS
from tests.support.cases import rows
from tests.support.page import (
    bubbles,
    buying,
    overflow,
    say,
    selling,
    settle,
    show_tab,
    violations,
)

TITLES = [panel.TITLE for panel in PANELS]


@pytest.mark.journey
def test_every_tab_keeps_wcag_fits_its_width_and_logs_no_error(open_page):
    page = open_page()
    faults = {}
    for title in TITLES:
        show_tab(page, title)
        faults[title] = violations(page)
        assert overflow(page) <= 0, title
    assert faults == {title: [] for title in TITLES}
    open_page.assert_no_trouble()


# Markup that a visitor types becomes no element and no request


MARKUP = [row["text"] for row in rows("markup.csv")]
HALF = len(MARKUP) // 2
TOGETHER = [" ".join(MARKUP[:HALF]), " ".join(MARKUP[HALF:])]  # an arena's message is short
ELEMENTS = (
    "img, form, a, h1, iframe, style:not(svg *), script, em, strong, del, "
    "code:not([class], pre > *), .katex, .mermaid, input[name=q], circle[r=x]"
)
OWN = ("/gradio_api/", "/assets/", "/static/", "/theme.css")


@contextmanager
def nothing_new(page: Page, address: str) -> Iterator[None]:
    """Fail where the tab on show gained an element of ELEMENTS, or asked for more than Gradio's."""
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url))
    page.on("dialog", lambda dialog: events.append(f"dialog: {dialog.message}"))
    before = elements(page)
    yield
    settle(page)
    assert elements(page) == before
    own = tuple(address + path for path in OWN)
    assert [url for url in events if not url.startswith(own)] == []


def elements(page: Page) -> list[str]:
    """The beginning of each element of ELEMENTS on the tab on show."""
    tab = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    return tab.locator(ELEMENTS).evaluate_all("all => all.map(one => one.outerHTML.slice(0, 80))")


def address_of(page: Page) -> str:
    parts = urlsplit(page.url)
    return f"{parts.scheme}://{parts.netloc}"


def new_game(page: Page) -> None:
    page.get_by_role("button", name="New game").click()
    settle(page)


@pytest.mark.parametrize("seat", [buying, selling])
def test_markup_with_a_price_stands_in_the_chat_as_it_was_typed(open_page, seat):
    page = seat(open_page)
    for markup in TOGETHER:
        new_game(page)
        price = page.get_by_role("button", name="Open at ₹").inner_text().removeprefix("Open ")
        with nothing_new(page, address_of(page)):
            say(page, f"{markup} {price}")
            expect(page.locator("#haggle-problem")).to_be_empty()
            assert f"{markup} {price}" in bubbles(page)
    open_page.assert_no_trouble()


def test_markup_pitched_to_the_judge_is_quoted_as_it_was_typed(open_page):
    page = open_page(tab="Judge")
    pitch = page.locator("#judge-pitch textarea")
    for markup in TOGETHER:
        with nothing_new(page, address_of(page)):
            pitch.fill(markup)
            page.get_by_role("button", name="Judge it").click()
            expect(page.locator("#judge-verdict blockquote")).to_have_text(markup)
    open_page.assert_no_trouble()


def test_markup_said_to_a_lab_is_quoted_as_it_was_typed(open_page):
    page = open_page(tab="GPU arena")
    page.get_by_role("button", name="Wait for the next round").click()
    expect(page.locator("#arena-last")).to_contain_text("Your lab")  # it draws a table of rewards
    page.get_by_text("Pool, hold a block, talk or leave").click()
    for markup in TOGETHER:
        page.get_by_label("Move", exact=True).select_option("Say")
        settle(page)
        with nothing_new(page, address_of(page)):
            page.get_by_label("What you say").fill(markup)
            page.get_by_role("button", name="Do it", exact=True).click()
            expect(page.locator("#arena-last")).to_contain_text(f"“{markup}”")
            expect(page.locator("#arena-floor")).to_contain_text(f"“{markup}”")
    open_page.assert_no_trouble()


def test_markup_in_a_seed_or_an_address_is_answered_in_words(open_page):
    page = open_page(query="tab=<img src=x onerror=fetch('/x')>")
    expect(page.get_by_text("The link names no tab of this page")).to_be_visible()
    assert page.locator("main img[src=x]").count() == 0
    page = open_page(query="tab=training&run=<h1>loud</h1>")
    expect(page.get_by_text("Not all of the address could be read: run")).to_be_visible()
    show_tab(page, "GPU arena")
    page.locator("#arena-seed").fill(MARKUP[0])
    with nothing_new(page, address_of(page)):
        page.locator("#arena-seed").press("Enter")
        expect(page.locator("#arena-problem")).to_contain_text("A seed is a whole number")
    open_page.assert_no_trouble()
