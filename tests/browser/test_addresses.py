"""Each tab and sub-tab has an address: Back, Forward, a link and the arrow keys lead there."""

import re

from playwright.sync_api import expect

from tests.support.page import settle, show_question, show_tab


def selected(page, title: str) -> None:
    tab = page.locator(".sauda-tabs > .tab-wrapper").first.get_by_role(
        "tab", name=title, exact=True
    )
    expect(tab).to_have_attribute("aria-selected", "true")


def test_choosing_a_tab_writes_its_address_and_back_and_forward_follow(open_page):
    page = open_page()
    show_tab(page, "Haggle")
    expect(page).to_have_url(re.compile(r"\?tab=haggle\b"))
    show_tab(page, "Training")
    expect(page).to_have_url(re.compile(r"\?tab=training\b"))
    page.go_back()
    selected(page, "Haggle")
    page.go_forward()
    selected(page, "Training")
    open_page.assert_no_trouble()


def test_a_sub_tab_has_an_address_that_opens_it(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the arena?")
    expect(page).to_have_url(re.compile(r"\?tab=results&part=arena"))
    page.reload()
    selected(page, "Results")
    part = page.locator("#results-questions").get_by_role("tab", name="Who wins the arena?")
    expect(part).to_have_attribute("aria-selected", "true", timeout=20_000)
    expect(page.locator("#results-arena-verdict")).to_be_visible()
    open_page.assert_no_trouble()


def test_a_button_that_leads_to_a_tab_writes_its_address(open_page):
    page = open_page()
    for step in ("Did it learn?", "Two games"):
        page.get_by_role("button", name=f"Next: {step}").click()
        settle(page)
    page.get_by_role("button", name="Run a lab").click()
    selected(page, "GPU arena")
    expect(page).to_have_url(re.compile(r"\?tab=gpu_arena"))


def test_arrow_keys_move_between_tabs(open_page):
    page = open_page()
    tab = page.locator(".sauda-tabs > .tab-wrapper").first.get_by_role(
        "tab", name="Tour", exact=True
    )
    tab.focus()
    page.keyboard.press("ArrowRight")
    selected(page, "Haggle")
    page.keyboard.press("ArrowLeft")
    selected(page, "Tour")
    page.keyboard.press("ArrowLeft")
    selected(page, "Artifacts & API")
