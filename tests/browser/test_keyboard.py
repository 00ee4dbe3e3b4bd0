"""The page by keyboard: where the focus goes, and how far it is."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.page import DRAWN, bubbles, selling, settle

PRESSES = 40  # of Tab; more than a visitor has patience for


def box(page: Page):
    return page.locator("#haggle-price :is(input, textarea)")


def enter(page: Page) -> None:
    page.keyboard.press("Enter")
    settle(page)


@pytest.mark.journey
def test_a_second_enter_makes_no_move_and_leads_to_the_chat(open_page):
    page = selling(open_page)
    chat = page.locator("#haggle-chat [role=log]")
    page.get_by_role("button", name="Open at ₹").focus()
    enter(page)
    expect(chat).to_be_focused()
    told = bubbles(page)
    enter(page)
    assert bubbles(page) == told
    page.get_by_role("button", name="Accept at a loss ₹").focus()
    for _ in range(2):  # the first is asked back, and the second no answer to that
        enter(page)
        expect(chat).to_be_focused()
    expect(page.locator("#haggle-card")).to_be_hidden()
    page.get_by_role("button", name="Walk away").focus()
    enter(page)
    expect(page.locator("#haggle-card")).to_be_visible()
    expect(chat).to_be_focused()
    open_page.assert_no_trouble()


def test_the_last_exchange_of_a_pair_leaves_no_guess_under_the_next_enter(open_page):
    page = open_page(query="tab=haggle&part=spot")
    more = page.get_by_role("button", name="Next exchange")
    expect(more).to_be_visible(timeout=DRAWN)
    more.focus()
    for _ in range(PRESSES):
        if not more.is_visible():
            break
        expect(more).to_be_focused()
        enter(page)
    expect(page.locator("#spot-moves button:focus")).to_have_count(0)
    enter(page)
    expect(page.locator("#spot-verdict")).to_be_empty()


def test_the_first_link_leads_to_the_message_box_and_lists_of_tabs_are_one_stop(open_page):
    page = open_page(tab="Haggle")
    skip = page.locator(".sauda-skip")
    skip.focus()
    stops = []
    for _ in range(PRESSES):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.role ?? document.activeElement.type"))
        if box(page).evaluate("box => box === document.activeElement"):
            break
    expect(box(page)).to_be_focused()
    assert stops.count("tab") == 2  # the tabs, and those within this one
    assert stops.count("radio") == 2  # the seat and the language
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(box(page)).to_be_focused()


@pytest.mark.parametrize("picker", ["#haggle-market", "#haggle-other"])
def test_a_list_keeps_the_focus_as_something_is_chosen_and_opens_again(open_page, picker):
    page = open_page(tab="Haggle")
    chosen = page.locator(f"{picker} input")
    before = chosen.input_value()
    chosen.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    settle(page)
    expect(chosen).not_to_have_value(before)
    expect(chosen).to_be_focused()
    expect(page.get_by_role("option")).to_have_count(0)
    for _ in range(2):
        chosen.click()
        page.get_by_role("option", name=before, exact=True).click()
        settle(page)
        expect(chosen).to_have_value(before)
    page.keyboard.press("Tab")
    page.wait_for_function("document.activeElement !== document.body")
    open_page.assert_no_trouble()
