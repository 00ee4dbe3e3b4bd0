"""Rows in words of its own: byte for byte what is served, in the seller's language."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from env import CATALOGUE, Accept, Offer, ear, rupees
from env.bazaar.prompt import parse, percent_of, render
from sauda.language.faults import claims_step
from sauda.records import read_table
from sauda.train import people_rows
from sauda.train.people_rows import (
    SHARES,
    PeopleRowSettings,
    make_rows,
    sentences_to_say,
    teach,
    worded,
)

PEOPLE, PACKAGE = "bazaar/people", "bazaar/package"
SETTINGS = PeopleRowSettings(rows=30)
BIDS = Path(people_rows.__file__).with_name("bids.csv")


@pytest.fixture(scope="module")
def rows():
    return make_rows(SETTINGS)


@cache
def states(name):
    return [state for seed in range(30_000, 30_008) for state in teach(name, seed, SETTINGS)]


def test_rows_are_whole_deals_of_moves_that_say_nothing_twice_and_no_other_price(rows):
    assert len(rows) == 30
    for row in rows:
        replies = [m["content"] for m in row.messages if m["role"] == "assistant"]
        assert len(replies) == len(row.labels) >= 1
        lines = [json.loads(reply)["say"] for reply in replies]
        assert len({*lines}) == len(lines)
        for number, label in enumerate(map(json.loads, row.labels)):
            assert {*label} & {"raise", "hold", "accept", "walk"}
            assert label["say"] not in lines[:number]
            assert not re.search(r"\d", label["say"])


@pytest.mark.parametrize("name", [PEOPLE, PACKAGE])
def test_no_move_is_at_a_loss_and_labels_parse_at_their_state(name):
    for state in states(name):
        for reply in (state.label, state.completion):
            made = parse(reply, state.obs)
            if isinstance(made, Offer):
                assert made.price <= state.obs.most_for(made.extras)
            if isinstance(made, Accept):
                assert state.obs.ask <= state.obs.budget


def test_shares_of_the_rows_go_to_their_tasks():
    shares = SHARES["talks"]
    assert sum(shares.values()) == pytest.approx(1)
    rows = make_rows(replace(SETTINGS, rows=20, shares=tuple(shares.items())))
    assert {row.task for row in rows} == set(shares)
    assert any('"with":["' in label for row in rows for label in row.labels)


def test_it_answers_in_latin_letters_and_says_what_the_ear_hears(rows):
    said = [json.loads(label).get("say", "") for row in rows for label in row.labels]
    assert any(said)
    assert not re.search("[\u0900-\u097f]", "".join(said))
    texts = sentences_to_say("en", "buyer", "cash", CATALOGUE[0])
    heard = [ear.act_in(text.replace("#", "₹450"))[0] for text in texts]
    assert heard.count("cash") >= 0.8 * len(heard)


def test_the_added_sentences_are_no_acts():
    rows = read_table(BIDS)
    assert {row["key"] for row in rows} == {"first", "heard", "raise", "hold"}
    for row in rows:
        assert row["text"].count("#") == (row["key"] in ("raise", "hold"))
        assert ear.act_in(row["text"].replace("#", "₹450")) == ("", 0)


def test_no_sentence_that_is_learnt_says_what_the_seller_has_just_done():
    texts = {*people_rows.learnt(), *(row["text"] for row in read_table(BIDS))}
    assert not [text for text in texts if claims_step(text)]
    assert claims_step("I see you moved.")


def test_who_pays_later_offers_no_cash():
    obs = states(PACKAGE)[0].obs
    rng = np.random.default_rng(0)
    for extras, expected in (({"later"}, ""), ({"warranty"}, "cash")):
        bid = Offer(obs.priced(obs.budget / 2), "", frozenset(extras))
        lines = [worded(obs, bid, "cash", "en", (), rng).message for _ in range(30)]
        heard = [ear.act_in(line)[0] for line in lines]
        assert heard.count(expected) >= 24


def test_an_absurd_opening_comes_down_to_the_asks_that_are_meant():
    obs = states(PEOPLE)[-1].obs
    shown = people_rows.stretched(3.0, obs)
    first, last = obs.table.asks[0], people_rows.SETTLES * obs.table.asks[0]
    assert shown.table.asks[0] == 3 * first
    assert list(shown.table.asks) == sorted(shown.table.asks, reverse=True)
    for meant, told in zip(obs.table.asks, shown.table.asks, strict=True):
        assert told == meant if meant <= last else told > meant
    chat = render(shown)[1]["content"]
    assert f"Ask {percent_of(shown, 3 * first)}." in chat
    assert rupees(first) not in shown.table.moves[0].action.message
