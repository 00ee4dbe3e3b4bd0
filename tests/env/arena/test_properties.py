"""What holds in every game of the arena, whatever the labs do: a state machine of one market."""

from collections import Counter, defaultdict
from math import inf, nan
from typing import ClassVar

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

from env import IllegalAction, arena
from env.arena.env import act, close_if_done

SHOCKS = ("capacity_failure", "energy_spike", "demand_surge")
SIZE = arena.Size((2, 3), 4, blocks=3, jobs=2, shocks=((1, SHOCKS),), joint=1)
ENV = arena.GpuBudgetNegotiationEnv("arena/test", SIZE)
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
        self.first = self.state = ENV.reset(np.random.default_rng(seed))

    @precondition(lambda self: not self.state.market.queue)
    @rule()
    def stay_closed(self) -> None:
        with pytest.raises(IllegalAction):
            ENV.step(self.state, arena.Action("wait"))

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
        for action in arena.legal_actions(ENV.observe(self.state, self.state.market.queue[0])):
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
            ("used", [block_id for job in jobs for block_id in job.allocated_block_ids]),
            ("committed", [block_id for pool in pools for block_id in pool.commitments]),
        ):
            held = {b.block_id for b in market.blocks.values() if b.status == status}
            assert sorted(ids) == sorted(held)
        for block_id, block in market.blocks.items():
            assert block[:4] == self.first.market.blocks[block_id][:4]
            assert block.owner_lab_id in market.labs
            assert (block.held_until is None) == (block.status not in ("reserved", "committed"))


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
