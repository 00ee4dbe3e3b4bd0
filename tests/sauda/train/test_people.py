"""Rows of deals in words of its own: byte for byte what is served, in the seller's language."""

import json
import re
from itertools import chain

from env import CATALOGUE, ear
from sauda.games.bazaar_prompt import parse
from sauda.train.people_rows import (
    SHARES,
    PeopleRowSettings,
    make_rows,
    sentences_to_say,
    teach,
)
from sauda.train.teacher_rows import most_for

SETTINGS = PeopleRowSettings(rows=50, shares=tuple(SHARES["talks"].items()))
ROWS = make_rows(SETTINGS)


def test_rows_are_whole_deals_and_every_label_is_a_move():
    assert len(ROWS) == 50
    assert {row.task for row in ROWS} == set(SHARES["talks"])
    for row in ROWS:
        replies = [m["content"] for m in row.messages if m["role"] == "assistant"]
        assert len(replies) == len(row.labels) >= 1
        for label in row.labels:
            verb = next(iter(json.loads(label)))
            assert verb in ("raise", "hold", "accept", "walk")


def test_no_bid_is_above_the_limit_and_labels_parse_at_their_state():
    for name in SHARES["talks"]:
        for state in chain.from_iterable(
            teach(name, seed, SETTINGS) for seed in range(30_000, 30_004)
        ):
            made = parse(state.label, state.obs)
            assert getattr(made, "price", 0) <= most_for(state.obs, getattr(made, "extras", ()))


def test_no_line_comes_twice_in_a_deal():
    for row in ROWS:
        lines = [json.loads(m["content"])["say"] for m in row.messages if m["role"] == "assistant"]
        assert len(set(lines)) == len(lines)


def test_it_answers_in_latin_letters_and_says_what_the_ear_hears():
    said = [json.loads(label).get("say", "") for row in ROWS for label in row.labels]
    assert any(said)
    assert not re.search("[\u0900-\u097f]", "".join(said))
    texts = sentences_to_say("en", "buyer", "cash", CATALOGUE[0])
    heard = [ear.act_in(text.replace("#", "₹450"))[0] for text in texts]
    assert heard.count("cash") >= 0.8 * len(heard)
