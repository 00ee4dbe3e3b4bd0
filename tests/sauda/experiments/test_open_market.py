"""The open market: what optimal play earns, what is lost and why."""

from dataclasses import replace

import numpy as np
import pytest

from env import CATALOGUE, Accept, Offer, WalkAway, get_task, rollout
from sauda.experiments import gap
from sauda.experiments.gap import (
    BINS,
    JUDGED_TASKS,
    PLANNER,
    Judged,
    Stated,
    Unsteady,
    adopt,
    difficulty,
    judged_positions,
    read_stated,
    split_game,
)
from sauda.experiments.oracle import SPOKEN, informed_grades, oracle, search_numbers, tune
from sauda.llm.registry import PlayerSpec
from sauda.llm.types import Reply
from sauda.policies import BUYERS, SLOW
from sauda.policies.listener import Informed, MoveValues, believe
from sauda.policies.tuned import FAMILIES, Fixed
from sauda.records.seeds import (
    JUDGED,
    PLAYED,
    SPLITS,
    TRAINED,
    deal_at,
    is_unseen_game,
    is_unseen_listing,
    training_seeds,
)
from sauda.records.store import load
from tests.support.bazaar_games import seen

# The oracle ---------------------------------------------------------------------------------------

SEEDS = range(120)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SPOKEN)
def test_the_informed_value_agrees_with_play_under_the_games_own_draws(name: str):
    # It keeps the hazard so low that a walk is rare: one in a hundred games moves the mean most.
    task = get_task(name)
    oracles = {seed: Informed.of(deal_at(task, seed)) for seed in SEEDS}
    played = [task.grade(rollout(task, own, seed).final) for seed, own in oracles.items()]
    assert np.mean(played) == pytest.approx(informed_grades(name, True, SEEDS).mean(), abs=0.03)


def test_speaking_never_costs_the_oracle_anything():
    spoken, silent = (informed_grades(SPOKEN[0], speaks, SEEDS[:20]) for speaks in (True, False))
    assert (spoken >= silent).all()
    assert (spoken > silent).any()


def test_the_data_has_a_row_a_task_and_exploits_where_sellers_hear():
    data = oracle(episodes=2, search=1, scripts=6, workers=1)
    for row in data["rows"]:
        assert (row["search"] is not None) == (row["task"] in SPOKEN) == bool(row["exploits"])
        if row["task"] not in SPOKEN:
            assert row["informed"] == row["silent"]


def test_nobody_without_hidden_facts_comes_near_the_oracle_and_no_exploit_pays():
    for row in load("oracle.json").data.rows:
        assert max(cell.share for cell in row.policies) < 0.95
        for cell in [*row.exploits, *(row.search.best if row.search else ())]:
            assert cell.gain.low <= 0, f"{cell.what} pays on {row.task}"


def test_a_search_ends_nearer_the_optimum_than_it_began():
    numbers, reached = search_numbers(SPOKEN[0], "fixed share", 8, 2, 4, 20)
    assert numbers == search_numbers(SPOKEN[0], "fixed share", 8, 2, 4, 20)[0]
    assert len(reached) == 4
    assert 0.5 < numbers["share"] <= 1


def test_a_search_meets_no_unseen_listing(monkeypatch):
    met = []

    class Watching(Fixed):
        def price(self, obs, limit, useful):
            met.append(obs.table.item)
            return super().price(obs, limit, useful)

    monkeypatch.setitem(FAMILIES, Fixed.name, Watching)
    search = {"population": 2, "elites": 1, "generations": 2, "seeds": 20}
    tune(SPOKEN[0], Fixed.name, search, episodes=1)
    holdout = deal_at(get_task(SPOKEN[0]), SPLITS["holdout"][0]).item
    assert len(set(met)) > 40
    assert not any(is_unseen_listing(item) for item in met if item != holdout)


def test_training_and_searches_stop_before_the_games_that_judge_them():
    met = set()
    with pytest.raises(ValueError, match="games has too few training seeds"):
        list(map(met.add, training_seeds("games", TRAINED[-9])))
    assert met == set(TRAINED[-9:])


def test_what_is_learnt_is_judged_and_reported_on_games_that_nothing_learns_from():
    parts = (TRAINED, JUDGED, PLAYED, SPLITS["holdout"])
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert set().union(*parts[:3]) == set(SPLITS["train"])


# The gap to the optimum ---------------------------------------------------------------------------

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
    class SureOfTheFirst:
        def batch(self, chats, seeds, schemas):
            texts = ['{"low":40,"high":80,"seller":"fair"}', "no idea"]
            return [Reply(text, "canned") for text in texts[: len(chats)]]

    player = PlayerSpec(SureOfTheFirst())
    columns = gap.play_believing([50_000, 50_001], gap.states_of_model(player))
    assert columns["asked"][0] == columns["stated"][0] > 0
    score = gap.score_of(columns)
    assert 0 < score["stated"]["mean"] < 1
    assert score["width"]["mean"] == pytest.approx(0.4, abs=0.01)
    first = deal_at(get_task("bazaar/open"), 50_000).seller["stance"]  # the only one it tells
    assert score["right"]["mean"] == (first.type == "fair")


# Regret on fixed positions ------------------------------------------------------------------------

COUNT = 24


@pytest.fixture(scope="module")
def judged() -> Judged:
    return Judged.of(COUNT)


def test_the_positions_are_the_same_each_time_and_of_games_that_nothing_learns_from(judged):
    assert [s.obs for s in judged_positions(COUNT)] == [s.obs for s in judged.positions]
    assert {s.task for s in judged.positions} == set(JUDGED_TASKS)
    assert len({s.turn for s in judged.positions}) > 2
    for state in judged.positions:
        assert state.seed in JUDGED
        assert not is_unseen_game(get_task(state.task), state.seed)


def test_the_judged_turn_does_not_follow_from_the_item(judged):
    """Drawn from one stream, the place of the item in the catalogue decides the turn."""
    places = [CATALOGUE.index(state.obs.table.item) for state in judged.positions]
    assert abs(np.corrcoef(places, [state.turn for state in judged.positions])[0, 1]) < 0.4


def test_the_judge_regrets_nothing_and_errors_of_the_hand_cost(judged):
    def figures(policy):
        rng = np.random.default_rng(0)
        return judged.figures_of([policy(state.obs, rng) for state in judged.positions])

    own = figures(PLANNER)
    assert own["regret"]["mean"] == 0
    assert own["price_error"] in (0, None)
    shaken = [figures(Unsteady(PLANNER, error)) for error in (3.0, 12.0)]
    assert 0 < shaken[0]["regret"]["mean"] < shaken[1]["regret"]["mean"]
    assert shaken[0]["price_error"] < shaken[1]["price_error"]


def test_a_reply_that_is_no_move_counts_as_leaving(judged):
    silent, leaves = ([move] * COUNT for move in (None, WalkAway()))
    assert judged.figures_of(silent) == judged.figures_of(leaves)


def test_the_values_of_moves_are_read_off_between_prices_and_of_equal_ones_an_offer_is_made():
    values = MoveValues(("",), np.array([10.0, 20.0]), np.array([[0.1, 0.3]]), accept=0.3, walk=0.3)
    obs = rollout(get_task("bazaar/open"), BUYERS["linear"], 1).trajectory("buyer")[0].observation
    assert values.of(Offer(15)) == pytest.approx(0.2)
    assert values.regret(Offer(15)) == pytest.approx(0.1)
    assert values.best(obs) == Offer(20)
    assert values.regret(Accept()) == values.regret(WalkAway()) == 0
