"""The Tour in a browser: the race plays at once, and four steps lead to the other tabs."""

import pytest
from playwright.sync_api import expect

from panels.tour.tab import PROMISE, STEPS
from sauda.commands.bench.page import FIGURE
from tests.support.page import settle, violations

PHONE = 390
CONTENT = (
    "#tour-race table",
    ".sauda-answer:visible",
    'button:text-is("Run a lab")',
    ".sauda-tour-choice > button",
)


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


def test_every_step_fits_a_laptops_screen(open_page):
    page = open_page()
    heights = {}
    for number, title in enumerate(STEPS, 1):
        step(page, number)
        heights[title] = page.evaluate("document.documentElement.scrollHeight")
    assert max(heights.values()) <= page.viewport_size["height"], heights
    open_page.assert_no_trouble()


def test_a_phones_first_screen_shows_the_content_of_each_step_and_the_next_one(open_page):
    page = open_page(width=PHONE, height=844)
    faults = {}
    for number, title in enumerate(STEPS, 1):
        step(page, number)
        expect(page.locator(CONTENT[number - 1]).last).to_be_in_viewport(ratio=1)
        if number < len(STEPS):
            onward = page.get_by_role("button", name=f"Next: {STEPS[number]}")
            expect(onward).to_be_in_viewport(ratio=1)
            content = page.locator(CONTENT[number - 1]).last.bounding_box()
            assert content["y"] + content["height"] <= onward.bounding_box()["y"]
        faults[title] = violations(page)
    assert faults == {title: [] for title in STEPS}
    open_page.assert_no_trouble()


def test_at_the_end_of_a_step_the_next_button_covers_nothing(open_page):
    page = open_page(width=PHONE, height=600)
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    onward = page.get_by_role("button", name=f"Next: {STEPS[1]}").bounding_box()
    for name in ("Watch again", "Let both play it now"):
        above = page.get_by_role("button", name=name).bounding_box()
        assert above["y"] + above["height"] <= onward["y"]
    footer = page.locator("footer").bounding_box()
    assert onward["y"] + onward["height"] <= footer["y"]


def test_the_promise_is_shown_at_the_first_step_alone(open_page):
    page = open_page()
    expect(page.get_by_text(PROMISE)).to_be_visible()
    step(page, 2)
    expect(page.get_by_text(PROMISE)).to_be_hidden()


@pytest.mark.parametrize("width", [1280, PHONE])
def test_the_race_does_not_move_when_the_page_takes_the_place_of_the_first_view(
    browser, server, open_page, width
):
    page = open_page(width=width, height=844)
    drawn = page.locator("#tour-race table").bounding_box()
    context = browser.new_context(viewport={"width": width, "height": 844})
    context.route("**/assets/**", lambda route: route.abort())
    first = context.new_page()
    first.goto(f"{server}/?__theme=light")
    before = first.locator("#sauda-first table").bounding_box()
    context.close()
    for side in ("x", "y", "width", "height"):
        assert abs(before[side] - drawn[side]) <= 4, (side, before, drawn)
