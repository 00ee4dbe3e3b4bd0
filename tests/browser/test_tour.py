"""The Tour in a browser: the race plays at once, and four steps lead to the other tabs."""

import pytest
from playwright.sync_api import expect

from benchmarks.speed import FIGURE
from panels.tour.tab import PROMISE, STEPS
from tests.support.page import settle


def test_the_race_runs_at_once_and_again(open_page):
    page = open_page()
    expect(page.locator(FIGURE).first).to_be_visible()  # what the bench waits for
    rows = page.locator("#tour-race tbody tr")
    expect(rows.last).to_contain_text("that could be won")
    count = rows.count()
    assert count > 2
    page.get_by_role("button", name="Watch again").click()
    settle(page)
    expect(rows).to_have_count(count)


@pytest.mark.journey
def test_four_steps_lead_to_the_other_tabs(open_page):
    page = open_page()
    for step in ("Did it learn?", "Two games", "Your turn"):
        page.get_by_role("button", name=f"Next: {step}").click()
        settle(page)
    expect(page.get_by_role("button", name="Check a number")).to_be_visible()
    page.get_by_role("button", name="Haggle", exact=True).click()
    settle(page)
    expect(page.locator("#haggle-chat")).to_be_visible()


def test_the_first_view_leaves_once_the_page_is_drawn(open_page):
    for tab in (None, "Training"):
        page = open_page(tab=tab)
        expect(page.locator("#sauda-first")).to_have_count(0)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_the_first_view_shows_the_race_before_any_script_of_gradio(browser, server):
    context = browser.new_context()
    context.route("**/assets/**", lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{server}/?__theme=dark")
    expect(page.locator("#sauda-first.dark .sauda-race")).to_be_visible()
    page.goto(f"{server}/?tab=results")
    expect(page.locator("#sauda-first h1")).to_be_visible()
    expect(page.locator("#sauda-first .sauda-race")).to_have_count(0)
    context.close()


def step(page, number: int) -> None:
    """Go on to step `number`, from 1, of a Tour that is at the step before."""
    if number > 1:
        page.get_by_role("button", name=f"Next: {STEPS[number - 1]}").click()
        settle(page)


def test_the_promise_is_shown_at_the_first_step_alone(open_page):
    page = open_page()
    expect(page.get_by_text(PROMISE)).to_be_visible()
    step(page, 2)
    expect(page.get_by_text(PROMISE)).to_be_hidden()
