"""Rows in words of its own, byte for byte what is served; learning from reward alone."""

import json
import re
from dataclasses import asdict, replace
from functools import cache, partial
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest

from env import CATALOGUE, Accept, Offer, begin, ear, rupees
from env.bazaar.prompt import completion, parse, percent_of, render
from sauda.experiments.verify import verify
from sauda.language.faults import claims_step
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.records import read_table
from sauda.records.store import save
from sauda.train import form, people_rows, reward
from sauda.train.form import FormSettings
from sauda.train.model import tokenizer_of
from sauda.train.partner import Partner, action_at, index_of, see, text_at
from sauda.train.people_rows import (
    SHARES,
    PeopleRowSettings,
    make_rows,
    sentences_to_say,
    task_of,
    teach,
    worded,
)
from sauda.train.selector import SelectorSettings, select, softmax, update
from sauda.train.teacher_rows import encode
from tests.support.models import Canned, own_moves

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


# Learning from reward alone: random legal games, a partner that plays as the learner did


TASK = task_of("bazaar/open-3", "training")


begin_game = partial(begin, TASK)
MET = [turn.obs for seed in range(5) for turn in teach("bazaar/open-3", 30_000 + seed, SETTINGS)]


def test_rows_of_the_form_hold_legal_moves_alone_and_no_words():
    rows = form.make_rows(FormSettings(rows=120))
    replies = [m["content"] for row in rows for m in row.messages if m["role"] == "assistant"]
    verbs = {next(iter(json.loads(reply))) for reply in replies}
    assert verbs == {"raise", "hold", "accept", "walk"}
    assert not any("say" in json.loads(reply) for reply in replies)


def test_a_move_of_the_partner_is_what_the_model_would_write_for_it():
    for obs in MET:
        for place in np.flatnonzero(see([obs]).legal[0]).tolist():
            action = action_at(place, obs)
            assert parse(text_at(place, obs), obs) == action
            assert index_of(action, obs) == place


@pytest.mark.parametrize("over", [Offer(10**7), None])
def test_what_a_partner_never_does_is_no_move_that_it_follows(over):
    obs = MET[0]
    assert index_of(over or Offer(obs.reservation + obs.table.item.list_price / 50), obs) is None


def test_the_chances_of_what_may_be_done_add_up_to_one():
    at = see(MET)
    chances = Partner(0, 1e-3).chances(at)
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-5)
    assert not chances[~at.legal].any()


def test_a_partner_learns_to_do_what_the_model_did():
    partner, at = Partner(0, 3e-3), see(MET)
    made = np.array([np.flatnonzero(row)[-1] for row in at.legal])  # the highest rise
    before = partner.chances(at)[range(len(MET)), made]
    partner.follow(at, made, 60)
    assert (partner.chances(at)[range(len(MET)), made] > 3 * before).all()


def test_from_grades_alone_a_partner_learns_to_win_more():
    partner, rng, starts = Partner(0, 3e-3), np.random.default_rng(0), map(begin_game, count())
    grades = [partner.improve(TASK, [*islice(starts, 800)], rng) for _ in range(16)]
    assert np.mean(grades[-2:]) > np.mean(grades[:2]) + 0.03


def test_a_batch_of_one_move_teaches_a_partner_too(monkeypatch):
    monkeypatch.setattr(Partner, "BATCH", 1)
    partner = Partner(0, 1e-3)
    partner.improve(TASK, [begin_game(0)], np.random.default_rng(0))
    assert np.isfinite(partner.chances(see(MET))).all()


def test_a_partner_plays_on_from_where_the_model_was_and_not_where_a_game_is_over():
    game = new_game(TASK, 4)
    play_games([game], PlayerSpec(Canned(lambda chat, seed: '{"raise":30}')))
    starts, rng = [game.turns[1].before, game.play], np.random.default_rng(0)
    ends, rounds = Partner(0, 1e-3).play(TASK, starts, rng)
    assert ends[0].turns[: len(starts[0].turns)] == starts[0].turns
    assert ends[1] == game.play
    assert not any(1 in whose for *_, whose in rounds)


def test_a_partner_written_to_a_file_goes_on_as_it_would_have(tmp_path):
    partners, games = (Partner(0, 3e-3), Partner(1, 3e-3)), [*map(begin_game, range(50))]
    partners[0].improve(TASK, games, np.random.default_rng(0))
    partners[0].save(tmp_path / "partner.pt")
    partners[1].load(tmp_path / "partner.pt")
    for partner in partners:
        partner.improve(TASK, games, np.random.default_rng(1))
    assert np.array_equal(*(partner.chances(see(MET)) for partner in partners))


@pytest.mark.model
def test_what_is_learnt_of_a_game_are_the_partner_s_chances_where_the_model_was(toy, tmp_path):
    made = Canned(lambda chat, seed: f'{{"raise":{30 + 7 * own_moves(chat)}}}')
    game = new_game(TASK, 4)
    play_games([game], PlayerSpec(made))
    rows = object.__new__(reward.Rows)
    rows.partner = Partner(0, 1e-3)
    row = rows.teach(game)
    chances = rows.partner.chances(see([turn.obs for turn in game.turns]))
    assert len(game.turns) > 2
    for turn, label, texts, chance in zip(
        game.turns, row.labels, row.choices, chances, strict=True
    ):
        assert label == completion(turn.action, turn.obs)
        assert dict(texts)[label] == pytest.approx(chance[index_of(turn.action, turn.obs)])
        assert sum(share for _, share in texts) == pytest.approx(1, abs=0.01)
    learnt = encode(row, tokenizer_of(toy))
    assert len(learnt["choices"]) == sum(label != -100 for label in learnt["labels"])


def test_where_the_model_overbid_it_learns_what_its_partner_would_do():
    game = new_game(TASK, 4)
    play_games([game], PlayerSpec(Canned(lambda chat, seed: '{"raise":119}')))
    rows = object.__new__(reward.Rows)
    rows.partner = Partner(0, 1e-3)
    row = rows.teach(game)
    assert row.labels[-1] in dict(row.choices[-1])
    assert row.messages[-1]["content"] == row.labels[-1] != '{"raise":119}'


# The selector, a REINFORCE run


SMALL = SelectorSettings(
    tasks=("arena/single_trade", "arena/market_round"), episodes=30, evaluated=6
)


@pytest.fixture(scope="module")
def data() -> dict:
    return select(SMALL)


def test_the_step_is_the_gradient_of_the_log_probability_at_temperature_one():
    start, change = np.array([0.3, -0.2, 0.1]), 1e-6
    chances = softmax(start, 1.0)
    bumped = [softmax(start + change * np.eye(3)[i], 1.0)[1] for i in range(3)]
    slopes = (np.log(bumped) - np.log(chances[1])) / change
    np.testing.assert_allclose(update(start, chances, 1, 1.0) - start, slopes, atol=1e-5)


def test_the_selector_learns_which_arm_pays(data):
    start, last = data["curve"][0]["before"], data["final"]
    assert start == [0.2] * 5
    for row in last:
        means = {arm: interval["mean"] for arm, interval in row["arms"].items()}
        chances = np.array(row["probabilities"])
        learned = float(chances @ list(means.values()))
        assert learned > np.mean(list(means.values()))
        assert row["policy"] == SMALL.arms[int(np.argmax(chances))]


@pytest.mark.slow
def test_the_artifact_is_of_its_kind_and_all_but_a_changed_number_comes_out_again(data, tmp_path):
    data["curve"][3]["after"][1] += 1e-6
    save("training/selector.json", asdict(SMALL), data, tmp_path)
    (place,) = verify("training/selector.json", root=tmp_path)
    assert place.startswith("data.curve[3].after[1]: recorded")
