"""What a visitor types becomes a move, or one sentence on what was expected."""

import pytest

from panels.haggle.choices import SELLING_TASK
from panels.haggle.game_view import question
from panels.haggle.visitor_text import play_text
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.sessions.bazaar import start


def test_a_visitors_words_are_the_message_and_their_price_the_bid():
    game = play_text(start("classic/single_deal", "", 5), "20 mein de do")
    turn = next(t for t in game.play.turns if t.agent == "buyer")
    assert (turn.action.price, turn.action.message) == (20, "20 mein de do")


def test_saying_deal_takes_the_price_that_stands():
    game = play_text(start("classic/single_deal", "", 5), "Deal!")
    assert game.over
    assert game.play.state.table.past[0].price == 60


@pytest.mark.parametrize("text", ["हाँ", "I accept", "deal?", "Theek hai!", "DONE"])
def test_a_yes_in_many_forms_takes_the_ask(text):
    assert play_text(start("classic/single_deal", "", 5), text).play.state.table.past[0].price == 60


def test_goodbye_walks_away():
    game = play_text(start("classic/single_deal", "", 5), "walk away")
    assert game.play.state.table.past[0].by == "buyer"


def test_a_bid_above_the_ask_is_asked_about_and_not_taken():
    with pytest.raises(ValueError, match="the seller asks ₹60: say “deal”"):
        play_text(start("classic/single_deal", "", 5), "95")


@pytest.mark.parametrize("again", ["haan", "Yes!", "₹1", "हाँ"])
def test_a_far_off_price_waits_until_it_is_confirmed(again):
    asked_back = play_text(start(SELLING_TASK, "naive", 5), "1 rupee only")
    assert not asked_back.play.turns
    for language in (ENGLISH, HINDI):
        assert "₹1" in question(asked_back, translator(language))
    assert "Did you mean ₹1?" in question(asked_back, translator(ENGLISH))
    confirmed = play_text(asked_back, again)
    assert confirmed.play.turns[0].action.price == 1
    assert question(confirmed, translator(ENGLISH)) == ""


def test_yes_takes_the_standing_price_where_no_question_waits():
    game = play_text(start("classic/single_deal", "", 5), "haan")
    assert game.play.state.table.past[0].price == 60
