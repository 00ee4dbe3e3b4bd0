"""The gap to the optimum: what is stated, what is adopted, one game, and how hard a game is."""

from dataclasses import replace

import numpy as np
import pytest

from env import Offer, get_task, rollout
from sauda.experiments import gap
from sauda.experiments.gap import BINS, Stated, adopt, difficulty, read_stated, split_game
from sauda.llm.registry import PlayerSpec
from sauda.llm.types import Reply
from sauda.policies import BUYERS, SLOW
from sauda.policies.listener import believe
from sauda.records.seeds import deal_at
from tests.support.bazaar_games import seen

OPEN = get_task("bazaar/open")


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ('{"low":40,"high":70,"seller":"fair"}', Stated(400, 700, "fair")),
        ('It is {"low": 70, "high": 40, "seller": "Firm"}.', Stated(400, 700, "firm")),
        ('{"low":40,"high":70,"seller":"kind"}', None),
        ('{"low":"cheap","high":70,"seller":"fair"}', None),
        ('{"low":true,"high":70,"seller":"fair"}', None),
        ('{"offer":45}', None),
        ("I believe it is fair.", None),
    ],
)
def test_a_belief_is_read_in_percent_of_the_list_price_or_not_at_all(text, stated):
    assert read_stated(text, seen()) == stated


def test_who_adopts_a_belief_holds_it_and_nothing_else():
    obs = rollout(OPEN, BUYERS["linear"], 3).trajectory("buyer")[-1].observation
    now = believe(obs)
    low, high = np.quantile(now.sellers.reservation, [0.4, 0.6])
    adopted = adopt(obs, now, Stated(float(low), float(high), "hasty"))
    limits = now.sellers.reservation
    inside = (limits >= low) & (limits <= high)
    assert adopted.weights[inside].sum() == pytest.approx(gap.INSIDE, abs=0.05)
    assert adopted.weights[now.sellers.kind == 2].sum() == pytest.approx(gap.PICKED)
    assert (adopted.mood, adopted.said) == (now.mood, now.said)
    nothing = adopt(obs, now, None)
    assert nothing.weights[inside].sum() < adopted.weights[inside].sum()
    point = adopt(obs, now, Stated(1.0, 1.0, "fair"))  # no seller of the sample lies there
    assert point.weights.sum() == pytest.approx(1)


def test_the_planners_own_moves_lose_nothing_and_bad_ones_lose_by_control_or_belief():
    assert split_game(rollout(OPEN, SLOW["listener"], 4).turns) == (0, 0)
    inference, control = split_game(rollout(OPEN, lambda obs, rng: Offer(obs.budget), 4).turns)
    assert inference >= 0 <= control
    assert inference + control > 0


def test_a_game_is_told_as_hard_as_it_is_with_its_reasons():
    deal = deal_at(OPEN, 50_000)
    place, words = difficulty(deal)
    assert words.startswith(f"{BINS[place - 1]}: ")
    stance = deal.seller["stance"]
    assert ("bluffer" if stance.type == "bluffer" else stance.type) in words
    hopeless = replace(deal, buyer={**deal.buyer, "reservation": 1})
    assert difficulty(hopeless)[0] == 1
    assert "to leave is right" in difficulty(hopeless)[1]


def test_the_parts_sum_to_the_gap_and_statements_are_scored():
    data = gap.gap(("linear", "bayesian", "listener"), episodes=5, workers=1)
    gap.Gap.model_validate(data)
    for row in data["rows"]:
        parts = row["inference"]["mean"] + row["control"]["mean"] + data["uncertainty"]["mean"]
        assert parts == pytest.approx(data["oracle"]["mean"] - row["grade"]["mean"], abs=1e-5)
    by_name = {row["player"]: row["beliefs"] for row in data["rows"]}
    assert by_name["linear"] is None
    assert by_name["listener"]["held"] == by_name["listener"]["own_held"]
    (alone,) = gap.gap(("linear",), episodes=5, workers=1)["rows"]  # the planner plays along
    assert alone == data["rows"][0]


def test_a_model_is_asked_at_the_positions_of_the_planner_and_answers_count():
    class Canned:
        def batch(self, chats, seeds, schemas):
            texts = ['{"low":40,"high":80,"seller":"fair"}', "no idea"]
            return [Reply(texts[i % 2], "canned") for i in range(len(chats))]

    columns = gap.play_believing([50_000, 50_001], gap.states_of_model(PlayerSpec(Canned())))
    assert columns["asked"][0] == columns["stated"][0] > 0
    score = gap.score_of(columns)
    assert 0 < score["stated"]["mean"] < 1
    assert score["width"]["mean"] == pytest.approx(0.4, abs=0.01)
