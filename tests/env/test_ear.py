"""The ear: words as they sound, amounts, and what is heard in any text."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import corpus, ear, people, speech


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ख़राबी", "kharaabi"),
        ("कब तक बैठे हो", "kab tak baithe ho"),
        ("दुकान", "dukaan"),
        ("PRICE", "price"),
        ("don’t", "don't"),
        ("sho\u200bp", "shop"),
    ],
)
def test_words_that_sound_the_same_are_the_same(one, other):
    assert ear.words(one) == ear.words(other)


@pytest.mark.parametrize(
    ("text", "price"),
    [("It cost me ₹1,250", 1250), ("paid 2k for it", 2000), ("Rs. 450 only", 450), ("nothing", 0)],
)
def test_an_amount_is_read(text, price):
    assert ear.amount(text) == price


@given(st.text(max_size=3000))
def test_any_text_is_heard_as_at_most_one_act_and_one_speech(text):
    act, price = ear.act_in(text)
    assert act in ("", *ear.ACTS)
    assert price == 0 or act == "outside"
    speech = ear.hear(text)
    assert speech.topic in ("", *ear.TOPICS)
    assert (speech.cost > 0) == (speech.content in ("price", "about"))


@pytest.mark.parametrize(
    "text", ["₹400, it is scratched.", "It is scratched, 400", "I'll give 400, it is scratched"]
)
def test_what_is_said_beside_a_price_is_heard(text):
    assert ear.act_in(text) == ("flaw", 0)
    assert "buyer/flaw" in ear.meanings(text, "buyer")


@pytest.mark.parametrize("text", ["You win, 400", "Well, 400", "I've said 400, your turn."])
def test_a_word_or_two_beside_a_price_are_no_act(text):
    assert ear.act_in(text) == ("", 0)


def test_a_named_cost_of_an_extra_is_heard_and_a_price_without_a_number_is_not():
    heard = ear.hear("Delivery costs me ₹1,200.")
    assert (heard.topic, heard.content, heard.cost) == ("delivery", "price", 1200)
    assert not ear.hear("The tempo takes that much from me for a delivery to your house.").cost


@pytest.mark.parametrize("extra", ear.EXTRAS)
def test_a_question_about_an_extra_is_an_act_where_extras_are_sold_alone(extra):
    text = corpus.buyer_line(f"ask_{extra}", 0, 0.0)
    assert ear.act_in(text) == (f"ask_{extra}", 0)
    assert people.act_in(text) == ("", 0)
    assert people.act_in(f"{text} I pay cash right now.") == ("cash", 0)


def test_long_and_odd_texts_take_no_longer_than_short_ones():
    begun = time.process_time()
    for text in ("a" * 10**6, "₹" * 10**6, ", " * 10**6, "1,1" * 10**6, "\u093c" * 10**6):
        ear.hear(text)
        ear.act_in(text)
    assert time.process_time() - begun < 20  # a text that is read whole takes minutes


@pytest.mark.parametrize("seat", ear.SEATS)
def test_the_weights_know_the_meanings_of_the_corpus(seat):
    learnt = {row.meaning for row in corpus.rows(seat, "training")} - {"remind/bid"}
    assert learnt <= set(ear.load(seat).meanings)


def test_every_meaning_has_sentences_of_each_language_kind_and_use():
    for seat in ear.SEATS:
        rows = [row for use in corpus.USES for row in corpus.rows(seat, use)]
        assert {row.language for row in rows} == {*speech.LANGUAGES}
        assert {row.kind for row in rows} == {*corpus.KINDS}
        moving = (row for row in rows if row.family not in ("remind", "bid"))
        counts = Counter((row.meaning, row.language) for row in moving)
        assert min(counts.values()) >= 40
        assert len(counts) % len(speech.LANGUAGES) == 0


def test_no_sentence_is_in_two_parts_of_the_corpus():
    for seat in ear.SEATS:
        parts = [{" ".join(ear.words(row.text)) for row in corpus.rows(seat, use)}
                 for use in corpus.USES]  # fmt: skip
        assert sum(map(len, parts)) == len(set().union(*parts))
