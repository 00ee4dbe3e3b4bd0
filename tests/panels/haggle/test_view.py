"""What the Haggle tab draws of a game: nothing hidden before the end, nothing typed as markup.

What each kind of game shows stands in the golden views and chats.
"""

import re

import pytest
from markupsafe import Markup

from env import TYPES, Offer, WalkAway, rupees
from env.bazaar.speech import Speech, say
from panels.haggle.conversation import SILENT, chat_of, converse
from panels.haggle.game_view import brief, bubbles, chart, findings, limits, mark, reading
from panels.haggle.opponents import BUY, SELL, SELLING_TASK
from panels.haggle.result import board_of, card, on_the_table, result, show_review
from panels.haggle.words import ENGLISH, HINDI, translator
from panels.results.models import policy_label
from panels.ui.look import as_typed
from sauda.games import policies_of
from sauda.llm.types import Reply
from sauda.sessions.bazaar import after_reply, answer, start
from sauda.sessions.review import review
from tests.support.cases import each
from tests.support.golden import plain

IN_ENGLISH, IN_HINDI = translator(ENGLISH), translator(HINDI)


@pytest.mark.parametrize("seat", [BUY, SELL])
def test_nothing_hidden_is_shown_before_the_end(seat):
    for seed in range(2_000_000, 2_000_020):
        game = start(SELLING_TASK if seat == SELL else "classic/amazon_realistic", "", seed)
        seller, buyer = limits(game)
        secret = buyer if seat == SELL else round(seller, 2)
        assert secret != game.observation.table.item.list_price  # or it would be public
        shown = "".join(map(str, (brief(game), chart(game), result(game))))
        assert str(game.play.seed) not in shown
        assert rupees(secret) not in shown
        assert (card(game), board_of(game)) == ("", ())


@each("talk.csv", "bubble")
def test_an_own_bubble_shows_the_price_that_was_read_and_words_that_were_read_as_it(text, expect):
    game, talk = converse(start("classic/single_deal", "", 5), SILENT, text)
    (own,) = (m["content"] for m in bubbles(chat_of(game, talk).messages) if m["role"] == "user")
    assert Markup(own.replace("</b> ", "</b> · ")).striptags() == expect


@pytest.mark.parametrize("task", ["bazaar/sell", "bazaar/open", "classic/read_the_tells"])
def test_in_hindi_only_names_and_the_command_are_latin(task):
    game = start(task, "linear" if task == SELLING_TASK else "", 3)
    while not game.over:
        game = answer(game, WalkAway())
    shown = card(game, IN_HINDI) + result(game, IN_HINDI, HINDI)
    shown += show_review(review(game), IN_HINDI, HINDI)
    text = re.sub(r"python -m sauda play [^।<]*", "", plain(shown))
    scripts = policies_of(game.task)
    known = [*scripts, *map(policy_label, scripts), *TYPES, "n"]
    names = " ".join(known).replace("_", " ").split()
    assert set(re.findall(r"[A-Za-z]+", text)) <= set(names)


def test_against_a_model_the_bars_show_what_was_on_the_table():
    """A buyer's prices are percents of the list price."""
    game = start("bazaar/sell", "mini", 3)
    for ask, percent in ((900, 79), (800, 82)):
        reply = Reply(f'{{"offer":{percent}}}', "model", 9, "stop")
        game = after_reply(answer(game, Offer(ask)), reply)
    low, high = limits(game)
    shares = [f"{(bid - low) / (high - low):.0%}" for bid in game.observation.table.bids]
    shown = on_the_table(answer(game, WalkAway()), IN_ENGLISH)
    assert re.findall(r">(\d+%)<", shown) == shares
    assert f"The most, {shares[-1]}, was on the table before your move 3." in shown


def said(speech: Speech, language: str = "en", draw: float = 0.0, use: str = "seen") -> str:
    return say(speech, 760, None, draw, language, use)


@pytest.mark.parametrize("language", ["en", "hinglish", "hi"])
def test_each_thing_that_is_heard_stands_beside_the_phrase_that_told_it(language):
    line = said(Speech("firm", "cost", "price", 310, "swear", "pleased"), language)
    found = {one.part: one for one in findings([line])}
    keys = ("style_firm", "mood_pleased", "claim_cost_price", "candour_swear")
    assert tuple(one.key for one in found.values()) == keys
    assert found["claim"].cost == 310
    for one in found.values():
        assert line[one.start : one.start + len(one.phrase)] == one.phrase
    shown = mark(line, list(found.values()), IN_ENGLISH)
    assert shown.count("<mark") == 4
    assert Markup(shown).striptags() == Markup(line).striptags()


def test_what_was_heard_before_stays_and_says_so():
    lines = [said(Speech("firm", "time", "short")), said(Speech("hasty", reaction="annoyed"))]
    found = {one.part: one for one in findings(lines)}
    assert (found["style"].key, found["claim"].key) == ("style_hasty", "claim_time_short")
    assert (found["claim"].start, found["candour"].start) == (None, None)
    assert found["mood"].start is not None


def test_a_buyer_sees_which_act_the_seller_heard():
    game = answer(start("bazaar/open", "firm", 5), Offer(300, "cash, right now"))
    assert "cash at once" in reading(game, IN_ENGLISH, ENGLISH)
    assert reading(start("classic/single_deal", "", 5), IN_ENGLISH, ENGLISH) == ""


def test_the_words_of_both_sides_enter_the_chat_escaped():
    image = '<img src=x onerror="alert()"> &lt;b&gt;'
    game = answer(start("bazaar/sell", "mini", 3), Offer(900, f"900 {image}"))
    game = after_reply(game, Reply('{"offer": 50, "say": "<h1>fine</h1>"}', "m"))
    visitor, model = (m["content"] for m in bubbles(chat_of(game).messages))
    assert visitor == f"<b>₹900</b> 900 {as_typed(image)}"
    assert "&lt;h1&gt;fine&lt;/h1&gt;" in model
