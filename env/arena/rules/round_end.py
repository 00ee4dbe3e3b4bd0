"""Closes a round: time advances, offers and holds lapse, a shock may strike, the end settles."""

from collections.abc import Callable, Mapping

from ..generator import with_public_bands
from ..types import AVAILABLE, COMMITTED, FAILED, LIVE, RESERVED, Own, Result, Shock, State
from .transaction import Draft

SPIKE = 1.25  # factor on the energy cost
DEGRADATION, LEAST_RELIABILITY = 0.12, 0.5  # loss of reliability, and its lower bound


def next_round(state: State) -> State:
    """The state as the next round opens, bands up to date; settled after the last round."""
    return apply_shock(advance_round(state))


def advance_round(state: State) -> State:
    """The state one round later, with expired offers, reservations and commitments removed."""
    draft = Draft(state)
    now = state.market.round_index + 1
    for block in state.market.blocks.values():
        if block.held_until is not None and block.held_until < now:
            if block.status == COMMITTED:
                draft.drop_commitment(block.block_id)
            draft.put_block(block._replace(status=AVAILABLE, held_until=None))
    for offer in tuple(draft.offers.values()):
        if offer.expires_round < now:
            draft.close_offer(offer, "expired")
    if now >= state.market.max_rounds:
        _settle_all(draft)
    after = draft.state()
    return State(after.market._replace(round_index=now), after.private)


def _settle_all(draft: Draft) -> None:
    for offer in tuple(draft.offers.values()):
        draft.close_offer(offer, "expired")
    for lab_id, lab in draft.labs.items():
        own = draft.private[lab_id]
        if not lab.finished:
            draft.private[lab_id] = own._replace(results=(*own.results, settlement(own)))


def settlement(own: Own) -> Result:
    """The settlement of one lab as a result: jobs done, and its accounts in credits."""
    done = sum([job.completed for job in own.jobs])
    return Result(
        True,
        "final_settlement",
        f"{done} of {len(own.jobs)} jobs done; jobs {own.job_value:.2f}, "
        f"energy {0.0 - own.energy:.2f}, trades {own.deals:.2f}, "
        f"pools {own.pool:.2f}: utility {own.utility:.2f}",
    )


def apply_shock(state: State) -> State:
    """The state after the shock of its round, if there is one, with the bands up to date."""
    market = state.market
    kind = state.private["nature"].shocks.get(market.round_index)
    if kind is not None and market.round_index < market.max_rounds:
        state = SHOCKS[kind](state)
    return State(with_public_bands(state.market, state.private), state.private)


def _with_shock(draft: Draft, kind: str, message: str, block_id: str | None = None) -> State:
    draft.void_offers()
    shock = Shock(draft.market.round_index, kind, message, block_id)
    after = draft.state()
    history = (*after.market.shock_history, shock)
    return State(after.market._replace(shock_history=history), after.private)


def capacity_failure(state: State) -> State:
    """The first live block in the order of failures fails; reserved blocks fail last."""
    draft = Draft(state)
    frail = state.private["nature"].frail
    living = [b for b in map(draft.blocks.__getitem__, frail) if b.status in LIVE]
    if not living:
        return _with_shock(draft, "capacity_failure", "a failure found nothing left to strike")
    block = next((b for b in living if b.status != RESERVED), living[0])
    if block.status == COMMITTED:
        draft.drop_commitment(block.block_id, "excused")
    draft.put_block(block._replace(status=FAILED, held_until=None))
    return _with_shock(draft, "capacity_failure", f"{block.block_id} failed", block.block_id)


def energy_spike(state: State) -> State:
    """The energy of every live block costs SPIKE times as much."""
    draft = Draft(state)
    for block in state.market.blocks.values():
        if block.status in LIVE:
            dearer = round(block.energy_cost * SPIKE, 2)
            draft.put_block(block._replace(energy_cost=dearer))
    return _with_shock(draft, "energy_spike", "energy costs increased by 25%")


def reliability_degradation(state: State) -> State:
    """Every live block loses DEGRADATION of reliability."""
    draft = Draft(state)
    for block in state.market.blocks.values():
        if block.status in LIVE:
            weaker = max(LEAST_RELIABILITY, round(block.reliability - DEGRADATION, 2))
            draft.put_block(block._replace(reliability=weaker))
    return _with_shock(draft, "reliability_degradation", f"reliability fell by {DEGRADATION}")


def demand_surge(state: State) -> State:
    """Every lab that has not left gets one more job."""
    draft = Draft(state)
    surge = state.private["nature"].surge
    for lab_id, lab in draft.labs.items():
        if not lab.finished:
            own = draft.private[lab_id]
            draft.private[lab_id] = own._replace(jobs=(*own.jobs, surge[lab_id]))
    return _with_shock(draft, "demand_surge", "every lab has one more urgent job")


SHOCKS: Mapping[str, Callable[[State], State]] = {
    "capacity_failure": capacity_failure,
    "energy_spike": energy_spike,
    "reliability_degradation": reliability_degradation,
    "demand_surge": demand_surge,
}
