"""Labelled lines of visitors, each at its table; `visitor_lines.csv` by one who saw no code."""

import pytest

from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import NoMove, converse, play_text
from sauda.language.lines import ANSWERS
from sauda.sessions.bazaar import start
from tests.support.visitor_lines import game_of, outcome, rows

PRICES = rows("2", "5")  # prices that are no offers, and numbers


@pytest.mark.parametrize("row", PRICES, ids=[row["id"] for row in PRICES])
def test_a_line_does_what_its_writer_meant(row):
    assert outcome(row) == (row["expect"], float(row["price"]) if row["price"] else None)


REFUSALS = (  # of the price that stands
    "I won't pay {}, that is too much",
    "{} is too much",
    "I can't do {}",
    "{}? no way",
    "There is no way I give you {}",
    "I would never spend {} on that",
    "{} zyada hai",
    "{} mein nahi lunga",
    "itna nahi, {} bahut mehnga hai",
    "{} तो बहुत ज़्यादा है",
    "मैं {} नहीं दूँगा",
    "why should I pay {}?",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_no_game_closes_at_a_price_that_the_visitor_refuses(text):
    for task, seed in (("classic/single_deal", 5), ("bazaar/open", 1), ("bazaar/rushed", 2)):
        game = start(task, "", seed)
        refused = text.format(f"{game.observation.ask:g}")
        after, talk = converse(game, SILENT, refused)
        assert after == game
        assert talk.exchanges[-1].kind in ("refused", "press")


def test_a_price_that_is_worked_out_is_shown_and_a_yes_offers_it():
    row = {"seat": "buyer", "item": "lamp", "list_price": "2400", "limit": "1500"}
    game = game_of(row | {"standing": "1800", "own": "900"})
    asked = play_text(game, "let us split the difference")
    assert asked.play == game.play
    assert "₹1,350" in chat_of(asked).messages[-1]["content"]
    bid = play_text(asked, "yes").play.turns[len(game.play.turns)].action
    assert (bid.price, bid.message) == (1350, "let us split the difference")


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("30% off the list price", 1680),
        ("75 % of your price", 1350),
        ("200 less than my last offer", 700),
        ("mere last daam se 100 zyada", 1000),
        ("कीमत में 15 प्रतिशत की छूट दीजिए", 1530),
    ],
)
def test_a_relative_price_counts_from_the_price_that_the_visitor_names(text, price):
    row = {"seat": "buyer", "item": "lamp", "list_price": "2400", "limit": "2300"}
    assert outcome(row | {"standing": "1800", "own": "900", "text": text}) == ("propose", price)


@pytest.mark.parametrize("text", ["200 off, no, 1200", "I'd say 1200, that is 600 less"])
def test_a_price_beside_a_relative_one_is_the_offer(text):
    row = {"seat": "buyer", "item": "lamp", "list_price": "2400", "limit": "1500"}
    assert outcome(row | {"standing": "1800", "own": "900", "text": text}) == ("offer", 1200)


def test_each_way_to_name_no_offer_is_answered_in_every_language_and_seat():
    texts = {
        "refused": "500 is too much",
        "listed": "you said 500",
        "elsewhere": "amazon sells it for 500",
        "rival": "somebody offered me 500",
        "past": "I paid 500 for mine",
        "supposed": "if it were new I would pay 500",
    }
    for kind, text in texts.items():
        with pytest.raises(NoMove) as answered:
            play_text(start("classic/single_deal", "", 5), text)
        assert answered.value.kind == kind
        for answers in ANSWERS.values():
            for seat in ("buyer", "seller"):
                assert kind in answers[seat] or kind in answers["both"]
