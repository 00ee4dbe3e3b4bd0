"""Results and Transcripts in a browser: verdicts, figures, tables, games played again."""

import re

import pytest
from playwright.sync_api import expect

from panels.results.leaderboard import CODE
from panels.results.models import buyer_name
from panels.results.reproduce import SCRIPTED
from sauda.experiments.comparison import OURS
from tests.support.page import DRAWN, overflow, questions, settle, show_question, unfold, violations


@pytest.mark.journey
def test_a_row_is_reproduced_beside_its_record(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the open market?")
    unfold(page, "Reproduce: play a sample of these games again, now")
    page.get_by_role("button", name="Reproduce", exact=True).click()
    result = page.locator("#results-market-reproduced")
    expect(result).to_contain_text(re.compile(r"Equal: mean grade.*n = 20"), timeout=60_000)
    expect(result.locator("tbody tr")).to_have_count(SCRIPTED)
    open_page.assert_no_trouble()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_folded_part_unfolds_with_its_figures_as_wide_as_the_page(open_page, width):
    page = open_page(width=width, tab="Results")
    for title in questions(page):
        show_question(page, title)
        for fold in page.locator(".sauda-fold:visible > button").all_inner_texts():
            name = fold.split("\n")[0]
            unfold(page, name)
            assert page.locator(".sauda-fold:visible > button.open").count() == 1, (title, name)
            widths = page.locator(".js-plotly-plot:visible .main-svg:first-child").evaluate_all(
                "plots => plots.map(plot => plot.getBoundingClientRect().width)"
            )
            assert min(widths, default=width) > 0.8 * width, (name, widths)
        page.locator(".sauda-more:visible").evaluate_all("all => all.map(one => one.open = true)")
        assert overflow(page) <= 0, title
    open_page.assert_no_trouble()


def test_the_explorer_pages_through_examples(open_page):
    page = open_page(tab="Training")
    page.get_by_role("tab", name="Data explorer").click()
    place = page.locator("#data-place")
    expect(place).to_contain_text("Example 1 of", timeout=DRAWN)
    of_all = place.inner_text()
    page.locator("#data-search :is(input, textarea)").fill("lamp")
    expect(place).not_to_have_text(of_all)
    page.locator("#data-next").click()
    expect(place).to_contain_text("Example 2 of")
    page.locator(".sauda-fold > button:visible", has_text="loss mask").click()
    page.get_by_role("button", name="Show the tokens").click()
    mask = page.locator("#data-mask")
    expect(mask).to_contain_text(re.compile("tokens are in the loss|sauda weights"))
    settle(page)
    assert violations(page) == []
    assert overflow(page) <= 0
    open_page.assert_no_trouble()


def test_an_agent_that_enters_by_the_code_on_the_page_stands_there_with_its_games(
    open_page, server
):
    exec(re.sub(r"http://127[\d.:]+", server, CODE), {})
    page = open_page(tab="Results")
    show_question(page, "Leaderboard")
    expect(page.locator("#results-leaderboard-verdict")).to_contain_text("“rising bids” leads")
    figure = page.locator("#results-leaderboard-figure")
    for name in ("rising bids", buyer_name(OURS), "bound of what can be won"):
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
    assert overflow(page) <= 0
    open_page.assert_no_trouble()


@pytest.mark.journey
def test_a_table_is_sorted_searched_and_saved_with_all_its_digits(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the open market?")
    unfold(page, "One task at a time, classic tasks too")
    table = page.locator("#results-bazaar-table .sauda-data")
    rows = table.locator("tbody tr")
    count, first = rows.count(), rows.first.inner_text()
    table.get_by_role("button", name="policy", exact=True).click()
    assert rows.first.inner_text() != first
    table.get_by_role("searchbox").fill("linear")
    expect(rows.locator("visible=true").first).to_contain_text("linear")
    assert 0 < rows.locator("visible=true").count() < count
    with page.expect_download() as download:
        table.get_by_role("button", name="Download as CSV").click()
    heads, *lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert heads.startswith('"policy","n","Grade of the task mean","Grade of the task low",')
    assert len(lines) == count


@pytest.mark.journey
def test_the_moves_are_played_one_after_another_and_pause(open_page):
    page = open_page(tab="Transcripts")
    page.get_by_role("tab", name="Any game").click()
    box = page.locator(".sauda-talk:visible").first
    expect(box).to_be_visible()
    whole = box.locator("li").count()
    page.get_by_role("button", name="Play", exact=False).first.click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(box.locator("li")).not_to_have_count(whole)
    page.get_by_role("button", name="Pause").click()
    settle(page)
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()
