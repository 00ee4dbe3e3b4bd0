"""Learning from reward alone: random legal games, a partner that plays as the learner did."""

import json

import numpy as np
import pytest

from env import Offer
from sauda.llm.turn import new_game
from sauda.train.form import FormSettings, make_rows
from sauda.train.people_rows import task_of
from sauda.train.reward import MovesPlayedOn, Partner, RewardSettings, features

TASK = task_of("bazaar/open-3", "training")


def observation(seed: int):
    return new_game(TASK, seed).observation


def test_rows_of_the_form_hold_legal_moves_alone_and_no_words():
    rows = make_rows(FormSettings(rows=120))
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
