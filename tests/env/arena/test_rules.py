"""The arena's rules in small markets, and its reward, true to the utility.

Budgets are 100; the energy of a block costs 2.
"""

import json
from functools import reduce
from operator import add

import pytest

from env import ARENA_TASKS, Policy, arena, begin, rollout
from sauda.policies import LABS
from tests.support.arena_games import ENV, block, do, job, market, next_round, result, seen, take
from tests.support.cases import cases


def two_labs(**more) -> arena.State:
    """lab_0 owns a and b, lab_1 owns c: four hours each; both have a job of four hours."""
    blocks = [block("a"), block("b"), block("c", lab=1)]
    return market(blocks, {0: [job("j0")], 1: [job("j1", value=60.0)]}, **more)


def each(check: str):
    return pytest.mark.parametrize(("given", "code"), cases("arena_actions.csv", check))


def test_partial_credit_adds_up_over_bookings():
    parts = [block("a", gpus=1), block("b", gpus=1)]
    state = market(parts, {0: [job("j0", partial_credit_allowed=True)]})
    state = take(state, "allocate_to_job", job_id="j0", block_ids=("a",))
    own = state.private["lab_0"]
    assert (own.job_value, own.jobs[0].completed) == (20, False)
    own = do(state, 0, "allocate_to_job", job_id="j0", block_ids=("b",)).private["lab_0"]
    assert (own.job_value, own.jobs[0].completed) == (40, True)


@each("booking")
def test_a_booking_that_cannot_be_is_refused(given: str, code: str):
    blocks = [
        block("a"), block("c", lab=1), block("dead", status="failed"), block("used", status="used"),
        block("shaky", reliability=0.79), block("past", start=5), block("small", gpus=1),
        block("dear", energy_cost=101.0),
    ]  # fmt: skip
    booking = {"job_id": "j0", "block_ids": tuple(json.loads(given))}
    state = take(market(blocks, {0: [job("j0")]}), "allocate_to_job", **booking)
    assert result(state, 0) == code
    assert state.private["lab_0"].budget == 100


def offered(payment: float = 10.0, **more) -> arena.State:
    """lab_0 bids for block c of lab_1."""
    fields = {"target_lab_id": "lab_1", "requested_block_ids": ("c",), "payment": payment}
    return take(two_labs(), "send_offer", **(fields | more))


def test_an_offer_lapses_after_the_second_round_that_follows():
    state = offered()
    for _ in range(2):
        state = next_round(state)
    assert "o_1" in state.market.offers
    state = next_round(state)
    assert state.market.closed["o_1"].status == "expired"
    assert result(do(state, 1, "accept_offer", offer_id="o_1"), 1) == "expired_offer"


@pytest.mark.parametrize("kind", ["accept_offer", "counter_offer"])
def test_only_the_recipient_answers_an_offer(kind: str):
    state = do(offered(), 0, kind, offer_id="o_1", payment=1.0)
    assert result(state, 0) == "not_offer_recipient"
    assert state.market.offers["o_1"].status == "active"


def test_a_sender_withdraws_its_own_offer_and_a_third_lab_cannot_reject_it():
    state = do(offered(), 0, "reject_offer", offer_id="o_1")
    assert (result(state, 0), state.market.closed["o_1"].status) == ("offer_withdrawn", "withdrawn")
    three = take(two_labs(labs=3), "send_offer", target_lab_id="lab_1", payment=1.0)
    assert result(do(three, 2, "reject_offer", offer_id="o_1"), 2) == "not_offer_recipient"


@each("offer")
def test_an_offer_that_cannot_be_is_refused(given: str, code: str):
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(given).items()}
    state = offered(**fields | {"conditions": tuple(fields.get("conditions", {}).items())})
    assert (result(state, 0), dict(state.market.offers)) == (code, {})


@each("malformed")
def test_what_is_no_action_is_malformed_in_one_plain_sentence(given: str, code: str):
    action = arena.action_from(json.loads(given))
    assert isinstance(action, arena.Malformed)
    assert 10 < len(action.reason) < 200
    assert "\n" not in action.reason
    state = ENV.step(two_labs(), action)
    assert result(state, 0) == "malformed_action"
    assert state.market.queue == ("lab_1", "lab_0", "lab_1")


def test_an_action_is_the_same_after_json():
    fields = {"block_ids": ["a"], "payment": 3, "conditions": {"ask": 2, "why": "fair"}}
    row = {"action_type": "send_offer", "target_lab_id": "lab_1", **fields}
    action = arena.action_from({**row, "unknown": 1, "job_id": None})
    assert action.as_json() == row
    assert arena.action_from(action.as_json()) == action


def test_a_reserved_block_cannot_be_asked_for_and_its_reservation_lapses():
    state = take(take(two_labs(), "wait"), "reserve_capacity", block_ids=("c",))
    state = next_round(state)
    terms = {"target_lab_id": "lab_1", "requested_block_ids": ("c",), "payment": 1.0}
    assert result(do(state, 0, "send_offer", **terms), 0) == "unavailable_block"
    state = next_round(next_round(state))
    assert state.market.blocks["c"].status == "available"


def test_a_joint_job_takes_blocks_of_two_labs():
    blocks = [block("a"), block("b", gpus=1), block("c", lab=1, gpus=1)]
    state = market(blocks, {0: [job("j0", joint=True)], 1: []})
    assert arena.own_plan(seen(state, 0)).gain == 0
    alone = take(state, "allocate_to_job", job_id="j0", block_ids=("a", "b"))
    assert result(alone, 0) == "needs_partner"
    state = take(state, "form_coalition", target_lab_id="lab_1")
    state = take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))
    fits = [a for a in arena.legal_actions(seen(state, 0)) if a.action_type == "allocate_to_job"]
    assert fits
    for action in fits:
        assert result(ENV.step(state, action), 0) == "job_allocated"
        assert "c" in action.block_ids


def pooled() -> arena.State:
    """lab_0 and lab_1 have a pool, into which lab_1 has put c; it is lab_0's turn."""
    state = take(two_labs(), "form_coalition", target_lab_id="lab_1")
    return take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))


def test_a_coalition_needs_consent():
    state = take(two_labs(), "form_coalition", target_lab_id="lab_1")
    assert (result(state, 0), seen(state, 0).coalitions) == ("coalition_proposed", ())
    assert [c.coalition_id for c in seen(state, 1).proposals] == ["c_1"]
    early = do(state, 0, "commit_to_coalition", coalition_id="c_1", block_ids=("a",))
    assert result(early, 0) == "coalition_inactive"
    agreed = take(state, "form_coalition", target_lab_id="lab_0")
    assert (result(agreed, 1), len(seen(agreed, 0).coalitions)) == ("coalition_created", 1)


@pytest.mark.parametrize("way", ["job", "release"])
def test_taking_a_block_back_breaks_the_coalition_and_costs(way: str):
    state = do(pooled(), 0, "send_message", message="well?")
    if way == "job":
        state = take(state, "allocate_to_job", job_id="j1", block_ids=("c",))
    else:
        state = take(state, "release_capacity", block_ids=("c",))
    coalition = state.market.coalitions["c_1"]
    assert (coalition.breach_status, coalition.breached_by) == ("breached", "lab_1")
    assert (state.private["lab_0"].pool, state.private["lab_1"].pool) == (5, -5)
    assert state.private["lab_1"].breaches == 1
    assert state.market.labs["lab_1"].reputation == pytest.approx(0.53)
    assert state.market.labs["lab_0"].reputation == 0.65
    assert seen(state, 0).coalitions == ()


def test_a_failed_commitment_is_excused():
    jobs = {0: [job("j0")], 1: [job("j1")]}
    state = market([block("c", lab=1, rounds=5)], jobs, shocks={1: "capacity_failure"})
    state = take(state, "form_coalition", target_lab_id="lab_1")
    state = take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))
    state = next_round(state)
    coalition = state.market.coalitions["c_1"]
    assert (coalition.breach_status, coalition.active) == ("excused", True)
    assert state.private["lab_1"].breaches == 0


def test_a_failure_strikes_what_is_not_reserved_first():
    state = take(two_labs(shocks={1: "capacity_failure"}), "reserve_capacity", block_ids=("a",))
    state = next_round(state)
    status = {name: b.status for name, b in state.market.blocks.items()}
    assert status == {"a": "reserved", "b": "failed", "c": "available"}
    assert state.market.shock_history[0].block_id == "b"


@pytest.mark.parametrize(
    ("kind", "struck"),
    [("reliability_degradation", {"reliability": 0.78}), ("energy_spike", {"energy_cost": 4.0})],
)
def test_a_shock_spares_what_is_reserved(kind: str, struck: dict[str, float]):
    state = take(two_labs(shocks={1: kind}), "reserve_capacity", block_ids=("a",))
    before, after = state.market.blocks, next_round(state).market.blocks
    assert after["a"] == before["a"]
    assert after["b"] == before["b"]._replace(**struck)


def test_the_job_of_a_surge_raises_what_a_lab_that_stays_could_earn_alone():
    task = ARENA_TASKS["arena/coalition_market"]
    raised = 0
    for seed in range(20):
        first = begin(task, seed).state
        stays, leaves = (rollout(task, LABS[name], seed).final for name in ("wait", "autarky"))
        assert leaves.private["lab_0"].batna == first.private["lab_0"].batna
        raised += stays.private["lab_0"].batna > first.private["lab_0"].batna
    assert raised


@pytest.mark.parametrize(("bid", "cost"), [(None, 0.1), (5.0, 0.1), (12.0, 0.0)])
def test_a_made_up_rival_bid_costs_reputation_when_the_round_closes(bid: float, cost: float):
    state = market([block("b_0_0")], {}, labs=3)
    text = "Another lab has bid 12.00 for b_0_0."
    state = take(state, "send_message", target_lab_id="lab_1", message=text)
    if bid:
        terms = {"target_lab_id": "lab_0", "requested_block_ids": ("b_0_0",), "payment": bid}
        state = do(state, 2, "send_offer", **terms)
    assert state.market.labs["lab_0"].reputation == 0.65
    after = next_round(state).market.labs["lab_0"].reputation
    assert after == pytest.approx(0.65 - cost)


@each("signal")
def test_the_first_group_of_words_decides_the_signal(given: str, code: str):
    posted = take(two_labs(), "send_message", message=given).market.messages[0]
    assert (posted.signal, posted.from_lab_id, posted.to_lab_id) == (code, "lab_0", None)


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
