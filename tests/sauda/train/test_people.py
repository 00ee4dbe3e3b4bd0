"""Rows of deals with people: byte for byte what is served, in the seller's language."""

import json
import re

from env import ear
from sauda.games.bazaar_prompt import parse
from sauda.train.people_rows import PeopleRowSettings, make_rows, sentences_to_say, teach

SETTINGS = PeopleRowSettings(rows=30)
ROWS = make_rows(SETTINGS)


def test_rows_are_whole_deals_and_every_label_is_a_move():
    assert len(ROWS) == 30
    for row in ROWS:
        replies = [m["content"] for m in row.messages if m["role"] == "assistant"]
        assert len(replies) == len(row.labels) >= 1
        for label in row.labels:
            verb = next(iter(json.loads(label)))
            assert verb in ("raise", "hold", "accept", "walk")


def test_no_bid_is_above_the_limit_and_labels_parse_at_their_state():
    for seed in range(30_000, 30_012):
        for state in teach(seed, SETTINGS):
            made = parse(state.label, state.obs)
            assert getattr(made, "price", 0) <= state.obs.budget


def test_it_answers_in_latin_letters_and_says_what_the_ear_hears():
    said = [json.loads(label).get("say", "") for row in ROWS for label in row.labels]
    assert any(said)
    assert not re.search("[\u0900-\u097f]", "".join(said))
    heard = [
        ear.act_in(text.replace("#", "₹450"))[0] for text in sentences_to_say("en", "buyer", "cash")
    ]
    assert heard.count("cash") >= 0.8 * len(heard)
