"""The end of a game and a visit after it: the card, a shared link, a reload, a row in Results."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.page import bubbles, buying, say, selling, settle, unfold_choices, violations

PHONE = {"width": 390, "height": 844}
DRAFT = '<b id="sneaked">not yet</b>'


def box(page: Page):
    return page.locator("#haggle-price :is(input, textarea)")


def finish(page: Page) -> Page:
    """The page after the visitor has left, with the review of the game."""
    page.get_by_role("button", name="Walk away").click()
    page.locator("#haggle-review .sauda-own").wait_for()
    settle(page)
    return page


@pytest.mark.journey
def test_a_reload_finds_the_game_and_what_was_typed_and_each_tab_has_its_own(open_page):
    first, second = selling(open_page), buying(open_page)
    first.get_by_role("button", name="Open at ₹").click()
    settle(first)
    say(first, DRAFT)
    told = bubbles(first)
    box(first).fill(DRAFT)
    first.reload()
    expect(box(first)).to_have_value(DRAFT)
    settle(first)
    assert bubbles(first) == told
    assert first.locator("#haggle-other input").input_value() == "linear"
    assert first.locator("#sneaked").count() == 0
    say(first, "walk away")
    expect(first.locator("#haggle-card")).to_contain_text("Against linear")
    second.reload()
    expect(second.locator("#haggle-market input")).to_have_value("A plain seller")
    settle(second)
    assert len(bubbles(second)) == 1
    open_page.assert_no_trouble()


def test_the_card_leads_on_to_another_opponent_a_friend_and_the_row_in_results(open_page):
    page = selling(open_page)
    item = page.locator(".sauda-brief h3").inner_text()
    finish(page)
    expect(page.locator("#haggle-price")).to_be_hidden()
    link = page.locator("#haggle-card .sauda-share").get_attribute("href")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#haggle-copied")).to_contain_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").endswith(link)

    friend = open_page(query=link.removeprefix("?"))
    expect(friend.locator(".sauda-brief h3")).to_have_text(item)
    expect(friend.locator("#haggle-problem")).to_contain_text("A shared game")
    assert "seed" not in friend.url  # so that a reload goes on with the friend's game

    page.locator("#haggle-against input").click()
    page.get_by_role("option", name="pilot", exact=True).click()
    settle(page)
    expect(page.locator(".sauda-brief h3")).to_have_text(item)
    expect(page.locator("#haggle-badge b")).to_have_text("pilot")
    expect(page.locator("#haggle-card")).to_be_hidden()
    page.locator("#haggle-badge a", has_text="Its row").click()
    row = page.locator("#results-market-figure .sauda-pointed")
    expect(row).to_contain_text("the pilot", timeout=20_000)
    expect(row).to_be_in_viewport()

    page.go_back()
    page.locator("#haggle-badge a", has_text="Reproduce").click()
    picked = page.locator("#results-market-row input")
    expect(picked).to_have_value("Open market · The pilot")
    expect(picked).to_be_in_viewport()
    page.get_by_role("button", name="Reproduce", exact=True).locator("visible=true").click()
    expect(page.locator("#results-market-reproduced")).to_contain_text("Equal: mean grade")
    open_page.assert_no_trouble()


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_the_game_is_on_the_first_screen(open_page, dark):
    page = open_page(tab="Haggle", dark=dark, **PHONE)
    expect(page.locator("#haggle-other")).to_be_hidden()
    for place in (".sauda-brief", "#haggle-chat", "#haggle-price"):
        expect(page.locator(place)).to_be_in_viewport()
    unfold_choices(page)
    page.locator("#haggle-other input").click()
    page.get_by_role("option", name="linear").click()
    settle(page)
    finish(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    open_page.assert_no_trouble()
