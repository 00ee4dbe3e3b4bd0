"""The page's own components in a browser, each by itself."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from panels.ui.components import moves


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """The demonstration of `Moves`."""
    demo = moves.demo()
    _, address, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(address)
    yield opened
    context.close()
    demo.close()


def test_a_move_tells_its_name_and_the_fields_and_a_second_enter_makes_no_other(page):
    made, table = page.get_by_label("Made"), page.locator("#moves")
    page.get_by_label("Why").select_option("hurry")
    page.get_by_role("button", name="Offer 100").focus()
    page.keyboard.press("Enter")
    expect(made).to_have_value("offer:100 haste")
    expect(page.get_by_role("button", name="Offer 101")).to_be_visible()
    expect(table).to_be_focused()  # that button is another one
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Walk").press("Enter")
    expect(made).to_have_value("walk haste")
    expect(page.get_by_role("button", name="Walk")).to_be_focused()  # and this is the same
