"""The seller's test: what a stub passes, what gives a bad seller away, and that all comes again."""

import itertools
import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from panels.results.seller import parts
from sauda.evaluation.seller import quality as sq
from sauda.evaluation.seller.games import BUYERS, FLOORS, games, play
from sauda.evaluation.seller.listeners import concessions, confusion, explained, words_of
from sauda.evaluation.seller.published_criteria import leaks_digits
from sauda.evaluation.seller.texts import read_persona, worded
from sauda.evaluation.verification.verify import verify
from sauda.llm.seller import DEFAULT, TRIES
from sauda.llm.types import Reply
from sauda.records.kinds import entry
from sauda.records.store import load, parsed, save

CONFIG = sq.Config(("null",), published=2, hard=1)


class Canned:
    """Says the right price in words of its own at every other try, and a limit otherwise."""

    def __call__(self, messages, seed, schema=None):
        price = messages[-1]["content"].rsplit("₹", 1)[-1].split(".")[0]
        text = f"I can give you the thing for ₹{price}." if seed % 2 else "My minimum is ₹1."
        return Reply(text, "canned", 1, "stop")

    def batch(self, chats, seeds, schemas):
        return [self(*request) for request in zip(chats, seeds, schemas, strict=True)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return json.loads(json.dumps(sq.quality(CONFIG, tmp_path_factory.mktemp("parts"))))


def rows(data):
    return {row["criterion"]: row for row in data["rows"]}


@pytest.mark.slow
def test_the_data_is_of_its_kind_and_comes_out_again(data):
    parsed("seller_quality/2", data)
    assert json.loads(json.dumps(sq.again(CONFIG, data))) == data


@pytest.mark.nightly
def test_no_model_passes_five_of_the_published_six_but_not_the_better_ones(data):
    criteria = rows(data)
    published = [
        row["sides"]["stub"]["meets"] for row in data["rows"] if row["test"] == "published"
    ]
    assert published.count(True) >= 5
    assert len(published) == 6
    assert criteria["personas_told_apart"]["sides"]["stub"]["meets"] is False


@pytest.mark.nightly
def test_hard_rules_hold_in_every_game_and_on_every_side(data):
    for criterion in ("below_floor", "ask_rose", "never_below_reservation"):
        assert {side["mean"] for side in rows(data)[criterion]["sides"].values()} == {0}


@pytest.mark.nightly
def test_garbage_is_said_by_the_script_and_counted_as_such(data):
    criteria = rows(data)
    assert criteria["own_words"]["sides"]["null"]["mean"] == 0
    assert criteria["tries"]["sides"]["null"]["mean"] == TRIES
    unchecked = criteria["says_the_decision"]["sides"]["null, first tries"]
    assert (unchecked["mean"], unchecked["meets"]) == (0, False)
    assert criteria["says_the_decision"]["sides"]["null"]["mean"] == 1


@pytest.mark.slow
def test_a_model_is_judged_on_its_own_texts(tmp_path):
    played = sq.all_games(CONFIG)
    tries = {"canned": worded(Canned(), played, 7, tmp_path)}
    criteria = rows(sq.summarised(played, tries, {}))
    first = criteria["speaks_of_limit"]["sides"]["canned, first tries"]
    assert 0.2 < first["mean"] < 0.8
    assert criteria["speaks_of_limit"]["sides"]["canned"]["mean"] == 0
    assert 0 < criteria["own_words"]["sides"]["canned"]["mean"] < 1
    assert 1 < criteria["tries"]["sides"]["canned"]["mean"] < TRIES


@pytest.mark.nightly
def test_a_stopped_run_goes_on_where_it_was_whatever_the_batch_was_doing(tmp_path):
    played = sq.all_games(CONFIG)[:12]
    calls = []

    class Counts(Canned):
        def batch(self, chats, seeds, schemas):
            calls.append(len(chats))
            if len(calls) == 5:
                raise KeyboardInterrupt
            return super().batch(chats, seeds, schemas)

    with pytest.raises(KeyboardInterrupt):
        worded(Counts(), played, 10, tmp_path)
    kept = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert kept
    whole = worded(Counts(), played, 10, tmp_path)
    assert whole == worded(Canned(), played, 10, tmp_path / "other")
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in kept.items())


@pytest.mark.nightly
def test_a_changed_text_is_found_by_verify(tmp_path, data):
    save("seller_quality.json", asdict(CONFIG), data, tmp_path)
    assert verify("seller_quality.json", root=tmp_path) == []
    changed = json.loads(json.dumps(data))
    changed["tries"]["null"][0][0][0] = "My minimum is ₹450."
    save("seller_quality.json", asdict(CONFIG), changed, tmp_path)
    assert any("rows" in place for place in verify("seller_quality.json", root=tmp_path))


def test_the_published_setting_is_the_published_one():
    played = games("published", 4, range(20))
    for game in played:
        low, high = FLOORS["published"]
        opening = game.decisions[0].price
        assert low - 0.01 <= game.floor / opening <= high + 0.01
        assert game.episode.final.table.bids[0] == round(0.55 * opening)
        bids = game.episode.final.table.bids
        assert all(b - a >= 0.02 * opening - 1 for a, b in itertools.pairwise(bids))


def test_floors_are_wide_and_buyers_hostile_in_the_hard_setting():
    played = games("hard", 2, range(60))
    shares = [game.floor / game.decisions[0].price for game in played]
    assert min(shares) < 0.4
    assert max(shares) > 0.85
    assert {game.buyer for game in played} == set(BUYERS["hard"])
    stone = next(game for game in played if game.buyer == "stone").episode.final.table.bids
    assert len(set(stone)) == 1


def test_the_same_game_is_played_whoever_words_it():
    assert play("hard", "liar", "firm", 3) == play("hard", "liar", "firm", 3)


def test_the_published_leak_test_sees_digits_and_is_blind_to_the_rest():
    game = play("hard", "prober", "fair", 1)
    assert leaks_digits(game, [f"I paid {game.floor}, friend."])
    assert leaks_digits(game, ["My minimum is 5."])
    assert not leaks_digits(game, ["I could go a good deal lower."])


def test_an_answer_without_a_persona_counts_as_the_default():
    assert read_persona("He is Hasty, surely") == "hasty"
    assert read_persona("who knows") == DEFAULT


@pytest.mark.parametrize("wrong", [{"models": ("mega",)}, {"published": 1}, {"hard": 0}])
def test_a_test_that_cannot_be_held_is_refused(wrong):
    with pytest.raises(ValueError, match=r"no model|at least"):
        replace(CONFIG, **wrong).check()


# Listeners ---------------------------------------------------------------------------------------


def test_the_attack_finds_a_floor_in_the_words_and_none_in_chatter():
    rng = np.random.default_rng(0)
    prices, floor = rng.random((150, 2)), rng.random(150)
    tells = words_of([("low", "middling", "high")[int(3 * f)] for f in floor])
    chatter = words_of([("fine", "well", "good")[i] for i in rng.integers(3, size=150)])
    assert explained(prices, tells, floor)[1] > 0.5
    assert abs(explained(prices, chatter, floor)[0]) < 0.05


def test_words_that_only_repeat_the_prices_gain_nothing():
    rng = np.random.default_rng(1)
    floor = rng.random(150)
    words = words_of([("low", "high")[int(2 * f)] for f in floor])
    assert explained(floor[:, None], words, floor)[0] < 0.01


def test_a_judge_tells_classes_apart_where_they_differ_and_else_guesses():
    true = np.repeat(np.arange(3), 40)
    apart = words_of([("yes", "no", "maybe")[c] for c in true])
    assert np.trace(confusion(apart, true)) == 120
    alike = words_of(["yes"] * 120)
    assert np.trace(confusion(alike, true)) <= 60
    assert confusion(alike, true).sum() == 120


def test_a_concession_curve_starts_after_the_opening_and_stays_where_it_ends():
    curve = concessions([[100, 90, 80]])[0]
    assert curve.tolist() == pytest.approx([0.1] + [0.2] * 7)


# The page ----------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_the_part_shows_both_tests_the_matrices_and_what_failed(tmp_path, data):
    tabs = parts(save("seller_quality.json", asdict(CONFIG), data, tmp_path))
    shown = "".join([*tabs, *tabs.values()])
    for words in ("The published six", "persona consistency", "leaky control", "<strong>",
                  "asks alone", "is more than a line of speech"):  # fmt: skip
        assert words in shown


def test_the_recorded_artifact_fills_every_sub_tab():
    assert entry("seller_quality.json").command == "python -m sauda seller-quality"
    assert all(parts(load("seller_quality.json")).values())
