"""Transcripts of any game, stepped through."""

from playwright.sync_api import expect

from tests.support.page import settle, violations


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
