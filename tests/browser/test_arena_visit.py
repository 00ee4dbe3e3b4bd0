"""The GPU arena's results and transcripts as a visitor uses them."""

from playwright.sync_api import expect

from env import arena
from sauda.policies import LABS
from tests.support.page import settle, show_question, unfold


def test_the_arenas_bars_follow_task_seeds_and_metric_and_the_rows_download(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the arena?")
    unfold(page, "One task at a time")
    points = page.locator("#results-arena-bars .barlayer .point")
    expect(points).to_have_count(len(LABS))
    table = page.locator("#results-arena-table")
    expect(table).to_contain_text("Grade, coalition market, hold-out seeds")
    page.get_by_label("Arena task").click()
    page.get_by_role("option", name="Market round").click()
    page.get_by_label("Training seeds").last.click()
    page.get_by_label("Reward", exact=True).click()
    expect(table).to_contain_text("Reward, market round, training seeds")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the arena’s rows").click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    assert text.startswith("task,split,others,policy,n,")
    assert "arena/market_round,train,as drawn,planner,200" in text
    open_page.assert_no_trouble()


def test_each_action_has_a_card_whose_ways_to_fail_unfold(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the arena?")
    unfold(page, "The actions of a lab")
    cards = page.locator(".sauda-actions-list .sauda-card")
    expect(cards).to_have_count(len(arena.KINDS))
    first = cards.first
    expect(first.get_by_text("self_trade")).to_be_hidden()
    first.locator("summary").click()
    expect(first.get_by_text("self_trade")).to_be_visible()


def test_the_arena_opens_with_both_experts_at_its_demo_seed_and_steps(open_page):
    page = open_page(tab="Transcripts")
    page.get_by_role("tab", name="Any game").click()
    page.get_by_role("button", name="GPU arena, seed 5").click()
    cards = page.locator(".sauda-arena .sauda-card")
    expect(cards).to_have_count(2)
    expect(cards.locator("h3")).to_have_text(["planner", "rule based expert"])
    expect(page.get_by_text("--seed 5")).to_be_visible()
    slider = page.locator(".sauda-steps input[type=range]:visible")
    slider.focus()
    slider.press("Home")
    slider.press("ArrowRight")
    expect(cards.first.locator(".sauda-money")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("# arena/coalition_market, seed 5: planner as lab_0")
    open_page.assert_no_trouble()


def test_before_and_after_plays_the_median_seed_of_the_chosen_task(open_page):
    page = open_page(tab="Transcripts")
    page.get_by_role("tab", name="Any game").click()
    page.get_by_label("Task").last.click()
    page.get_by_role("option", name="Market round").click()
    settle(page)
    page.get_by_role("button", name="GPU arena, before and after").click()
    expect(page.get_by_text("--task arena/market_round --policy planner --seed 50")).to_be_visible()
    expect(page.locator(".sauda-arena .sauda-card")).to_have_count(2)
    open_page.assert_no_trouble()
