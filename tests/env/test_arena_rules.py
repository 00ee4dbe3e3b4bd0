"""The arena's rules in small markets, its reward, and what holds whatever the labs do.

Budgets are 100; the energy of a block costs 2.
"""

import json
from collections import Counter, defaultdict
from functools import reduce
from math import inf, nan
from operator import add
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from env import ARENA_TASKS, IllegalAction, Policy, arena, begin, rollout
from env.arena.env import act, close_if_done
from sauda.policies import LABS
from tests.support.arena_games import ENV, block, do, job, market, next_round, result, seen, take
from tests.support.cases import cases


def two_labs(**more) -> arena.State:
    """lab_0 owns a and b, lab_1 owns c: four hours each; both have a job of four hours."""
    blocks = [block("a"), block("b"), block("c", lab=1)]
    return market(blocks, {0: [job("j0")], 1: [job("j1", value=60.0)]}, **more)


def each(check: str):
    return pytest.mark.parametrize(("given", "code"), cases("arena_actions.csv", check))


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


def offered(payment: float = 10.0, labs: int = 2, **more) -> arena.State:
    """lab_0 bids for block c of lab_1."""
    fields = {"target_lab_id": "lab_1", "requested_block_ids": ("c",), "payment": payment}
    return take(two_labs(labs=labs), "send_offer", **(fields | more))


def test_an_offer_lapses_after_the_second_round_that_follows():
    state = offered()
    for _ in range(2):
        state = next_round(state)
    assert "o_1" in state.market.offers
    state = next_round(state)
    assert state.market.closed["o_1"].status == "expired"
    assert result(do(state, 1, "accept_offer", offer_id="o_1"), 1) == "expired_offer"


@pytest.mark.parametrize(
    ("lab", "kind", "code", "status"),
    [
        (0, "accept_offer", "not_offer_recipient", "active"),
        (0, "counter_offer", "not_offer_recipient", "active"),
        (2, "reject_offer", "not_offer_recipient", "active"),
        (0, "reject_offer", "offer_withdrawn", "withdrawn"),
        (1, "reject_offer", "offer_rejected", "rejected"),
    ],
)
def test_only_the_recipient_answers_an_offer_and_its_sender_withdraws_it(lab, kind, code, status):
    state = do(offered(labs=3), lab, kind, offer_id="o_1", payment=1.0)
    offers = {**state.market.offers, **state.market.closed}
    assert (result(state, lab), offers["o_1"].status) == (code, status)


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


@pytest.mark.parametrize(
    ("kind", "struck"),
    [("reliability_degradation", {"reliability": 0.78}), ("energy_spike", {"energy_cost": 4.0}),
     ("capacity_failure", {"status": "failed"})],
)  # fmt: skip
def test_a_shock_spares_what_is_reserved(kind: str, struck: dict[str, Any]):
    state = take(two_labs(shocks={1: kind}), "reserve_capacity", block_ids=("a",))
    before, after = state.market.blocks, next_round(state).market.blocks
    assert after["a"] == before["a"]
    assert after["b"] == before["b"]._replace(**struck)


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


def rewarded(state: arena.State, kind: str, lab: str = "lab_0", **fields) -> arena.Breakdown:
    return arena.reward(state, arena.Action(kind, **fields), lab)


def test_refused_and_malformed_actions_cost_what_the_rules_say():
    refused = rewarded(two_labs(), "allocate_to_job", job_id="j0", block_ids=("c",))
    malformed = arena.reward(two_labs(), arena.action_from({"action_type": "rob"}), "lab_0")
    for breakdown, cost in ((refused, -0.10), (malformed, -0.15)):
        assert breakdown.invalid_action_penalty == breakdown.normalized_reward == cost


def test_the_third_equal_action_in_a_row_is_spam_unless_it_waits():
    state = two_labs(rounds=9)
    for _ in range(2):
        state = do(state, 0, "make_pitch", message="Give it all to us.")
    while state.market.queue[0] != "lab_0":
        state = take(state, "wait")
    third = rewarded(state, "make_pitch", message="Give it all to us.")
    assert third.spam_penalty == -0.05
    assert rewarded(state, "make_pitch", message="Something else.").spam_penalty == 0
    idle = two_labs(rounds=9)
    for _ in range(4):
        assert rewarded(idle, "wait").spam_penalty == 0
        idle = take(take(idle, "wait"), "wait")


def test_a_breach_is_punished_once_and_only_at_who_broke_it():
    state = take(pooled(), "send_message", message="thanks")
    breach = {"job_id": "j1", "block_ids": ("c",)}
    assert rewarded(state, "allocate_to_job", lab="lab_1", **breach).breach_penalty == -0.20
    other = rewarded(state, "allocate_to_job", lab="lab_0", **breach)
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


# Whatever the labs do: a state machine of one market


SHOCKS = ("capacity_failure", "energy_spike", "demand_surge")
SIZE = arena.Size((2, 3), 4, blocks=3, jobs=2, shocks=((1, SHOCKS),), joint=1)
SMALL = arena.GpuBudgetNegotiationEnv("arena/test", SIZE)
HOSTILE = {
    "action_type": (*arena.KINDS, "steal", None),
    "target_lab_id": ("lab_0", "lab_1", "lab_9", None, 7),
    "offer_id": ("o_1", "o_2", "o_99", None),
    "coalition_id": ("c_1", "c_9", None),
    "block_ids": ((), ("b_0_0",), ("b_1_0",), ("b_0_0", "b_0_0"), ("b_9_9",), [], None),
    "requested_block_ids": ((), ("b_0_1",), ("b_1_1",), ("b_9_9",), "b_0_0"),
    "job_id": ("j_0_0", "j_1_1", "j_9_9", None),
    "payment": (99.99, 1e6, -1.0, nan, inf, True, "5", None, 10**400),
    "message": ("", "urgent", "x" * 501, None, 7, "\ud800"),
    "conditions": ((("ask", -1),), (("share", 2),), "ask", (("ask",),), (("ask", nan),),
                   (("ask", 1e308),), (("share", 1e-300),), (("other", -inf),)),
}  # fmt: skip
CHANGES = [(field, value) for field, values in HOSTILE.items() for value in values]
CHOICES = st.integers(0, 2**16)
GARBAGE = (None, 3, [], {}, {"action_type": "steal"}, {"action_type": "wait", "payment": [1]})


class MarketMachine(RuleBasedStateMachine):
    """Labs trade, pool and book, with sense and nonsense; `reached` counts the result codes."""

    reached: ClassVar[Counter[str]] = Counter()
    can_go_on = precondition(lambda self: self.state.market.queue)

    @initialize(seed=st.integers(0, 2**32))
    def open(self, seed: int) -> None:
        self.first = self.state = SMALL.reset(np.random.default_rng(seed))

    @precondition(lambda self: not self.state.market.queue)
    @rule()
    def stay_closed(self) -> None:
        with pytest.raises(IllegalAction):
            SMALL.step(self.state, arena.Action("wait"))

    @can_go_on
    @rule(kind=CHOICES, which=CHOICES)
    def make_a_legal_action(self, kind: int, which: int) -> None:
        assert self.take(self.legal_action(kind, which)).ok

    @can_go_on
    @rule(kind=CHOICES, which=CHOICES, change=st.sampled_from(CHANGES))
    def make_an_altered_action(self, kind: int, which: int, change: tuple[str, object]) -> None:
        field, value = change
        self.take(self.legal_action(kind, which)._replace(**{field: value}))

    @can_go_on
    @rule(row=st.sampled_from(GARBAGE))
    def make_no_action_at_all(self, row: object) -> None:
        assert self.take(arena.action_from(row)).code == "malformed_action"

    def legal_action(self, kind: int, which: int) -> arena.Action:
        """One of the legal actions, each type equally likely; nobody leaves."""
        kinds = defaultdict(list)
        for action in arena.legal_actions(SMALL.observe(self.state, self.state.market.queue[0])):
            kinds[action.action_type].append(action)
        del kinds["finish"]
        choices = list(kinds.values())[kind % len(kinds)]
        return choices[which % len(choices)]

    def take(self, action: arena.Action | arena.Malformed) -> arena.Result:
        """The result of the action, whose effect is checked; the game goes on from it."""
        before, lab = self.state, self.state.market.queue[0]
        after = act(before, action)
        result = after.private[lab].results[0]
        self.reached[result.code] += 1
        check_privacy(before, action, after)
        if result.code != "malformed_action":
            kind = arena.KINDS[action.action_type]
            assert result.code in (kind.success if result.ok else kind.failures)
        if not result.ok:
            check_refusal(before, after, lab)
        self.state = close_if_done(after)
        return result

    @invariant()
    def money_is_conserved(self) -> None:
        """No credit is made or lost but for energy, and no purse is overdrawn."""
        owns = owns_of(self.state)
        assert all(own.budget >= 0 for own in owns)
        started = sum(cents(own.started) for own in owns)
        assert sum(cents(own.budget) + cents(own.energy) for own in owns) == started
        assert sum(cents(own.deals) for own in owns) == sum(cents(own.pool) for own in owns) == 0
        for own in owns:
            moved = cents(own.deals) + cents(own.pool) - cents(own.energy)
            assert cents(own.budget) - cents(own.started) == moved

    @invariant()
    def blocks_are_conserved(self) -> None:
        """Every block is there, once, with one owner; a used one serves one job for good."""
        market = self.state.market
        assert market.blocks.keys() == self.first.market.blocks.keys()
        jobs = [job for own in owns_of(self.state) for job in own.jobs]
        pools = market.coalitions.values()
        for status, ids in (
            ("used", [block_id for each in jobs for block_id in each.allocated_block_ids]),
            ("committed", [block_id for pool in pools for block_id in pool.commitments]),
        ):
            held = {b.block_id for b in market.blocks.values() if b.status == status}
            assert sorted(ids) == sorted(held)
        for block_id, kept in market.blocks.items():
            assert kept[:4] == self.first.market.blocks[block_id][:4]
            assert kept.owner_lab_id in market.labs
            assert (kept.held_until is None) == (kept.status not in ("reserved", "committed"))


def owns_of(state: arena.State) -> list[arena.Own]:
    return [state.private[lab] for lab in state.market.labs]


def cents(amount: float) -> int:
    assert abs(amount * 100 - round(amount * 100)) < 1e-6  # NaN is not
    return round(amount * 100)


def check_privacy(before: arena.State, action: object, after: arena.State) -> None:
    """Another lab's character, luck and jobs show neither in the market nor in the own values."""
    lab, private = before.market.queue[0], dict(before.private)
    for other in set(before.market.labs) - {lab}:
        private[other] = private[other]._replace(archetype="selfish", jobs=(), chance=())
    blind = act(arena.State(before.market, private), action)
    assert (blind.market, blind.private[lab]) == (after.market, after.private[lab])


def check_refusal(before: arena.State, after: arena.State, lab: str) -> None:
    """A refused action costs its turn and is reported; nothing else changes."""
    assert after.market._replace(queue=before.market.queue) == before.market
    assert after.market.queue == before.market.queue[1:]
    blank = {"results": (), "recent": ()}
    assert after.private[lab]._replace(**blank) == before.private[lab]._replace(**blank)
    assert all(after.private[seat] is own for seat, own in before.private.items() if seat != lab)


@pytest.mark.parametrize("games", [60, pytest.param(2_000, marks=pytest.mark.nightly)])
def test_money_blocks_and_secrets_are_kept_whatever_the_labs_do(games: int):
    MarketMachine.reached.clear()
    lane = settings(
        max_examples=games,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(MarketMachine, settings=lane)
    wanted = {"offer_accepted", "job_allocated", "coalition_committed", "malformed_action"}
    assert wanted <= MarketMachine.reached.keys()
