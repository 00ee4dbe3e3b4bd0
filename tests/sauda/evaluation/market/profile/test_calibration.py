"""Ranges for the seller's limit: read from replies, and scored by a rule that rewards the truth."""

import numpy as np
import pytest

from env import get_task, rollout
from sauda.evaluation.market.profile.calibration import (
    Range,
    answer,
    asked,
    prior,
    question,
    scored,
)
from sauda.games import BAZAAR
from sauda.games.adapter import Reply
from sauda.policies import BUYERS
from sauda.records.seeds import SPLITS

GAME = rollout(get_task("bazaar/open"), BUYERS["linear"], SPLITS["holdout"][3])
TURNS = [turn.observation for turn in GAME.trajectory("buyer")]
OBS = TURNS[2]
PRICE = OBS.table.item.list_price


def test_the_question_is_the_game_so_far_under_other_rules():
    rules, *game = question(OBS)
    assert game == BAZAAR.prompt.render(OBS)[1:]
    assert "80 percent chance" in rules["content"]
    assert str(GAME.final.private["seller"]["reservation"]) not in str(game)


@pytest.mark.parametrize(
    "text", ['{"low":40,"high":70}', 'I think {"low": 40.0, "high": 70} holds it.']
)
def test_a_range_is_read_in_percent_of_the_own_limit(text):
    low, high = answer(text, OBS)
    assert low == pytest.approx(0.4 * OBS.reservation)
    assert high == pytest.approx(0.7 * OBS.reservation)


@pytest.mark.parametrize(
    "text",
    ["", "about 50", '{"low":70,"high":40}', '{"low":40}', '{"low":"a","high":70}',
     '{"low":true,"high":70}', '{"low":-1,"high":70}', '{"offer":50}'],
)  # fmt: skip
def test_a_reply_without_a_range_is_none(text):
    assert answer(text, OBS) is None


def test_each_position_is_asked_with_a_seed_of_its_own():
    seen = []

    class Model:
        def batch(self, chats, seeds, schemas):
            seen.extend(zip(chats, seeds, strict=True))
            return [Reply('{"low":40,"high":70}', "test") for _ in chats]

    ranges = asked(Model(), TURNS[:3], [7, 8, 9], batch=2)
    assert [seed for _, seed in seen] == [7, 8, 9]
    assert [chat for chat, _ in seen] == [question(obs) for obs in TURNS[:3]]
    assert len(ranges) == 3


def test_a_range_costs_its_width_and_ten_times_the_distance_to_what_it_misses():
    ranges = [Range(0.4 * PRICE, 0.6 * PRICE)] * 3
    limits = [0.5 * PRICE, 0.65 * PRICE, 0.3 * PRICE]
    scores = scored(ranges, [OBS] * 3, limits)
    assert scores["score"]["mean"] == pytest.approx((0.2 + (0.2 + 0.5) + (0.2 + 1.0)) / 3)
    assert scores["width"]["mean"] == pytest.approx(0.2)
    assert scores["coverage"]["mean"] == pytest.approx(1 / 3)
    assert (scores["n"], scores["answered"]) == (3, 3)


def test_no_answer_is_scored_as_the_range_up_to_the_ask():
    none, whole = (scored([one], [OBS], [0.5 * PRICE]) for one in (None, Range(0.0, OBS.ask)))
    assert none == {**whole, "answered": 0}


def test_the_rule_is_proper_the_true_quantiles_have_the_least_score():
    limits = PRICE * np.random.default_rng(0).uniform(0.4, 0.8, 4000)
    at = [OBS] * len(limits)

    def score(low: float, high: float) -> float:
        return scored([Range(low * PRICE, high * PRICE)] * len(at), at, limits)["score"]["mean"]

    true = score(0.44, 0.76)
    assert all(true < score(*other) for other in ((0.4, 0.8), (0.5, 0.7), (0.44, 0.7), (0.5, 0.76)))
    assert tuple(prior(OBS)) == pytest.approx((0.44 * PRICE, 0.76 * PRICE))
