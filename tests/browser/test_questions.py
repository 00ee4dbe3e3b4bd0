"""Results as five questions: a verdict, one figure, and the details that unfold below."""

import re

import pytest
from playwright.sync_api import expect

from panels.results.questions.reproduce import SCRIPTED
from panels.results.tab import QUESTIONS
from tests.support.page import questions, show_question, unfold

ANSWERED = QUESTIONS[:-1]  # the last sub-tab holds what answers no question


def test_a_question_shows_its_verdict_one_figure_and_details_that_unfold(open_page):
    page = open_page(tab="Results")
    for question in ANSWERED:
        show_question(page, question.TITLE)
        part = f"#results-{question.NAME}"
        expect(page.locator(f"{part}-verdict .sauda-answer")).to_have_text(re.compile(r"^\w.+\.$"))
        expect(page.locator(f"{part}-figure")).to_be_visible()
        table = page.locator(f"{part}-numbers")
        expect(table).not_to_be_visible()
        unfold(page, "The numbers of this figure")
        expect(table).to_be_visible()
        with page.expect_download() as download:
            page.locator("button:visible", has_text="Download these numbers as CSV").click()
        assert download.value.suggested_filename == f"results-{question.NAME}.csv"
        assert download.value.path().read_text(encoding="utf-8-sig").startswith("task,")
    open_page.assert_no_trouble()


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


def assert_figures_fill(page, width: int, part: str) -> None:
    """Fail where a figure that is shown is much narrower than the window."""
    widths = page.locator(".js-plotly-plot:visible .main-svg:first-child").evaluate_all(
        "plots => plots.map(plot => plot.getBoundingClientRect().width)"
    )
    assert min(widths, default=width) > 0.8 * width, (part, widths)


@pytest.mark.parametrize("width", [1280, 390])
def test_every_folded_part_unfolds_with_its_figures_as_wide_as_the_page(open_page, width):
    page = open_page(width=width, tab="Results")
    for title in questions(page):
        show_question(page, title)
        for fold in page.locator(".sauda-fold:visible > button").all_inner_texts():
            name = fold.split("\n")[0]
            unfold(page, name)
            assert page.locator(".sauda-fold:visible > button.open").count() == 1, (title, name)
            assert_figures_fill(page, width, name)
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 0, f"{title} is {beyond} px wider than the window"
    open_page.assert_no_trouble()
