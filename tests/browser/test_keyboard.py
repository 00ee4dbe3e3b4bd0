"""The page by keyboard and for readers: where the focus goes, how far it is, what is told, in what
language."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.page import DRAWN, box, bubbles, holding, say, selling, settle

PRESSES = 40  # of Tab; more than a visitor has patience for
DEVANAGARI = re.compile("[\u0904-\u0939]")
# The text of each element that is mostly in Devanagari, with the language it is told to be in.
HINDI = """() => {
    const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const count = (text, letters) => text.match(letters)?.length ?? 0;
    while (texts.nextNode()) {
        const { data, parentElement: of } = texts.currentNode;
        if (of.closest("script, style")) continue;
        if (count(data, /[\u0900-\u097f]/g) > count(data, /[a-z]/gi))
            found.push([of.closest("[lang]").lang, data]);
    }
    return found;
}"""


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
    expect(chat).to_have_attribute("aria-live", "polite")  # and so its last note is read out
    expect(chat.locator("small").last).to_contain_text("The game is over")
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


def test_a_link_to_another_tab_takes_the_focus_along(open_page):
    page = open_page()
    page.get_by_role("link", name="Beat it").first.press("Enter")
    page.locator("#haggle-chat [data-testid=bot]").first.wait_for()
    settle(page)
    inside = "document.activeElement.closest('[role=tabpanel]')?.checkVisibility()"
    assert page.evaluate(inside)


def test_the_first_link_leads_to_the_message_box_and_lists_of_tabs_are_one_stop(open_page):
    page = open_page(tab="Haggle")
    skip = page.locator(".sauda-skip")
    skip.focus()
    stops = []
    for _ in range(PRESSES):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.role ?? document.activeElement.type"))
        if stops.count("radio") == 2:
            break
    assert stops[:4] == ["tab", "tab", "log", "text"]  # two lists of tabs, the chat, the box
    assert stops.count("tab") == 2
    assert stops[-1] == "radio"  # the language, after the seat: one stop each
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


def test_nothing_can_be_said_until_the_game_is_there(open_page):
    page = open_page(query="tab=training")
    with holding(page):
        page.goto(f"{open_page.address}/?tab=haggle")
        expect(page.locator("#haggle-say")).to_be_visible(timeout=DRAWN)
        expect(page.locator("#haggle-say[inert]")).to_have_count(1)
    expect(page.locator("#haggle-say[inert]")).to_have_count(0)
    expect(box(page)).to_be_editable()


def test_what_is_in_hindi_says_so_and_what_is_no_longer_does_not(open_page):
    page = open_page(tab="Haggle")
    page.locator("#haggle-language").get_by_text("हिन्दी").click()
    expect(page.get_by_role("button", name="नया खेल")).to_be_visible()
    say(page, "1")  # below every limit, so it is doubted in words
    assert len([words for words in bubbles(page) if DEVANAGARI.search(words)]) > 0
    found = page.evaluate(HINDI)
    assert [words for told, words in found if told != "hi"] == []
    page.locator("#haggle-language").get_by_text("English").click()
    expect(page.get_by_role("button", name="New game")).to_be_visible()
    settle(page)
    wrong = (
        "[...document.querySelectorAll('[lang=hi]')].filter((one) => /[a-z]/i.test(one.innerText))"
    )
    assert page.evaluate(f"{wrong}.length") == 0
