"""Small talk is recognised, and answered from public facts alone."""

import csv
import re
from pathlib import Path

import pytest

from env import Item, Table
from sauda.language import money
from sauda.language.lines import ANSWERS, condition_in, hindi_names, name_in
from sauda.language.money import prices
from sauda.language.phrases import language_of
from sauda.language.small_talk import answer_to, slip, small_talk
from sauda.language.spoken import ARGUMENTS

LABELLED = Path(money.__file__).parent
LAMP = Item("brass oil lamp", "Handicrafts and decor", "like_new", 900)
OPENED = Table(LAMP, 8, 1, 0, asks=(950.0,), bids=(300.0,))
NEW = Table(LAMP, 8, 1, 0)
SEATS = ("buyer", "seller")


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("greeting", "hello|Namaste ji!|hi|नमस्ते|ram ram|how are you?|क्या हाल है|kya haal hai"),
        ("price", "how much?|kitna?|कितने का है?|what is your offer"),
        ("limit", "what is your lowest price?|aapki limit kya hai|what's your best price"),
        ("warranty", "any warranty?|is there a guarantee?|वारंटी है क्या"),
        ("why", "why so expensive?|kyun bhai|इतना क्यों"),
        ("item", "what is this?|is it new?|kaisa hai?|यह क्या है|क्या है|is it original?|असली है?"),
        ("argued_warranty", "it has a warranty of two years|वारंटी के साथ मिलेगा"),
        (
            "argued_tea",
            "do you want tea?|have some tea, brother|hello, tea?|chai piyo bhai|चाय पिएँगे?",
        ),
        (
            "argued_scratch",
            "there is a small scratch|kharoch hai|is it original? there is a scratch on it",
        ),
        ("argued_cash", "I pay cash|nakad dunga|नकद दूँगा"),
        ("argued_student", "I am a poor college student, sir|छात्र हूँ"),
        ("argued_loyal", "I always buy here|purana grahak hoon"),
        ("argued_shop", "the next shop is cheaper|दूसरी दुकान में सस्ता है"),
        ("too_far", "too low!|itna mehnga|बहुत कम है"),
        ("compliment", "what a beautiful lamp|बढ़िया चीज़ है"),
        ("insult", "you thief|tu pagal hai|तुम चोर हो"),
        ("begging", "please|have mercy|मैं ग़रीब हूँ"),
        ("thanks", "thank you so much|shukriya|धन्यवाद"),
        ("identity", "who are you?|are you human?|aap kaun ho"),
        ("refusal", "no|nahi|नहीं|no deal|I don't accept|I can't accept that|sorry, no|No thanks"),
        ("refusal", "no, no!|no, my friend|mujhe manzoor nahi|nahi chalega|मंज़ूर नहीं है|नहीं भैया"),
        ("wait", "no wait|let me think about it|let me think|hmm|wait a minute|ek minute|सोचने दो"),
        ("press", "you can do better|come on|be serious|really?|Are you kidding?|sach mein?|सच में?"),
        ("nod", "sure|good|wow ok|I agree|ok, sure|achha ji|sahi hai|अच्छा|सही है"),
        ("opinion", "what do you think of it?|do you like it?|kaisa laga?|कैसा लगा"),
        ("insult", "go to hell|bhaad mein jao|भाड़ में जाओ"),
        ("refusal", "no, I won't|nope, not like that|nahi, aise thodi|नहीं, ऐसे तो नहीं"),
        ("nod", "yes, deal|ok I accept|it's a deal"),
        ("press", "mazak mat karo|मज़ाक मत कीजिए"),
        ("help", "help|how does this work?|rules?|kya karna hai?|क्या करना है"),
        ("wait", "maybe|I don't know|pata nahi|देखते हैं"),
        ("bargain", "give me a discount|discount?|छूट दीजिए|thoda kam karo"),
        ("refusal", "nahi yaar|bilkul nahi|not today|I can't go lower|मैं नहीं दूँगा"),
        ("joke", "haha|lol|tell me a joke|ek chutkula sunao|कोई चुटकुला सुनाइए"),
        ("several", "450 or 500"),
        ("zero", "0|-50|₹0"),
        ("high", "1e308"),
        ("foreign", "$100|100 dollars"),
        ("change", "10 rupees more|₹10 more please|50 rupaye aur|10 रुपये और|add 10 rupees|up by 20"),
        ("change", "I raise it by ₹20|10 rupees more than my last|20 rupees extra, ok?|₹20 zyada"),
        ("unclear", "Rs.5oo|₹5OO|Rs 1o0|₹5o"),
        ("nonsense", "asdf|<b>x</b>|NaN|?!|<script>alert(1)</script>"),
    ],
)
def test_the_kind_of_talk_is_recognised(kind, texts):
    for text in texts.split("|"):
        assert small_talk(text, OPENED, "seller") == kind, text


@pytest.mark.parametrize(
    "text",
    [
        *("450", "500 only", "₹500ok", "500 or more", "₹500 and no less", "500 rupees no more"),
        *("450 and not a rupee more", "500 aur kuch nahi", "500, 10 more", "500 zyada hai, 450 lo"),
        *("450, I add tea", "1,200 more or less", "hello", "450 or 500"),
    ],
)
def test_a_price_is_taken_for_no_slip(text):
    assert slip(text) == ""


@pytest.mark.parametrize("text", ["how much?", "sure", "अच्छा"])
def test_a_buyer_without_a_bid_asks_the_seller_to_open(text):
    assert small_talk(text, NEW, "buyer") == "price_first"


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", SEATS)
def test_an_answer_names_public_prices_alone_and_asks_for_one(language, seat):
    public = {LAMP.list_price, 10 * LAMP.list_price, OPENED.asks[-1], OPENED.bids[-1], 0}
    for kind in [*ANSWERS[language]["both"], *ANSWERS[language][seat]]:
        for seed in range(5):
            text = answer_to(kind, OPENED, seat, language, (), seed)
            assert {mention.amount for mention in prices(text)} <= public, text
            assert not re.search(r"[{}#]", text)
            if language == "hi":
                assert not re.search(r"[A-Za-z]", text)


@pytest.mark.parametrize("language", ANSWERS)
def test_every_language_answers_every_kind(language):
    for seat in ("both", *SEATS):
        assert ANSWERS[language][seat].keys() == ANSWERS["en"][seat].keys()


def test_an_answer_is_not_given_again_while_there_is_another():
    said: list[str] = []
    for seed in range(5):
        said.append(answer_to("nonsense", OPENED, "seller", "en", said, seed))
    assert len(set(said)) == 5


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", SEATS)
def test_every_kind_of_argument_is_answered_by_both_seats(language, seat):
    own = {f"argued_{kind}" for kind in ARGUMENTS}
    assert own <= ANSWERS[language][seat].keys()


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", SEATS)
def test_an_answer_that_must_come_again_is_the_one_said_longest_ago(language, seat):
    for kind in [*ANSWERS[language]["both"], *ANSWERS[language][seat]]:
        said: list[str] = []
        for seed in range(40):
            said.append(answer_to(kind, OPENED, seat, language, said, seed))
        several = len(set(said))
        assert several > 1, kind
        assert all(len(set(said[i : i + several])) == several for i in range(40 - several)), kind


@pytest.mark.parametrize("language", ANSWERS)
def test_ten_texts_that_say_nothing_get_ten_answers_and_six_greetings_six(language):
    for kind, most in (("nonsense", 10), ("greeting", 6), ("refusal", 6)):
        said: list[str] = []
        for seed in range(most):
            said.append(answer_to(kind, OPENED, "seller", language, said, seed))
        assert len(set(said)) == most


def test_an_answer_with_another_price_in_it_counts_as_said_before():
    said = [answer_to("price", OPENED, "seller", "en", (), 1)]
    cheaper = OPENED._replace(asks=(950.0, 900.0))
    for seed in range(2):
        said.append(answer_to("price", cheaper, "seller", "en", said, seed))
    assert len({re.sub("[0-9]+", "#", text) for text in said}) == 3


def test_an_answer_about_the_item_tells_what_its_card_says():
    text = answer_to("item", OPENED, "seller", "en", (), 1)
    assert "brass oil lamp" in text
    assert "like new" in text
    assert name_in("hi", LAMP.name) in answer_to("item", OPENED, "seller", "hi", (), 1)


@pytest.mark.parametrize(("sheet", "least"), [("labelled.csv", 0.95), ("labelled_blind.csv", 0.9)])
def test_the_language_of_a_message_is_recognised(sheet, least):
    with (LABELLED / sheet).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for language in ("en", "hinglish", "hi"):
        texts = [row["text"] for row in rows if row["language"] == language]
        assert sum(language_of(text) == language for text in texts) >= least * len(texts)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", "fourteen hundred|five|nine hundred and fifty|two thousand|half|I do, 450"),
        ("hinglish", "chaudah sau|dedh sau|paanch sau|bees|do hazaar|pachas rupaye|saade teen sau"),
        ("hi", "चौदह सौ|पाँच|450 रुपये"),
        ("", "450|₹1,400|1.5k|2 lakh|?!"),
    ],
)
def test_number_words_tell_the_language_and_digits_tell_none(language, texts):
    for text in texts.split("|"):
        assert language_of(text) == language, text


def test_every_hindi_name_is_devanagari_and_another():
    names = hindi_names()
    assert len(set(names.values())) == len(names)
    assert not any(re.search(r"[A-Za-z]", name) for name in names.values())
    assert condition_in("hi", "like_new") == "नई जैसी हालत"
    assert condition_in("en", "like_new") == "like new"
