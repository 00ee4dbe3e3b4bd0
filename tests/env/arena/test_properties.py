"""What holds in every game of the arena: 3,000 of them, played with sense and nonsense."""

from collections.abc import Iterator
from math import inf, nan

import numpy as np
import pytest

from env import arena
from env.arena.env import act, close

GAMES = 3_000
SIZE = arena.Size(
    (2, 3),
    3,
    blocks=2,
    jobs=1,
    shocks=((1, ("capacity_failure", "energy_spike", "demand_surge")),),
)
ENV = arena.GpuBudgetNegotiationEnv("arena/test", SIZE)
PAYMENTS = (0.0, 0.0, 1.25, 3.0, 7.77, 40.0, 99.99, 1e6, -1.0, nan, inf, True, "5", None, 10**400)
TEXTS = ("", "urgent", "a fair trade for both", "x" * 501, None, 7, "\ud800")
CONDITIONS = ((), (), (), (("ask", 2.5),), (("ask", -1),), (("share", 2),), "ask", (("ask",),),
              (("ask", 1.79e308),), (("ask", 10**400),), (("ask", nan),), (("share", 1e-300),),
              (("other", -inf),))  # fmt: skip
GARBAGE = (None, 3, [], {}, {"action_type": "steal"}, {"action_type": "wait", "payment": [1]})
KINDS = (*arena.KINDS, "allocate_to_job", "accept_offer", "send_offer", "commit_to_coalition")


class Dice:
    """Uniform draws made in one go, taken one by one."""

    def __init__(self, seed: int) -> None:
        draws = np.random.default_rng(seed).random(1 << 16).tolist()
        self.draws = iter(draws)

    def chance(self) -> float:
        return next(self.draws)

    def pick(self, options):
        return options[int(next(self.draws) * len(options))]


def any_action(state: arena.State, dice: Dice) -> arena.Action | arena.Malformed:
    """Half sensible, half not; one in twenty is no action at all."""
    if dice.chance() < 0.05:
        return arena.action_from(dice.pick(GARBAGE))
    market, lab = state.market, state.market.queue[0]
    own_blocks = [b.block_id for b in market.blocks.values() if b.owner_lab_id == lab]
    every = [*market.blocks, "b_9_9"]
    sane = dice.chance() < 0.7
    ids = tuple(
        dice.pick(own_blocks if sane and own_blocks else every)
        for _ in range(dice.pick((0, 1, 1, 2)))
    )
    requested = tuple(dice.pick(every) for _ in range(dice.pick((0, 0, 1, 2))))
    offers = [o.offer_id for o in market.offers.values() if not sane or o.to_lab_id == lab]
    return arena.Action(
        dice.pick(KINDS),
        dice.pick((*market.labs, "lab_9")),
        dice.pick((*offers, *market.closed, "o_99")) if offers else "o_1",
        dice.pick((*market.coalitions, "c_9")),
        ids,
        requested,
        dice.pick((*(j.job_id for j in state.private[lab].jobs), "j_9_9")),
        dice.pick(PAYMENTS[:5] if sane else PAYMENTS),
        dice.pick(TEXTS[:3] if sane else TEXTS),
        dice.pick(CONDITIONS[:4] if sane else CONDITIONS),
    )


def steps(seed: int, dice: Dice) -> Iterator[tuple[arena.State, arena.Action, arena.State]]:
    """Each action of one game: the state before, the action, the state after, the round open."""
    state = ENV.reset(np.random.default_rng(seed))
    while state.market.queue:
        action = any_action(state, dice)
        after = act(state, action)
        yield state, action, after
        state = after if after.market.queue else close(after)


def cents(amount: float) -> int:
    assert abs(amount * 100 - round(amount * 100)) < 1e-6  # NaN is not
    return round(amount * 100)


def check_money(state: arena.State, started: int) -> None:
    """No credit is made or lost but for energy, and no purse is overdrawn."""
    owns = [own for seat, own in state.private.items() if own and seat != "nature"]
    assert all(own.budget >= 0 for own in owns)
    assert sum(cents(own.budget) + cents(own.energy) for own in owns) == started
    assert sum(cents(own.deals) for own in owns) == sum(cents(own.pool) for own in owns) == 0
    for own in owns:
        moved = cents(own.deals) + cents(own.pool) - cents(own.energy)
        assert cents(own.budget) - cents(own.started) == moved


def check_blocks(state: arena.State, first: arena.State) -> None:
    """Every block is still there, once, with one owner; a used one serves one job for good."""
    market = state.market
    assert market.blocks.keys() == first.market.blocks.keys()
    booked = [
        block_id
        for seat in market.labs
        for job in state.private[seat].jobs
        for block_id in job.allocated_block_ids
    ]
    assert len(booked) == len(set(booked))
    assert set(booked) == {b.block_id for b in market.blocks.values() if b.status == "used"}
    pooled = [b for c in market.coalitions.values() for b in c.commitments]
    assert len(pooled) == len(set(pooled))
    assert set(pooled) == {b.block_id for b in market.blocks.values() if b.status == "committed"}
    for block_id, block in market.blocks.items():
        assert block[:4] == first.market.blocks[block_id][:4]
        assert block.owner_lab_id in market.labs
        assert (block.held_until is None) == (block.status not in ("reserved", "committed"))


def check_refusal(before: arena.State, after: arena.State, lab: str) -> None:
    """A refused action costs its turn and is reported; nothing else changes."""
    assert after.market._replace(queue=before.market.queue) == before.market
    assert after.market.queue == before.market.queue[1:]
    blank = {"results": (), "recent": ()}
    assert after.private[lab]._replace(**blank) == before.private[lab]._replace(**blank)
    assert all(after.private[seat] is own for seat, own in before.private.items() if seat != lab)


@pytest.mark.parametrize("batch", range(10))
def test_blocks_and_money_are_conserved_after_every_action_of_3000_games(batch: int):
    codes = set()
    for seed in range(batch * GAMES // 10, (batch + 1) * GAMES // 10):
        if seed % 50 == 0:
            dice = Dice(seed)
        first = None
        for before, _, after in steps(seed, dice):
            first = first or before
            lab = before.market.queue[0]
            result = after.private[lab].results[0]
            codes.add(result.code)
            if not result.ok:
                check_refusal(before, after, lab)
                continue
            owns = [own for seat, own in first.private.items() if own and seat != "nature"]
            check_money(after, sum(cents(own.started) for own in owns))
            check_blocks(after, first)
    documented = {code for kind in arena.KINDS.values() for code in (*kind.success, *kind.failures)}
    assert codes <= documented | {"malformed_action"}
    assert {"malformed_action", "offer_accepted", "job_allocated", "coalition_committed"} <= codes
