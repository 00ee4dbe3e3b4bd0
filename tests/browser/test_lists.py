"""A list whose choices an event changes does not open until the event is answered.

Gradio's browser side fails where the choices of an open list become fewer, and draws nothing after.
"""

import pytest
from playwright.sync_api import expect

from tests.support.page import settle

# By tab: the page's address, the picker, the list that it changes, and the event's request.
LISTS = {
    "Haggle": ("tab=haggle", "#haggle-market", "#haggle-other", "**/run/**"),
    "Transcripts": (
        "tab=transcripts&part=any-game", "#transcripts-task", "#transcripts-policies",
        "**/queue/join**",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tab", LISTS)
def test_a_list_stays_closed_until_the_event_that_changes_its_choices_is_answered(open_page, tab):
    query, picker, changed, requests = LISTS[tab]
    page = open_page(query=query)
    settle(page)
    held = []
    page.route(requests, lambda route: held.append(route))
    page.locator(f"{picker} input").click()
    page.get_by_role("option").last.click()
    expect(page.locator(f"{changed}[inert]")).to_have_count(1)
    for route in held:
        route.continue_()
    page.unroute(requests)
    expect(page.locator(f"{changed}[inert]")).to_have_count(0)
    page.locator(f"{changed} input").first.click()
    expect(page.get_by_role("option").first).to_be_visible()
    open_page.assert_no_trouble()


def test_a_list_that_closes_without_a_choice_leaves_the_game_alone(open_page):
    page = open_page(query="tab=haggle")
    chat = page.locator("#haggle-chat [data-testid=user]")
    price = page.locator("#haggle-price").get_by_role("textbox")
    price.fill("₹900000")
    price.press("Enter")
    expect(chat).to_have_count(1)
    for picker in ("#haggle-market", "#haggle-other"):
        with page.expect_response("**/run/predict**"):  # the list tells its value again
            page.locator(f"{picker} input").click()
            page.get_by_role("heading", name="Haggle").click()
        settle(page)
    expect(chat).to_have_count(1)
    open_page.assert_no_trouble()
