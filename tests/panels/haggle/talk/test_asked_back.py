"""A doubtful move is asked back, and stays in the chat where something else is said."""

import re
from itertools import pairwise

import pytest

from env import Accept, Offer, rupees
from panels.haggle.choices import SELLING_TASK
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import converse
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.sessions.bazaar import answer, propose, start

LANGUAGES = (ENGLISH, HINGLISH, HINDI)


def buying():
    """A buyer of whom ₹60 is asked."""
    return start("classic/single_deal", "", 5)


def after(game, *texts, talk=SILENT):
    for text in texts:
        game, talk = converse(game, talk, text)
    return game, talk


def contents(game, talk, language=ENGLISH) -> list[str]:
    return [message["content"] for message in chat_of(game, talk, language).messages]


@pytest.mark.parametrize("before", ["500", "how much?", "sure", "95"])
@pytest.mark.parametrize("yes", ["yes", "Haan!", "ok", "ठीक है"])
def test_a_bare_yes_after_talk_or_a_refusal_is_asked_back_once(before, yes):
    game, talk = after(buying(), before, yes)
    assert not game.over
    assert game.unconfirmed == Accept(yes)
    assert "₹60" in contents(game, talk)[-1]
    sold, _ = after(game, yes, talk=talk)
    assert sold.play.state.table.past[0].price == 60


@pytest.mark.parametrize("plain", ["deal", "I accept", "मंज़ूर"])
def test_a_plain_acceptance_after_talk_makes_the_deal(plain):
    game, _ = after(buying(), "500", plain)
    assert game.play.state.table.past[0].price == 60


def test_a_yes_to_the_other_sides_price_makes_the_deal():
    game, talk = after(buying(), "how much?", "20")
    assert after(game, "yes", talk=talk)[0].over


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_question_about_a_bare_yes_is_in_the_visitors_language(language):
    game, talk = after(buying(), "500", "yes")
    question = translator(language)("take_it", price="₹60")
    assert contents(game, talk, language)[-1] == f"({question})"


def test_a_move_that_was_asked_back_stays_in_the_chat_with_its_question():
    game, talk = after(start(SELLING_TASK, "naive", 5), "1 rupee only")
    question = contents(game, talk)[-1]
    assert "₹1 is below your own limit" in question
    for text in ("sorry, no", f"{game.observation.table.item.list_price}"):
        later, kept = after(game, text, talk=talk)
        assert later.unconfirmed is None
        assert contents(later, kept)[:3] == ["1 rupee only", question, text]
        assert chat_of(later, kept).own_words == ((text,) if later.play.turns else ())


def test_a_move_that_is_asked_back_after_another_leaves_both_questions():
    game, talk = after(start(SELLING_TASK, "naive", 5), "1 rupee only", "2 rupees")
    first, question, second, other = contents(game, talk)
    assert (first, second) == ("1 rupee only", "2 rupees")
    assert "₹1 is below your own limit" in question
    assert "₹2" in other


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("texts", [["2 rupees", "hello"], ["2 rupees", "1 rupee"]])
def test_a_question_that_is_asked_again_is_asked_in_other_words(texts, language):
    game, talk = after(buying(), *(3 * texts))
    told = [m["content"] for m in chat_of(game, talk, language).messages]
    questions = [line for line in told if line.startswith("(")]
    shapes = [re.sub(r"₹\d", "₹", line) for line in questions]
    assert len(shapes) >= 3
    assert all(one != other for one, other in pairwise(shapes))
    assert all(re.search(r"₹[12]\b", line) for line in questions)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("task_name", "opponent", "texts"),
    [
        ("classic/single_deal", "", ["30 rupees", "25 rupees"]),
        (SELLING_TASK, "boulware", ["1400 rupees", "1450 rupees"]),
    ],
)
def test_a_price_that_goes_backwards_is_asked_back_with_both_prices(
    task_name, opponent, texts, language
):
    game, talk = after(start(task_name, opponent, 3), *texts)
    assert game.unconfirmed is not None
    question = contents(game, talk, language)[-1]
    assert all(rupees(int(text.split()[0])) in question for text in texts)
    made, _ = after(game, "yes", talk=talk)
    assert made.unconfirmed is None
    assert len(made.play.turns) > len(game.play.turns)


@pytest.mark.parametrize("again", ["yes", "₹1", "theek hai"])
def test_a_confirmed_move_leaves_no_question(again):
    game, talk = after(start(SELLING_TASK, "naive", 5), "1 rupee only", again)
    assert game.play.turns[0].action.price == 1
    assert not any(line.startswith("(") for line in contents(game, talk))


def test_an_acceptance_by_button_that_was_asked_back_stays_in_the_chat_too():
    game = start(SELLING_TASK, "boulware", 3)
    game = propose(answer(game, Offer(game.observation.table.item.list_price)), Accept())
    shown = contents(game, SILENT)[-2:]
    assert shown[0] == f"{translator(ENGLISH)('quick_loss')} {rupees(game.observation.bid)}"
    assert "you would lose" in shown[1]
    later, talk = after(game, "no")
    assert contents(later, talk)[-4:-1] == [*shown, "no"]
