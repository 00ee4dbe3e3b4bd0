"""Rows in words of its own, byte for byte what is served; learning from reward alone."""

import json
import re
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from env import CATALOGUE, Accept, Offer, ear, rupees
from env.bazaar.prompt import parse, percent_of, render
from sauda.experiments.verify import verify
from sauda.language.faults import claims_step
from sauda.llm.turn import new_game
from sauda.records import read_table
from sauda.records.store import save
from sauda.train import form, people_rows
from sauda.train.form import FormSettings
from sauda.train.people_rows import (
    SHARES,
    PeopleRowSettings,
    make_rows,
    sentences_to_say,
    task_of,
    teach,
    worded,
)
from sauda.train.reward import MovesPlayedOn, Partner, RewardSettings, features
from sauda.train.selector import SelectorSettings, select, softmax, update

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


def observation(seed: int):
    return new_game(TASK, seed).observation


def test_rows_of_the_form_hold_legal_moves_alone_and_no_words():
    rows = form.make_rows(FormSettings(rows=120))
    replies = [m["content"] for row in rows for m in row.messages if m["role"] == "assistant"]
    verbs = {next(iter(json.loads(reply))) for reply in replies}
    assert verbs == {"raise", "hold", "accept", "walk"}
    assert not any("say" in json.loads(reply) for reply in replies)


def test_random_moves_lose_nothing_win_little_and_meet_the_same_luck_in_a_group():
    settings = RewardSettings(playouts=1)
    games = object.__new__(MovesPlayedOn)
    games.settings, games.partner = settings, Partner(settings.memory)
    grades = [games.earn(new_game(TASK, seed)) for seed in range(80)]
    assert min(grades) >= 0  # within the limit
    assert np.mean(grades) < 0.15
    assert games.earn(new_game(TASK, 5, (1, 3))) == grades[5]


def test_a_partner_does_what_the_learner_did_in_such_a_state_and_keeps_to_its_limit():
    partner, states = Partner(100), {0.5: observation(5), 1.4: observation(8)}
    for share, obs in states.items():
        for _ in range(Partner.NEAREST):
            partner.remember(obs, Offer(obs.priced(share * obs.reservation)))
    assert not np.array_equal(*map(features, states.values()))
    for share, obs in states.items():
        made = partner(obs, np.random.default_rng(0))
        assert made.price == pytest.approx(min(share, 1.0) * obs.reservation, rel=0.02)


def test_a_partner_written_to_a_file_remembers(tmp_path):
    partner = Partner(100)
    for seed in range(12):
        partner.remember(observation(seed), Offer(float(10 + seed)))
    partner.save(tmp_path / "partner.npz")
    other = Partner(100)
    other.load(tmp_path / "partner.npz")
    assert np.array_equal(other.states, partner.states)
    assert list(other.moves) == list(partner.moves)


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
