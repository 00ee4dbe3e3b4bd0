"""The talk on the Haggle tab: lines that do not repeat, three languages, the same item again."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.page import bubbles, say, selling, settle, violations

PRICE = re.compile(r"₹[\d,.]*\d")
NAMES = {"English", "Hinglish", "Sauda", "Haggle", "linear"}  # of languages, players


def bot(page) -> list[str]:
    return page.locator("#haggle-chat [data-testid=bot]").all_inner_texts()


def opening(page) -> int:
    """The rupees of the opening that a quick button offers: the list price."""
    text = page.get_by_role("button", name="Open at ₹").inner_text()
    return int(text.split("₹")[1].replace(",", ""))


def pick(page, label: str, name: str) -> None:
    page.locator(f"{label} input").click()
    page.get_by_role("option", name=name, exact=True).click()
    settle(page)


def test_six_moves_of_the_other_side_have_six_different_lines(open_page):
    page = selling(open_page)
    price = 2 * opening(page)
    for step in range(6):
        say(page, f"₹{price - step * price // 40}")
    lines = bot(page)
    assert len(lines) == len({PRICE.sub("#", line) for line in lines}) == 6
    open_page.assert_no_trouble()


def test_a_greeting_survives_a_move_and_taking_it_back(open_page):
    page = selling(open_page)
    price = opening(page)
    say(page, "hello there")
    say(page, f"₹{price}")
    page.get_by_role("button", name="Take back").click()
    settle(page)
    assert bubbles(page)[0] == "hello there"
    assert len(bubbles(page)) == 2


def test_a_game_in_hindi_shows_no_latin_words_besides_names(open_page):
    page = selling(open_page)
    page.locator("#haggle-language").get_by_text("हिन्दी").click()
    settle(page)
    for text in ("नमस्ते", "क्या यह नया है?", "₹1", "हाँ"):
        say(page, text)
    tab = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    labels = tab.locator("svg text, svg [aria-label]").all_text_contents()
    shown = " ".join([tab.inner_text(), *labels])
    for named in ("#haggle-badge", "#haggle-result"):
        shown = shown.replace(page.locator(named).first.inner_text(), "")  # models, commands
    latin = set(re.findall(r"[A-Za-z]+", shown))
    assert latin <= NAMES
    page.get_by_role("tab", name="आज का सौदा").click()
    expect(page.locator("#daily-brief h3")).to_be_visible()
    settle(page)
    assert set(re.findall(r"[A-Za-z]+", tab.inner_text())) <= NAMES
    page.get_by_role("tab", name="कोई भी सौदा").click()
    assert page.locator("#haggle-market input").input_value() == "कुछ भी"
    assert "नमस्ते" in bubbles(page)
    open_page.assert_no_trouble()


def test_another_opponent_offers_the_same_item_again(open_page):
    page = selling(open_page)
    item = page.locator(".sauda-brief h3").inner_text()
    say(page, f"₹{opening(page)}")
    expect(page.locator("#haggle-chat [data-testid=bot]")).to_have_count(1)
    pick(page, "#haggle-other", "boulware")
    expect(page.locator(".sauda-brief h3")).to_have_text(item)
    expect(page.locator("#haggle-problem")).to_contain_text("The same item and seed again")
    assert bubbles(page) == []
    open_page.assert_no_trouble()


def test_a_price_below_the_own_limit_is_asked_back_in_the_chat(open_page):
    page = selling(open_page)
    price = opening(page)
    say(page, f"₹{price // 2}")
    typed, question = bubbles(page)
    assert typed == f"₹{price // 2}"
    assert "below your own limit" in question
    assert page.locator("#haggle-problem .sauda-bad").count() == 0
    say(page, "yes")
    assert bubbles(page)[0] == f"₹{price // 2}"
    assert len(bot(page)) == 1
    assert "below your own limit" not in bot(page)[0]
    open_page.assert_no_trouble()


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (1280, True), (390, False), (390, True)]
)
def test_an_own_bubble_shows_the_price_that_was_read_over_the_words(open_page, width, dark):
    game = "tab=haggle&task=classic/single_deal&seed=1&against=hidden"
    page = open_page(width=width, dark=dark, query=game)
    say(page, "two thousand for <i>this</i>")
    say(page, "thirty rupees, my friend")
    own = page.locator("#haggle-chat [data-testid=user]")
    read = own.locator("b")
    expect(read).to_have_text(["two thousand = ₹2,000", "thirty rupees = ₹30"])
    texts = own.all_inner_texts()
    assert [text.split("\n")[-1] for text in texts] == [
        "two thousand for <i>this</i>",
        "thirty rupees, my friend",
    ]
    for tag in read.all():
        assert tag.bounding_box()["x"] + tag.bounding_box()["width"] <= width
    assert violations(page, "#haggle-chat") == []
    open_page.assert_no_trouble()
