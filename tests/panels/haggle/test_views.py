"""What the Haggle tab draws from a game: nothing hidden before the end, everything after it."""

import pytest
from markupsafe import Markup

from env import rupees
from panels.haggle.choices import BUY, SELL, SELLING_TASK
from panels.haggle.game_view import brief, bubbles, chart, limits
from panels.haggle.opponents.model_view import believed, reading
from panels.haggle.review.result_view import result
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import converse, play_text
from panels.haggle.words import ENGLISH, translator
from sauda.sessions.bazaar import answer, quick_moves, start


@pytest.mark.parametrize("seat", [BUY, SELL])
def test_nothing_hidden_is_shown_before_the_end(seat):
    sell = seat == SELL
    for seed in range(2_000_000, 2_000_020):
        game = start(SELLING_TASK if sell else "classic/amazon_realistic", "", seed)
        seller, buyer = limits(game)
        secret = buyer if sell else round(seller, 2)
        assert secret != game.observation.table.item.list_price  # or it would be public
        shown = "".join(map(str, (brief(game), chart(game), result(game))))
        assert str(game.play.seed) not in shown
        assert rupees(secret) not in shown


def test_after_the_end_both_limits_the_seed_and_every_policy_show():
    game = answer(start("classic/single_deal", "", 5), quick_moves_of(5)[0].action)
    shown = str(result(game))
    assert "The seller’s limit was ₹30, the buyer’s ₹100." in shown
    assert "57% to the buyer" in shown
    assert "--seed 5" in shown
    assert all(name in shown for name in ("expert", "wait", "you"))


def quick_moves_of(seed):
    return quick_moves(start("classic/single_deal", "", seed).observation)


def play_out(game, *moves):
    for move in moves:
        game = play_text(game, move)
    return game


def test_a_rival_that_bought_is_named_and_nothing_is_said_to_be_won():
    game = play_out(start("classic/marketplace_arena", "", 3), "₹31", "₹33", "₹35")
    assert game.over
    assert any("bought it" in m["content"] for m in chat_of(game).messages)
    shown = str(result(game))
    assert "bought it in round" in shown
    assert "you won nothing" in shown
    assert "to the buyer" not in shown


def test_a_career_tells_each_deals_end_and_lists_them_all():
    game = play_out(start("classic/read_the_tells", "", 3), "deal", "walk away", "deal", "deal")
    notices = [m["content"] for m in chat_of(game).messages if m["content"].startswith("(Deal")]
    assert notices[0].startswith("(Deal 1: closed at ₹75.90 in round 1. Next: ")
    assert notices[1].startswith("(Deal 2: the buyer walked away in round 1. Next: ")
    game = play_out(game, "walk away")
    shown = str(result(game))
    assert shown.count("closed at ₹75.90") == 3
    assert "won nothing" not in shown


def test_a_sale_below_the_limit_is_called_a_loss():
    game = start("bazaar/seller_brief", "expert", 3)
    limit = game.observation.reservation
    game = play_out(game, str(limit // 2), "yes", "deal", "deal")
    price = game.play.state.table.past[0].price
    assert price < limit
    assert f"a loss of {rupees(limit - price)} to the seller" in result(game)


def test_the_bonus_is_paid_in_full_at_the_list_price():
    game = start(SELLING_TASK, "linear", 1)
    item = game.observation.table.item
    most = rupees((item.list_price - round(0.78 * item.list_price)) // 10)
    assert f"₹1 for each ₹10 above your limit, at most {most}<" in str(brief(game))


def test_a_visitor_who_leaves_before_naming_a_price_is_believed_nothing():
    game = play_text(start(SELLING_TASK, "sauda-mini", 7), "walk away")
    assert game.over
    assert believed(game, translator(ENGLISH)) == ""


# The price that was read


def shown(*texts: str, game=None) -> list[str]:
    """The visitor's bubbles after these texts, their tags of HTML left out."""
    game, talk = game or start("classic/single_deal", "", 5), SILENT
    for text in texts:
        game, talk = converse(game, talk, text)
    messages = bubbles(chat_of(game, talk).messages)
    own = [message["content"] for message in messages if message["role"] == "user"]
    return [Markup(text.replace("</b> ", "</b> · ")).striptags() for text in own]


@pytest.mark.parametrize(
    ("text", "bubble"),
    [
        ("30", "₹30"),
        ("₹30.", "₹30"),
        ("30 rupees", "₹30"),
        ("30 for this old thing", "₹30 · 30 for this old thing"),
        ("tees rupaye", "tees rupaye = ₹30"),
        ("तीस रुपये", "तीस रुपये = ₹30"),
        ("I have thirty rupees on me", "thirty rupees = ₹30 · I have thirty rupees on me"),
        ("₹30 <b>now</b>", "₹30 · ₹30 <b>now</b>"),
    ],
)
def test_an_own_bubble_shows_the_price_that_was_read_and_words_that_were_read_as_it(text, bubble):
    assert shown(text) == [bubble]


def test_an_acceptance_shows_the_price_that_it_takes():
    game = play_text(start("classic/single_deal", "", 5), "30")
    price = rupees(game.observation.ask)
    assert shown("deal", game=game)[-1] == f"{price} · deal"


def test_a_price_that_is_asked_back_or_refused_is_shown_as_it_was_read():
    assert shown("30", "20", "five hundred rupees", "hello") == [
        "₹30",
        "₹20",
        "five hundred rupees = ₹500",
        "hello",
    ]


def test_a_price_that_is_more_than_anybody_may_ask_is_shown_too():
    game = start(SELLING_TASK, "naive", 5)
    price = 20 * game.observation.table.item.list_price
    assert shown(f"only {price} today", game=game) == [f"{rupees(price)} · only {price} today"]


# What is read in words


def test_words_without_a_tell_are_not_said_to_show_nothing_over_bars_of_earlier_ones():
    translate = translator(ENGLISH)
    game = start(SELLING_TASK, "boulware", 3)
    once = play_text(game, "₹1500, another buyer is coming for it today")
    later = play_text(once, "₹1400")
    first, second = (reading(one, translate) for one in (once, later))
    assert "sauda-levels" in first
    assert "sauda-levels" in second
    assert translate("reads_none") not in second
    assert translate("reads_none_now") in second
    calm = reading(play_text(game, "₹1500"), translate)
    assert translate("reads_none") in calm
    assert "sauda-levels" not in calm
