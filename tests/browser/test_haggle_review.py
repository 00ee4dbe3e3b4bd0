"""The game review in a browser: after a game against a script, every move with its cost."""

from functools import partial

import pytest
from playwright.sync_api import expect

from tests.support.page import bubbles, buying, say, selling, settle, violations


@pytest.fixture
def sold(open_page):
    """A sale at the second bid of a script that would have gone up to its limit."""
    return sale(selling(open_page))


def sale(page):
    """The page after a sale that ends at the buyer's second bid, with its review."""
    page.get_by_role("button", name="Open at ₹").click()
    settle(page)
    page.get_by_role("button", name="A little ₹").click()
    settle(page)
    assert page.locator("#haggle-review").inner_text() == ""
    accept = page.get_by_role("button", name="Accept").first
    at_a_loss = "loss" in accept.inner_text()  # is asked back once
    for _ in range(2 if at_a_loss else 1):
        accept.click()
        settle(page)
    page.locator("#haggle-review .sauda-own").wait_for()
    settle(page)
    return page


@pytest.mark.journey
def test_after_the_end_every_move_has_its_cost_and_the_best_line_is_told(open_page, sold):
    review = sold.locator("#haggle-review")
    expect(review).to_contain_text("You left ₹")
    expect(review.locator(".sauda-own li")).to_have_count(3)
    expect(review.locator(".sauda-own li").last).to_contain_text("−₹")
    expect(review.locator("svg.sauda-left")).to_be_visible()
    expect(review.locator(".sauda-line li").first).to_contain_text("You: ₹")
    expect(sold.locator("#haggle-result")).to_contain_text("The seller’s limit was")
    open_page.assert_no_trouble()


def test_what_if_goes_back_to_the_move_and_the_other_game_is_reviewed_in_its_turn(open_page, sold):
    second = bubbles(sold)[:2]
    sold.get_by_role("button", name="What if you had made another move 2?").click()
    settle(sold)
    assert bubbles(sold) == second
    assert sold.locator("#haggle-review").inner_text() == ""
    sold.get_by_role("button", name="Walk away").click()
    expect(sold.locator("#haggle-review .sauda-own li")).to_have_count(2)
    expect(sold.locator("#haggle-pair")).to_contain_text("The first game")
    open_page.assert_no_trouble()


def test_markup_in_a_message_is_text_and_the_review_follows_the_language(open_page):
    page = buying(open_page)
    say(page, "₹20 <b id=sneaked>now</b>")
    page.get_by_role("button", name="Walk away").click()
    review = page.locator("#haggle-review")
    expect(review.locator(".sauda-own li").first).to_contain_text("1. ₹20")
    assert page.locator("#sneaked").count() == 0
    page.locator("#haggle-language").get_by_text("हिन्दी").click()
    expect(review).to_contain_text("खेल की समीक्षा")
    expect(review.locator(".sauda-own li")).to_have_count(2)
    open_page.assert_no_trouble()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_review_keeps_wcag_and_fits_its_width(open_page, width, dark):
    page = sale(selling(partial(open_page, width=width, dark=dark)))
    assert violations(page, "#haggle-review") == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
