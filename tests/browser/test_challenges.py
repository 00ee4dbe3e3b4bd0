"""Bargain of the day and Spot the trained one, as visitors and their friends use them."""

from datetime import date, timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from env import Offer, rupees
from sauda.sessions.bazaar import answer, as_episode
from sauda.sessions.daily import bargain_of, player, today
from sauda.sessions.ladder import LEVELS
from tests.support.page import DRAWN, bids_that_beat, box, settle


def a_day_and_bids_that_win_it() -> tuple[date, list[int]]:
    """A past day, and rising bids of which the seller takes the last, to the buyer's gain."""
    for number in range(1, 60):
        game = bargain_of(day := today() - timedelta(days=number))
        limit, bids = int(game.observation.reservation), []
        for bid in range(limit // 2, limit, max(1, limit // 16)):
            bids.append(bid)
            game = answer(game, Offer(bid))
            if game.over:
                break
        if len(bids) > 1 and player("you", as_episode(game)).share > 0:
            return day, bids
    raise AssertionError("rising bids win no bargain of the last 60 days")


def bid(page: Page, price: int) -> None:
    box(page, "daily").fill(f"{price}")
    box(page, "daily").press("Enter")
    expect(box(page, "daily")).to_have_value("")
    settle(page)


def test_two_tabs_keep_each_others_bargains_and_guesses(open_page):
    days = [today() - timedelta(days=back) for back in (1, 2)]
    one, other = (f"tab=haggle&part=daily&day={day}" for day in days)
    price, another = (bargain_of(day).observation.ask // 2 for day in days)
    first = open_page(query=one)

    def open_tab(query: str) -> Page:
        page = first.context.new_page()
        page.goto(f"{open_page.address}/?{query}")
        shown = page.locator("#daily-brief h2, #spot-moves button").locator("visible=true").first
        expect(shown).to_be_visible(timeout=DRAWN)
        settle(page)
        return page

    bids = first.locator("#daily-chat [data-testid=user]")
    behind, beside = open_tab(one), open_tab(other)
    bid(first, price)
    bid(beside, another)
    box(behind, "daily").fill(f"{price + 1}")
    behind.get_by_role("button", name="Say it").locator("visible=true").click()
    expect(behind.locator("#daily-problem")).to_contain_text("another tab")
    expect(behind.locator("#daily-chat [data-testid=user]")).to_have_text([rupees(price)])
    beside.close()
    behind.close()
    for query, told in ((one, rupees(price)), (other, rupees(another))):
        again = open_tab(query)
        expect(again.locator("#daily-chat [data-testid=user]")).to_have_text([told])
        again.close()
    expect(bids).to_have_text([rupees(price)])

    guessing = [open_tab("tab=haggle&part=spot") for _ in range(2)]
    for number, page in enumerate(guessing, 1):
        page.get_by_role("button", name="A is the trained one").click()
        expect(page.locator("#spot-tally")).to_contain_text(f"of {number}.")


@pytest.mark.journey
def test_a_days_bargain_is_played_kept_and_sent_to_a_friend_who_plays_first(open_page):
    day, (bid, *more) = a_day_and_bids_that_win_it()
    (instance,) = bargain_of(day).play.state.private["nature"]
    limit = rupees(instance.seller["reservation"])
    page = open_page(width=390, height=844, dark=True, query=f"tab=haggle&part=daily&day={day}")
    expect(page.locator("#daily-brief h2")).to_be_visible(timeout=DRAWN)
    typed = box(page, "daily")
    typed.fill(f"{bid} <b>please</b>")
    typed.press("Enter")
    expect(page.locator("#daily-chat [data-testid=bot]")).to_have_count(2)
    assert f"{bid} <b>please</b>" in page.locator("#daily-chat [data-testid=user]").inner_text()
    for price in more:
        said = page.locator("#daily-chat [data-testid=bot]").count()
        typed.fill(str(price))
        typed.press("Enter")
        expect(page.locator("#daily-chat [data-testid=bot]")).not_to_have_count(said)
    expect(page.locator("#daily-result")).to_contain_text("Your place beside the scripts")
    expect(page.locator("#daily-result .sauda-primary")).to_be_in_viewport(ratio=1)
    expect(typed).to_be_hidden()
    expect(page.get_by_role("button", name="…", exact=True)).to_have_count(0)
    expect(page.locator("#daily-result")).to_contain_text(limit)
    expect(page.locator(".sauda-picture")).to_be_visible()
    link = page.locator("#daily-share textarea").input_value().split("\n")[-1]
    again = page.context.new_page()
    again.goto(page.url)
    expect(again.locator("#daily-result")).to_contain_text(limit, timeout=DRAWN)

    friend = open_page(query=urlsplit(link).query)
    expect(friend.locator("#daily-friend")).to_contain_text("Play it yourself", timeout=DRAWN)
    friend.get_by_role("button", name="Watch it first").click()
    expect(friend.locator("#daily-friend")).to_contain_text(rupees(bid))
    expect(friend.locator("#daily-friend li").last).to_be_visible()
    assert limit not in friend.locator("#daily-friend").inner_text()
    friend.get_by_role("button", name="Walk away").click()
    expect(friend.locator("#daily-players")).to_contain_text("your friend")
    open_page.assert_no_trouble()


def test_a_recorded_pair_is_told_apart_and_the_tally_is_kept(open_page):
    page = open_page(width=390, query="tab=haggle&part=spot")
    buyers = page.locator("#spot-buyers .sauda-card")
    expect(buyers).to_have_count(2, timeout=DRAWN)
    expect(page.locator("#spot-about")).to_contain_text("recorded")
    page.get_by_role("button", name="A is the trained one").click()
    expect(page.locator("#spot-verdict")).to_contain_text("is the trained one.")
    expect(page.locator("#spot-tally")).to_contain_text("right of 1.")
    page.get_by_role("button", name="Harder: sell to both yourself").click()
    typed = box(page, "spot")
    typed.fill("<img src=x onerror=alert(1)>")
    typed.press("Enter")
    expect(page.locator("#spot-problem")).not_to_be_empty()
    assert page.locator("#spot-problem img").count() == 0
    settle(page)  # no answer is on its way any more
    page.reload()
    expect(page.locator("#spot-tally")).to_contain_text("right of 1.", timeout=DRAWN)
    open_page.assert_no_trouble()


@pytest.mark.journey
def test_a_level_of_the_ladder_is_played_to_its_stars_which_a_reload_keeps(open_page):
    page = open_page(width=390, query="tab=haggle&part=ladder")
    play = page.locator("#ladder-levels button")
    expect(play).to_have_count(2, timeout=DRAWN)
    settle(page)
    play.first.press("Enter")
    expect(page.locator("#haggle-badge")).to_contain_text(LEVELS[0].text("line"))
    expect(page.locator("#haggle-chat [role=log]")).to_be_focused()
    typed = box(page)
    for price in bids_that_beat(LEVELS[0]):
        said = page.locator("#haggle-chat [data-testid=user]").count()
        typed.fill(f"{price}")
        typed.press("Enter")
        expect(page.locator("#haggle-chat [data-testid=user]")).not_to_have_count(said)
    expect(page.locator("#haggle-after .sauda-stars")).to_contain_text("★")
    settle(page)
    page.get_by_role("tab", name="The ladder").click()
    expect(play).to_have_count(3)
    page.wait_for_url("**part=ladder**")
    page.reload()
    expect(page.locator("#ladder-levels li").first).to_contain_text("★", timeout=DRAWN)
    expect(page.locator("#ladder-far")).to_contain_text("1 of 15")
    open_page.assert_no_trouble()
