"""The oracle's figure for a finished game, beside the players that it bounds."""

import pytest

from env import ARENA_TASKS, TASKS, begin, rollout
from sauda.games import policies_of
from sauda.policies.best_response import informed_value
from sauda.sessions.oracle import informed_grade, oracle

UNKNOWN = {"classic/career_10", "classic/read_the_tells"}  # several deals, no solution


@pytest.mark.parametrize("task_name", TASKS)
def test_every_task_but_two_has_an_oracle_whose_grade_is_one(task_name):
    found = oracle(task_name, 60_007)
    assert (found is None) == (task_name in UNKNOWN)
    if found is not None:
        assert -1 <= found.grade <= 1
        assert found.meaning.endswith(".")


@pytest.mark.parametrize("task_name", [*ARENA_TASKS, "bazaar/seller_brief", "classic/single_deal"])
def test_no_script_does_better_than_what_can_be_won_in_this_very_game(task_name):
    task = TASKS[task_name]
    for seed in (3, 60_007):
        most = oracle(task_name, seed).grade
        for name in ("linear", "boulware") if task_name not in ARENA_TASKS else ("planner", "wait"):
            played = rollout(task, policies_of(task)[name], seed)
            assert task.grade(played.final) <= most + 1e-6


def test_a_buyers_oracle_in_the_open_market_is_the_informed_value_of_its_deal():
    (deal,) = begin(TASKS["bazaar/open"], 7).state.private["nature"]
    assert informed_grade(TASKS["bazaar/open"], 7) == informed_value(deal)
