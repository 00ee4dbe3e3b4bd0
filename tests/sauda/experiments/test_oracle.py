"""The oracle's bounds on the open market, against play, and exploits that do not pay."""

import numpy as np
import pytest

from env import get_task, rollout
from sauda.experiments.oracle import SPOKEN, informed_grades, oracle, search_numbers
from sauda.policies.listener import Informed
from sauda.records.seeds import deal_at
from sauda.records.store import load

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
    data = oracle(episodes=4, search=2, scripts=12, workers=1)
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
