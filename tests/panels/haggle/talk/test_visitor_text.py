"""What a visitor types becomes a move, or one sentence on what was expected."""

import re

import pytest

from panels.haggle.choices import SELLING_TASK
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.trouble import Trouble
from panels.haggle.talk.visitor_text import NoMove, play_text
from panels.haggle.words import ENGLISH, HINDI
from sauda.language.lines import ANSWERS
from sauda.language.small_talk import HIGHEST_ASK
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


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("95", "rule_ask"),
        ("500", "rule_budget"),
        ("namaste", "greeting"),
        ("10 rupees more", "no_own"),
        ("Rs.2o", "unclear"),
        ("450 or 500", "several"),
        ("-50", "zero"),
        ("1e308", "high"),
        ("NaN", "nonsense"),
        ("<script>alert('x')</script>", "nonsense"),
    ],
)
def test_a_text_that_makes_no_move_is_talk_or_names_the_rule(text, kind):
    with pytest.raises(NoMove) as answered:
        play_text(start("classic/single_deal", "", 5), text)
    assert answered.value.kind == kind


ORDINARY_TALK = (  # texts, separated by |
    "no deal|I don't accept|I can't accept that|sorry, no|no wait|let me think about it",
    "let me think|you can do better|come on|be serious|really?|hmm|sure|good|wow ok",
    "what do you think of it?|go to hell|tell me a joke|help|क्या हाल है|अच्छा|सही है|नहीं चलेगा",
    "mujhe manzoor nahi|nahi chalega|achha ji|सोचने दो|yes please|ok bye",
)


@pytest.mark.parametrize("texts", ORDINARY_TALK)
def test_ordinary_talk_makes_no_move_and_is_understood(texts):
    for text in texts.split("|"):
        with pytest.raises(NoMove) as answered:
            play_text(start("classic/single_deal", "", 5), text)
        assert answered.value.kind != "nonsense", text


@pytest.mark.parametrize(
    "text", ["I paid 50 for it last year", "20 mein khareeda tha", "बीस रुपये में लिया था"]
)
def test_a_price_of_the_past_costs_no_round(text):
    with pytest.raises(NoMove) as answered:
        play_text(start("classic/single_deal", "", 5), text)
    assert answered.value.kind == "past"


def test_the_price_beside_one_of_the_past_is_the_bid():
    text = "I paid 50 last year, so 20"
    bid = play_text(start("classic/single_deal", "", 5), text).play.turns[1].action
    assert (bid.price, bid.message) == (20, text)


@pytest.mark.parametrize("language", ANSWERS)
def test_the_words_that_an_answer_tells_to_say_make_the_move(language):
    for kind, lines in ANSWERS[language]["both"].items():
        told = [word for line in lines for word in re.findall("“([^”]+)”", line)]
        assert told or kind not in ("nod", "help")
        for word in told if kind in ("nod", "help") else ():
            assert play_text(start("classic/single_deal", "", 5), word).over, word


def test_a_sellers_rules_are_named_too():
    game = start(SELLING_TASK, "boulware", 5)
    price = game.observation.table.item.list_price
    for text, kind in (
        ("deal", "nothing_yet"),
        (f"{HIGHEST_ASK * price + 1}", "absurd"),
        ("450.5", "rule_whole"),
    ):
        with pytest.raises(NoMove) as answered:
            play_text(game, text)
        assert answered.value.kind == kind
    highest = play_text(game, f"{HIGHEST_ASK * price}")
    assert highest.unconfirmed.price == HIGHEST_ASK * price
    game = play_text(game, f"{price}")
    with pytest.raises(NoMove) as answered:
        play_text(game, f"{game.observation.bid}")
    assert answered.value.kind == "rule_bid"


def test_what_cannot_be_answered_is_trouble():
    game = start("classic/single_deal", "", 5)
    with pytest.raises(Trouble, match="at most 2,000 characters"):
        play_text(game, "क" * 2_001)
    over = play_text(game, "deal")
    with pytest.raises(NoMove, match="after"):
        play_text(over, "₹20")
    with pytest.raises(NoMove) as answered:
        play_text(over, "thank you")
    assert answered.value.kind == "after"


@pytest.mark.parametrize("again", ["haan", "Yes!", "₹2", "हाँ"])
def test_a_far_off_price_waits_until_it_is_confirmed(again):
    asked_back = play_text(start("classic/single_deal", "", 5), "2 rupees only")
    for language in (ENGLISH, HINDI):
        said, question = chat_of(asked_back, SILENT, language).messages[-2:]
        assert (said["role"], said["content"]) == ("user", "2 rupees only")
        assert "₹2" in question["content"]
    assert "Did you mean ₹2?" in chat_of(asked_back).messages[-1]["content"]
    confirmed = play_text(asked_back, again)
    assert confirmed.observation.table.bids == (2,)
    assert not any("Did you mean" in m["content"] for m in chat_of(confirmed).messages)


def test_yes_takes_the_standing_price_where_no_question_waits():
    game = play_text(start("classic/single_deal", "", 5), "haan")
    assert game.play.state.table.past[0].price == 60
