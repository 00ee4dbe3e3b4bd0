"""Transcripts of any game: a long game is not much taller than a short one."""

import pytest
from playwright.sync_api import expect

from tests.support.page import settle, violations

TASKS = ("Single deal", "Ten deals", "Market career", "Crowded market", "Selling")
MOST = 1.4  # times the height of the shortest


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_about_as_tall_with_a_career_as_with_one_deal(open_page, width):
    page = open_page(width=width, query="tab=transcripts&part=any-game")
    heights = {}
    for task in TASKS:
        page.get_by_label("Task", exact=True).locator("visible=true").click()
        page.get_by_role("option", name=task, exact=True).click()
        settle(page)
        heights[task] = page.evaluate("document.documentElement.scrollHeight")
    assert max(heights.values()) < MOST * min(heights.values()), heights
    open_page.assert_no_trouble()


def test_while_a_game_is_stepped_through_its_last_move_is_in_view(open_page):
    query = "tab=transcripts&part=any-game&task=classic/career_10&seed=7&policies=expert"
    page = open_page(query=query)
    moves = page.locator(".sauda-moves").locator("visible=true")
    expect(moves).to_contain_text("silk scarf")
    slider = page.get_by_role("slider", name="Moves shown").locator("visible=true")
    slider.focus()
    slider.press("ArrowLeft")
    expect(page.locator(".sauda-latest").locator("visible=true")).to_have_count(1)
    settle(page)
    ends = [part.evaluate("part => part.getBoundingClientRect().bottom")
            for part in (moves, moves.locator("li").last)]  # fmt: skip
    assert ends[1] <= ends[0]
    assert violations(page) == []
    open_page.assert_no_trouble()
