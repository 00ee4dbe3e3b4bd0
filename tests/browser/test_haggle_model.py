"""A visitor sells a bicycle to the small model, in Hinglish, to a deal or a walk."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.page import LOADED

pytestmark = pytest.mark.model
REPLIED = 30_000
WORDS = (
    "Bilkul nayi cycle hai bhaiya, koi scratch nahi, {} mein le jao",
    "Mujhe aaj hi bechni hai, chalo {}",
    "Aur bhi log pooch rahe hain, {} last price",
)


def chat_of(page):
    return page.locator("#haggle-chat :is([data-testid=user], [data-testid=bot])")


def sell(page, price: int, round: int) -> None:
    """Name a price and wait for the model's answer to it, or the end of the game."""
    before = chat_of(page).count()
    box = page.locator("#haggle-price").get_by_role("textbox")
    box.fill(WORDS[round % len(WORDS)].format(price))
    box.press("Enter")
    expect(chat_of(page)).to_have_count(before + 2, timeout=REPLIED)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=REPLIED)


@pytest.mark.journey
def test_a_visitor_buys_from_the_small_model_changes_the_seller_and_goes_back(open_page):
    page = open_page(tab="Haggle")
    expect(page.locator("#haggle-badge")).to_contain_text("bf16 on CPU", timeout=LOADED)
    page.locator("#haggle-seat").get_by_text("I buy", exact=True).click()
    pick(page, "#haggle-market", "Open market: a stranger")
    pick(page, "#haggle-other", "SmolLM2, friendly")  # while the first seller still speaks
    badge = page.locator("#haggle-badge b")
    expect(badge).to_have_text("SmolLM2, friendly", timeout=LOADED)  # a model of its own
    expect(chat_of(page)).to_have_count(1, timeout=REPLIED)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=REPLIED)
    page.get_by_role("button", name="Walk away").click()
    expect(page.locator("#haggle-card")).to_contain_text("of what could be won", timeout=REPLIED)
    page.get_by_role("button", name="Go back there").click()
    expect(page.locator("#haggle-pair .sauda-card")).to_have_count(2)
    expect(page.locator("#haggle-pair")).to_contain_text("still open")


def pick(page, place: str, option: str) -> None:
    page.locator(f"{place} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_visitor_sells_a_bicycle_to_the_small_model(open_page):
    page = open_page(tab="Haggle")
    expect(page.locator("#haggle-badge")).to_contain_text("bf16 on CPU", timeout=LOADED)
    ware = page.locator("#haggle-market input")
    ware.click()
    ware.fill("")
    ware.press_sequentially("hybrid")
    page.get_by_role("option", name="hybrid city bicycle").click()
    expect(page.get_by_role("heading", name="Hybrid city bicycle")).to_be_visible()
    expect(page.locator("#haggle-badge b")).to_contain_text("Sauda")
    result, card = page.locator("#haggle-result"), page.locator("#haggle-card")
    for round in range(3):
        sell(page, 13_000 - 500 * round, round)
        if card.is_visible():
            break
        if round == 0:
            reads = page.locator("#haggle-reads")
            expect(reads.locator("mark")).not_to_have_count(0)
            assert re.search(r"₹[\d,]+", chat_of(page).last.inner_text())
    else:
        accept = page.get_by_role("button", name=re.compile("^Accept"))
        accept.click()
        asked = chat_of(page).filter(has_text="nuksaan hoga")  # in the language of its words
        expect(card.or_(asked).first).to_be_visible()
        if asked.count():  # the bid is below the limit, and the page asks back once
            accept.click()
    expect(card).to_contain_text("of what could be won is yours")
    expect(result).to_contain_text("sauda-mini")
    expect(page.locator("#haggle-pair")).to_be_empty()
