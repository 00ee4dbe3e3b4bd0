"""The GPU arena tab as a visitor uses it: stepping, running, taking over, typing nonsense."""

from playwright.sync_api import expect

from tests.support.page import settle, show_tab


def test_a_visitor_steps_takes_over_and_runs_to_the_settlement(open_page):
    page = open_page()
    show_tab(page, "GPU arena")
    log = page.locator("#arena-log li")
    page.get_by_role("button", name="Step", exact=True).click()
    expect(log).to_have_count(1)
    expect(page.locator("#arena-reward")).to_contain_text("normalized reward")

    page.get_by_role("button", name="Take over lab_0").click()
    page.get_by_label("Action", exact=True).click()
    page.get_by_role("option", name="send message", exact=True).click()
    words = page.get_by_label("What you say")
    expect(words).to_have_value("What would you trade?")  # the form of the chosen action is there
    words.fill("Anyone with a spare block?")
    page.get_by_role("button", name="Act", exact=True).click()
    expect(log).to_have_count(2)
    expect(log.first).to_contain_text("Anyone with a spare block?")
    expect(log.first).to_contain_text("message_sent")

    page.get_by_label("Or as JSON").fill("give me everything")
    page.get_by_role("button", name="Send JSON").click()
    expect(page.locator("#arena-problem")).to_contain_text("An action is JSON such as")
    expect(log).to_have_count(2)

    page.get_by_label("Or as JSON").fill('{"action_type": "finish"}')
    page.get_by_role("button", name="Send JSON").click()
    expect(page.locator("#arena-end")).to_contain_text("over what it could make alone")
    expect(page.locator("#arena-end")).to_contain_text("2 by you")
    expect(page.get_by_role("button", name="Step", exact=True)).to_be_disabled()
    open_page.assert_no_trouble()


def test_a_run_ends_by_itself_and_a_new_world_starts_afresh(open_page):
    page = open_page()
    show_tab(page, "GPU arena")
    page.get_by_label("Task").click()
    page.get_by_role("option", name="arena/single_trade").click()
    settle(page)  # the world of the new task stands
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#arena-end")).to_contain_text("grade", timeout=60_000)
    page.get_by_label("Seed", exact=True).fill("many")
    page.get_by_role("button", name="New world").click()
    expect(page.locator("#arena-problem")).to_contain_text("A seed is a whole number from 0")
    page.get_by_label("Seed", exact=True).fill("6")
    page.get_by_role("button", name="New world").click()
    expect(page.locator("#arena-log")).to_contain_text("lab_0 has not moved yet")
    open_page.assert_no_trouble()
