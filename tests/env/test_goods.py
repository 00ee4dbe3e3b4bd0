"""Tests of which sentences fit which goods: nobody speaks of a raincoat's lens."""

import re
from itertools import product

import pytest

from env import Offer, WalkAway, corpus, get_task, people, rollout, speech
from env.bazaar import goods
from env.bazaar.types import CATALOGUE
from env.core import read_rows

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


@pytest.mark.parametrize(
    ("name", "fit", "unfit"),
    [
        (
            "nylon raincoat with hood",
            ("The zip gets stuck.", "Iski silai udhdi hai.", "इसका अस्तर फटा है।"),
            ("The lens has fungus.", "Battery kamzor hai.", "इसका ढक्कन टूटा है।", "See the flat."),
        ),
        (
            "2-litre pressure cooker",
            ("The cooker's lid is dented.", "Seeti theek bajti hai."),
            ("One sleeve is torn.", "Iska zip atakta hai.", "साड़ी पर दाग़ है।"),
        ),
        (
            "full-frame camera body",
            ("The camera's battery is weak.", "Lens saaf hai."),
            ("The wheel wobbles.", "Paaya hilta hai.", "पन्ने फटे हैं।"),
        ),
        ("waterproof phone pouch", ("The zip gets stuck.",), ("The screen has a crack.",)),
        ("table-tennis bat", ("There is a small scratch.",), ("The drawer sticks.",)),
        (
            "second-hand 150 cc motorcycle",
            ("The clutch slips.", "एक पहिया टेढ़ा है।"),
            ("The pram's hood is ripped.",),
        ),
    ],
)
def test_a_sentence_fits_an_item_that_has_all_it_names(name, fit, unfit):
    assert [text for text in fit if not goods.fits(text, ITEMS[name])] == []
    assert [text for text in unfit if goods.fits(text, ITEMS[name])] == []
    assert [text for text in unfit if goods.fits(text, None)] == []


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
