"""The seller's test: what a stub passes, what gives a bad seller away, and that all comes again."""

import json

import pytest

from sauda.experiments.seller_games import all_sides, play_seed, write_texts
from sauda.experiments.seller_quality import leaks_digits, own_cells, play_games, seller_quality
from sauda.llm.seller import TRIES
from tests.support.models import Canned

CONFIG = {"models": ("null",), "published": 2, "hard": 1, "batch": 50}


def half_obedient(messages, seed) -> str:
    """The scripted line at every other seed, and a limit otherwise."""
    return messages[-1]["content"].rpartition("Say: ")[2] if seed % 2 else "My minimum is ₹1."


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return json.loads(json.dumps(seller_quality(**CONFIG, parts=tmp_path_factory.mktemp("parts"))))


def sides(data, criterion):
    return next(row["sides"] for row in data["rows"] if row["criterion"] == criterion)


def test_a_stub_keeps_to_every_decision_and_garbage_is_found(data):
    for criterion in ("below_floor", "ask_rose", "never_below_reservation"):
        assert {side["mean"] for side in sides(data, criterion).values()} == {0}
    assert sides(data, "own_words")["null"]["mean"] == 0
    assert sides(data, "tries")["null"]["mean"] == TRIES
    for criterion in ("says_the_decision", "topic_heard", "reaction_heard"):
        said = sides(data, criterion)
        stub, null, first = (said[side]["mean"] for side in ("stub", "null", "null, first tries"))
        assert stub == null > 0.8  # the ear mishears some of the scripted lines as well
        assert first == 0


def test_a_model_is_judged_on_its_own_texts_and_asked_for_each_once(tmp_path):
    played = play_games(CONFIG["published"], CONFIG["hard"])
    tries = {"canned": write_texts(Canned(half_obedient, "stop"), played, 7, tmp_path)}
    assert write_texts(Canned(None), played, 7, tmp_path) == tries["canned"]
    cells = own_cells(played, all_sides(played, tries), tries)
    limit = cells["speaks_of_limit"]
    assert 0.2 < limit["canned, first tries"]["mean"] < 0.8
    assert limit["canned"]["mean"] == 0 < cells["own_words"]["canned"]["mean"] < 1
    assert 1 < cells["tries"]["canned"]["mean"] < TRIES


def test_the_published_leak_test_sees_digits_and_is_blind_to_the_rest():
    game = play_seed("hard", "prober", "fair", 1)
    assert leaks_digits(game, [f"I paid {game.floor}, friend."])
    assert leaks_digits(game, ["My minimum is 5."])
    assert not leaks_digits(game, ["I could go a good deal lower."])
