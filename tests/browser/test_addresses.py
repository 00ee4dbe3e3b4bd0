"""Each tab and sub-tab has an address: Back, Forward, a link and the arrow keys lead there."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import expect

from panels.site.gate import MOST_BYTES, SESSIONS_OF_ADDRESS
from tests.support.page import DRAWN, box, bubbles, buying, holding, settle, show_tab


def tab_of(page, title: str):
    tabs = page.locator(".sauda-tabs > .tab-wrapper").first
    return tabs.get_by_role("tab", name=title, exact=True)


def selected(page, title: str) -> None:
    expect(tab_of(page, title)).to_have_attribute("aria-selected", "true")


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


def test_arrow_keys_move_between_tabs(open_page):
    page = open_page()
    tab_of(page, "Tour").focus()
    for key, tab in (
        ("ArrowRight", "Haggle"), ("ArrowLeft", "Tour"), ("ArrowLeft", "Artifacts & API"),
        ("Home", "Tour"), ("End", "Artifacts & API"),
    ):  # fmt: skip
        page.keyboard.press(key)
        selected(page, tab)


@pytest.mark.parametrize("theme", ["", "&__theme=dark"])
def test_the_address_of_a_world_stays_and_is_written_once(open_page, theme):
    page = open_page().context.new_page()
    world = "tab=gpu_arena&task=arena/single_trade&seed=7"
    with holding(page):  # the answer, which draws all of the tab anew, comes once the tab is shown
        page.goto(f"{open_page.address}/?{world}{theme}")
        visits = page.evaluate("history.length")
        expect(page.locator("#arena-top")).to_be_visible(timeout=DRAWN)
        settle(page)
    expect(page.locator("#arena-task")).to_have_value("arena/single_trade")
    settle(page)
    assert page.evaluate("location.search") == f"?{world}{theme}"
    assert page.evaluate("history.length") == visits
    page.locator("#arena-task").select_option("arena/market_round")
    expect(page).to_have_url(re.compile("task=arena(/|%2F)market_round&seed=7"))
    page.go_back()
    expect(page.locator("#arena-task")).to_have_value("arena/single_trade")


@pytest.mark.journey
def test_the_race_runs_at_once_and_again_and_the_tour_leads_to_the_other_tabs(open_page):
    page = open_page()
    verdict = page.locator("#tour-race .sauda-outcome")
    expect(verdict).to_contain_text("Can you do better?")
    page.locator("#tour-race").get_by_role("button", name="Watch again").click()
    settle(page)
    expect(verdict).to_be_visible()
    page.get_by_label("Compare with").click()
    page.get_by_role("option", name="Tuned script").click()
    expect(page.locator("#tour-race h3").last).to_have_text("Tuned script")
    expect(page.get_by_role("link", name=re.compile("Artifacts & API"))).to_be_visible()
    page.get_by_role("link", name="Beat it").click()
    settle(page)
    expect(page.locator("#haggle-chat")).to_be_visible()


def test_the_first_view_shows_the_race_before_any_script_of_gradio(browser, server):
    context = browser.new_context()
    context.route("**/assets/**", lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{server}/?__theme=dark")
    expect(page.locator("#sauda-first.dark .sauda-race")).to_be_visible()
    expect(page.locator("#sauda-first [role=status]")).to_contain_text("Loading")
    assert page.locator("#sauda-first :is(a, button)").count() == 0  # none could be pressed
    page.goto(f"{server}/?tab=results")
    expect(page.locator("#sauda-first h1")).to_be_visible()
    expect(page.locator("#sauda-first .sauda-race")).to_have_count(0)
    context.close()


def test_without_scripts_the_page_says_what_it_needs(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server)
    expect(page.locator("noscript .sauda-needs")).to_be_visible()
    expect(page.locator("#sauda-first .sauda-loading")).to_be_hidden()
    context.close()


# Calls that the server refuses


ADDRESS = {"x-forwarded-for": "203.0.113.77"}  # no limit binds the machine's own visitors


def test_a_refused_call_says_why_and_for_how_long_and_what_was_typed_stays(open_page):
    page = buying(open_page)
    page.set_extra_http_headers(ADDRESS)
    refusal, typed = page.get_by_role("alert"), box(page)
    before, large = bubbles(page), "₹50" + " " * MOST_BYTES
    typed.evaluate("box => box.removeAttribute('maxlength')")
    typed.fill(large)
    typed.press("Enter")
    expect(refusal).to_contain_text("KiB")
    assert (bubbles(page), typed.input_value()) == (before, large)
    refusal.get_by_role("button").click()
    expect(refusal).to_have_count(0)
    with (
        httpx.Client(base_url=open_page.address, headers=ADDRESS, timeout=60) as client,
        ThreadPoolExecutor() as flood,
    ):
        for _ in range(SESSIONS_OF_ADDRESS):
            call = {"session_hash": uuid4().hex}
            flood.submit(client.post, "/gradio_api/cancel", json=call)
    page.reload()
    expect(refusal).to_contain_text(re.compile(r"again in \d+ s"))
    settle(page)
    expect(refusal).to_have_count(1)  # for all calls of an opening
