"""The seller's test: what a stub passes, what gives a bad seller away, and that all comes again."""

import itertools
import json

import pytest

from panels.results.questions.everything_else import seller_parts
from sauda.experiments.seller_games import (
    BUYERS,
    FLOORS,
    all_sides,
    play_all,
    play_seed,
    read_persona,
    write_texts,
)
from sauda.experiments.seller_quality import (
    FILE,
    count_styles,
    hard_rows,
    leaks_digits,
    play_games,
    seller_quality,
    speech_rows,
)
from sauda.experiments.verify import verify
from sauda.llm.seller import DEFAULT, PERSONAS, TRIES
from sauda.llm.types import Reply
from sauda.records.store import load, save

CONFIG = {"models": ("null",), "published": 2, "hard": 1, "batch": 50}


class Canned:
    """Says the scripted line at every other try, and a limit otherwise."""

    def __init__(self, fails_at: int = 0) -> None:
        self.calls, self.fails_at = 0, fails_at

    def __call__(self, messages, seed, schema=None):
        order = messages[-1]["content"].rpartition("Say: ")[2]
        text = order if seed % 2 else "My minimum is ₹1."
        return Reply(text, "canned", 1, "stop")

    def batch(self, chats, seeds, schemas):
        self.calls += 1
        if self.calls == self.fails_at:
            raise KeyboardInterrupt
        return [self(*request) for request in zip(chats, seeds, schemas, strict=True)]


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
        assert [said[side]["mean"] for side in ("stub", "null", "null, first tries")] == [1, 1, 0]


def test_the_published_test_has_its_six_criteria(data):
    published = [row["criterion"] for row in data["rows"] if row["test"] == "published"]
    assert set(published) == {
        "anchored_listing",
        "never_below_reservation",
        "never_leak_reservation",
        "mean_rounds",
        "zero_round_capitulation_rate",
        "persona_consistency",
    }


def test_a_model_is_judged_on_its_own_texts(tmp_path):
    played = play_games(CONFIG["published"], CONFIG["hard"])
    tries = {"canned": write_texts(Canned(), played, 7, tmp_path)}
    data = {"rows": hard_rows(played, all_sides(played, tries), tries)}
    limit = sides(data, "speaks_of_limit")
    assert 0.2 < limit["canned, first tries"]["mean"] < 0.8
    assert limit["canned"]["mean"] == 0 < sides(data, "own_words")["canned"]["mean"] < 1
    assert 1 < sides(data, "tries")["canned"]["mean"] < TRIES


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    played = play_games(CONFIG["published"], CONFIG["hard"])[:12]
    with pytest.raises(KeyboardInterrupt):
        write_texts(Canned(fails_at=5), played, 10, tmp_path)
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert before
    whole = write_texts(Canned(), played, 10, tmp_path)
    assert whole == write_texts(Canned(), played, 10, tmp_path / "other")
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in before.items())


@pytest.mark.slow
def test_a_changed_text_is_found_by_verify(tmp_path, data):
    assert verify(FILE) == []
    data["tries"]["null"][0][0][0] = "My minimum is ₹450."
    save(FILE, CONFIG, data, tmp_path)
    assert any("rows" in place for place in verify(FILE, root=tmp_path))


@pytest.mark.parametrize("setting", FLOORS)
def test_the_games_of_a_setting_have_its_floors_and_its_buyers(setting):
    played = play_all(setting, 2, range(60))
    (low, high), openings = FLOORS[setting], [game.decisions[0].price for game in played]
    floors = [game.floor / opening for game, opening in zip(played, openings, strict=True)]
    assert low - 0.01 <= min(floors) < max(floors) <= high + 0.01
    assert max(floors) - min(floors) > 0.7 * (high - low)
    assert {game.buyer for game in played} == set(BUYERS[setting])
    for game, opening in zip(played, openings, strict=True):
        bids = game.episode.final.table.bids
        if game.buyer == "published":
            assert bids[0] == round(0.55 * opening)
            assert all(b - a >= 0.02 * opening - 1 for a, b in itertools.pairwise(bids))


def test_the_published_leak_test_sees_digits_and_is_blind_to_the_rest():
    game = play_seed("hard", "prober", "fair", 1)
    assert leaks_digits(game, [f"I paid {game.floor}, friend."])
    assert leaks_digits(game, ["My minimum is 5."])
    assert not leaks_digits(game, ["I could go a good deal lower."])


def test_an_answer_without_a_persona_counts_as_the_default():
    assert read_persona("He is Hasty, surely") == "hasty"
    assert read_persona("who knows") == DEFAULT


@pytest.mark.parametrize("wrong", [{"models": ("mega",)}, {"published": 1}, {"hard": 0}])
def test_a_test_that_cannot_be_held_is_refused(wrong):
    with pytest.raises(ValueError, match=r"no model|at least"):
        seller_quality(**CONFIG | wrong)


# What is heard -----------------------------------------------------------------------------------


def test_a_persona_is_heard_in_its_style_and_none_in_plain_prices():
    played = play_games(4, 1)
    scripted = [[decision.action.message for decision in game.decisions] for game in played]
    plain = [["₹450." for _ in game.decisions] for game in played]
    heard, unheard = count_styles(played, scripted), count_styles(played, plain)
    right = sum(heard[place][place] for place in range(len(PERSONAS)))
    assert right > 0.7 * len(played)
    assert sum(row[-1] for row in unheard) == len(played)


def test_a_line_that_does_not_answer_the_act_is_counted():
    played = play_games(2, 1)
    told = [[decision.action.message for decision in game.decisions] for game in played]
    plain = [["₹450." for _ in game.decisions] for game in played]
    data = {"rows": speech_rows(played, {"told": told, "plain": plain})}
    for criterion in ("style_heard", "topic_heard", "reaction_heard"):
        assert sides(data, criterion)["told"]["mean"] == 1
        assert sides(data, criterion)["plain"]["mean"] == 0


def test_the_recorded_artifact_fills_every_sub_tab():
    assert all(seller_parts(load(FILE)).values())
