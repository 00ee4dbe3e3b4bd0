"""The ear: words as they sound, amounts, what is heard in any text; what fits which goods."""

import re
import time
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import Offer, WalkAway, corpus, ear, get_task, people, rollout, speech
from env.bazaar import goods
from env.bazaar.types import CATALOGUE
from env.core import read_rows
from tests.support.cases import cases


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


# Which sentences fit which goods


ITEMS = {item.name: item for item in CATALOGUE}
LEAST = {"training": 8, "evaluation": 5, "development": 2}
LEARNT = "training"  # the use from which policies that buy draw
CUSTOMERS = ("patience_low", "limit_near", "outside")  # what buyers of `customers` say


def meanings(language, use):
    """The meanings that are said in games with sentences of a use; a reminder has two wordings."""
    for family, key in corpus.sentences(language, use):
        of_task = family not in ("buyer", "bid") or key in CUSTOMERS or key.startswith("leave_")
        if family not in ("none", "remind") and (of_task or use == LEARNT):
            yield family, key


@pytest.mark.parametrize(("language", "use"), [*product(speech.LANGUAGES, corpus.USES)])
def test_every_item_has_enough_sentences_of_each_meaning_that_fit_it(language, use):
    for (family, key), item in product(meanings(language, use), (None, *CATALOGUE)):
        assert len(corpus.fitting(language, use, family, key, item)) >= LEAST[use], (key, item)


def test_every_row_names_things_that_are_in_the_catalogue():
    rows = read_rows("bazaar/goods.csv")
    words = {word for name in ITEMS for word in re.findall(r"\w+", name)}
    known = words | {item.category for item in CATALOGUE} | {f"@{row['name']}" for row in rows}
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["words"].split()
        for entry in filter(None, row["goods"].split(";")):
            assert entry.removeprefix("-") in known, (row["name"], entry)


@pytest.mark.parametrize(("name", "text"), cases("goods.csv", "fit"))
def test_a_sentence_fits_an_item_that_has_all_it_names(name, text):
    assert goods.fits(text, ITEMS[name])


@pytest.mark.parametrize(("name", "text"), cases("goods.csv", "unfit"))
def test_a_sentence_that_names_what_an_item_has_not_fits_neither_it_nor_no_item(name, text):
    assert not goods.fits(text, ITEMS[name])
    assert not goods.fits(text, None)


def bid(obs, rng):
    """Four rising bids with a question for the item's wear."""
    if obs.round == 4:
        return WalkAway()
    price = round(min(obs.budget, (0.5 + 0.1 * obs.round) * obs.opening_ask))
    return Offer(price, "Is anything broken or worn?")


def said_of(item, monkeypatch, seeds=200):
    """What sellers of an item say who are asked for its wear."""
    monkeypatch.setattr(people, "CATALOGUE", (item,))
    for seed in range(seeds):
        for turn in rollout(get_task("bazaar/people"), bid, seed).turns:
            if turn.agent == "seller":
                yield turn.action.message


def test_sellers_of_a_raincoat_speak_of_no_other_goods(monkeypatch):
    raincoat = ITEMS["nylon raincoat with hood"]
    others = goods.unfit(raincoat)
    lines = list(said_of(raincoat, monkeypatch))
    assert len(lines) > 400
    assert not any(goods.named(line) & others for line in lines)
    spoken = {word for line in lines for word in re.findall(r"[\w\u0900-\u0963]+", line.casefold())}
    strange = "lens camera wheel battery screen speaker कैमरा लेंस बैटरी पहिया स्क्रीन chair kursi"
    assert not spoken & set(strange.split())
    every = corpus.sentences
    monkeypatch.setattr(corpus, "fitting", lambda *of: every(*of[:2])[of[2:4]])  # whatever fits
    assert any(goods.named(line) & others for line in said_of(raincoat, monkeypatch))
