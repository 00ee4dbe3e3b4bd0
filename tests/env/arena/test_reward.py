"""The arena's reward: eleven fields, ten components that sum to the last, true to the utility."""

from functools import reduce
from operator import add

import pytest

from env import ARENA_TASKS, Policy, arena, begin, rollout
from sauda.policies import LABS
from tests.support.arena_games import block, do, job, market, take

every_policy = pytest.mark.parametrize("policy", LABS.values(), ids=LABS.keys())


def world(**more) -> arena.State:
    """lab_0 owns a (4 hours), lab_1 owns c (4 hours); jobs of 40 and 60; the stake is 40."""
    blocks = [block("a", rounds=4, gpus=1), block("c", lab=1)]
    return market(blocks, {0: [job("j0")], 1: [job("j1", value=60.0)]}, **more)


def act(state: arena.State, kind: str, lab: str = "lab_0", **fields) -> arena.Breakdown:
    return arena.reward(state, arena.Action(kind, **fields), lab)


def paid(breakdown: arena.Breakdown) -> dict[str, float]:
    """The components that are not 0."""
    return {
        name: pytest.approx(part)
        for name, part in breakdown._asdict().items()
        if part and name != "normalized_reward"
    }


def test_a_shock_that_strikes_the_plan_is_its_own_component():
    blocks = [block("a", start=1, rounds=4, gpus=1), block("c", lab=1)]
    state = market(blocks, {0: [job("j0")], 1: [job("j1")]}, shocks={1: "capacity_failure"})
    state = take(take(state, "wait"), "send_message", message="hi")
    assert paid(act(state, "wait", lab="lab_0")) == {"market_adaptation_score": -19 / 40}


def test_a_pool_pays_both_its_members():
    blocks = [block("a", gpus=1), block("c", lab=1)]
    state = take(market(blocks, {0: [job("j0")], 1: []}), "form_coalition", target_lab_id="lab_1")
    state = take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))
    booking = {"job_id": "j0", "block_ids": ("c",)}
    assert paid(act(state, "allocate_to_job", **booking)) == {
        "job_utility_score": 40 / 40,
        "coalition_reliability_score": -19 / 40,
        "budget_efficiency_score": -2 / 40,
    }
    owner = act(state, "allocate_to_job", lab="lab_1", **booking)
    assert paid(owner) == {"coalition_reliability_score": 19}  # without jobs the stake is 1


def test_refused_and_malformed_actions_cost_what_the_rules_say():
    refused = act(world(), "allocate_to_job", job_id="j0", block_ids=("c",))
    assert paid(refused) == {"invalid_action_penalty": -0.10}
    malformed = arena.reward(world(), arena.action_from({"action_type": "rob"}), "lab_0")
    assert paid(malformed) == {"invalid_action_penalty": -0.15}


def test_the_third_equal_action_in_a_row_is_spam_unless_it_waits():
    state = world(rounds=9)
    for _ in range(2):
        state = do(state, 0, "make_pitch", message="Give it all to us.")
    while state.market.queue[0] != "lab_0":
        state = take(state, "wait")
    third = act(state, "make_pitch", message="Give it all to us.")
    assert third.spam_penalty == -0.05
    assert act(state, "make_pitch", message="Something else.").spam_penalty == 0
    idle = world(rounds=9)
    for _ in range(4):
        assert act(idle, "wait").spam_penalty == 0
        idle = take(take(idle, "wait"), "wait")


def test_a_breach_is_punished_once_and_only_at_who_broke_it():
    state = take(world(), "form_coalition", target_lab_id="lab_1")
    state = take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))
    state = take(state, "send_message", message="thanks")
    breach = {"job_id": "j1", "block_ids": ("c",)}
    assert act(state, "allocate_to_job", lab="lab_1", **breach).breach_penalty == -0.20
    other = act(state, "allocate_to_job", lab="lab_0", **breach)
    assert (other.breach_penalty, other.coalition_reliability_score) == (0, 5 / 40)


@every_policy
@pytest.mark.parametrize("name", ARENA_TASKS)
def test_components_sum_to_the_reward_and_rewards_to_the_utility(name: str, policy: Policy):
    task = ARENA_TASKS[name]
    for seed in range(4):
        game = rollout(task, policy, seed)
        first = begin(task, seed).state
        rewards = arena.episode_rewards(first, game.turns, "lab_0")
        assert len(rewards) == len(game.trajectory("lab_0"))
        for breakdown in rewards:
            assert reduce(add, breakdown[:-1]) == breakdown.normalized_reward
        whole = arena.total(rewards)
        penalties = sum(whole[7:10])
        own = game.final.private["lab_0"]
        planned = first.private["lab_0"].batna
        potential = (own.utility - arena.PLAN_WEIGHT * planned) / own.stake
        assert whole.normalized_reward - penalties == pytest.approx(potential, abs=1e-3)
