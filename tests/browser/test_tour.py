"""The Tour in a browser: the race plays at once, and four steps lead to the other tabs."""

from playwright.sync_api import expect

from sauda.commands.bench.page import FIGURE
from tests.support.page import settle


def test_the_race_runs_at_once_and_again(open_page):
    page = open_page()
    expect(page.locator(FIGURE).first).to_be_visible()  # what the bench waits for
    rows = page.locator("#tour-race tbody tr")
    expect(rows.last).to_contain_text("that could be won")
    count = rows.count()
    assert count > 2
    page.get_by_role("button", name="Watch again").click()
    settle(page)
    expect(rows).to_have_count(count)


def test_four_steps_lead_to_the_other_tabs(open_page):
    page = open_page()
    for step in ("Did it learn?", "Two games", "Your turn"):
        page.get_by_role("button", name=f"Next: {step}").click()
        settle(page)
    expect(page.get_by_role("button", name="Check a number")).to_be_visible()
    page.get_by_role("button", name="Haggle", exact=True).click()
    settle(page)
    expect(page.locator("#haggle-chat")).to_be_visible()
