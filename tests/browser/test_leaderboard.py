"""The leaderboard in a browser: an agent enters by the code on the page, its games open."""

from playwright.sync_api import expect

from panels.results.questions.leaderboard import SNIPPET
from panels.results.questions.verdict import buyer_name
from sauda.experiments.comparison import OURS
from tests.support.page import settle, show_question, unfold, violations


def test_an_agent_that_enters_by_the_code_on_the_page_stands_there_with_its_games(
    open_page, server
):
    exec(SNIPPET.replace("{address}", server), {})
    page = open_page(tab="Results")
    show_question(page, "Leaderboard")
    expect(page.locator("#results-leaderboard-verdict")).to_contain_text("“rising bids” leads")
    figure = page.locator("#results-leaderboard-figure")
    for name in ("rising bids", "the pilot", buyer_name(OURS), "bound of what can be won"):
        expect(figure.get_by_text(name).first).to_be_visible()
    unfold(page, "Open a game of an entry")
    game = page.locator("#leaderboard-game")
    expect(game).to_contain_text("Game 1 of 50 of “rising bids”, grade ")
    page.get_by_role("spinbutton", name="Game of the entry").fill("50")
    expect(game).to_contain_text("Game 50 of 50")
    unfold(page, "Enter your agent: the whole code")
    expect(page.locator("#results-leaderboard-code")).to_contain_text(f'page = "{server}"')
    assert violations(page, "#results-questions") == []
    page.set_viewport_size({"width": 390, "height": 800})
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    open_page.assert_no_trouble()
