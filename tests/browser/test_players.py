"""The tournament's map and the data explorer as a visitor uses them."""

import re

from playwright.sync_api import expect

from tests.support.page import DRAWN, settle, show_question, show_tab, violations


def test_a_cell_plays_its_pair_and_the_explorer_pages_through_examples(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who beats whom?")
    page.locator("#results-players-figure td[data-buyer=linear][data-seller=boulware]").click()
    games = page.locator("#results-players-games")
    expect(games.locator(".sauda-card")).to_have_count(3, timeout=DRAWN)
    expect(games).to_contain_text("Equal: ")
    expect(page.locator("#results-players-buyer input")).to_have_value("Linear")
    settle(page)
    assert violations(page, "#results-players-games") == []

    show_tab(page, "Training")
    page.get_by_role("tab", name="Data explorer").click()
    place = page.locator("#data-buyer-place")
    expect(place).to_contain_text("Example 1 of", timeout=DRAWN)
    of_all = place.inner_text()
    page.locator("#data-buyer-search :is(input, textarea)").fill("lamp")
    expect(place).not_to_have_text(of_all)
    page.locator("#data-buyer-next").click()
    expect(place).to_contain_text("Example 2 of")
    page.locator(".sauda-fold > button:visible", has_text="loss mask").click()
    page.get_by_role("button", name="Show the tokens").click()
    mask = page.locator("#data-buyer-mask")
    expect(mask).to_contain_text(re.compile("tokens are in the loss|sauda weights"))
    settle(page)
    assert violations(page) == []
    beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert beyond <= 0
    open_page.assert_no_trouble()
