"""No number that an action carries, and no claim that a message makes, can stop a game."""

from math import inf, isfinite, nan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from env import arena
from sauda.sessions.arena import LEARNER, ArenaGame, act, start

LARGEST = 1e9
EXTREME = (1.79e308, -1.79e308, 1e308, -1e308, 1e300, 1e12, nan, inf, -inf, 10**400, -(10**400))
ODD = (True, False, "5", "1e308", "", None, [1.0], {})
EDGES = (5e-324, -5e-324, 0.0, -0.0, 0.004, 1.005, 1e-9, 80.0, 1e9, -1e9, 1e9 + 1, 2**53 + 1)
numbers = st.one_of(
    st.sampled_from((*EXTREME, *ODD, *EDGES)), st.floats(), st.integers(), st.booleans()
)
GAME = start("arena/coalition_market", 5)


def requested() -> dict[str, arena.Block]:
    """One block of each other lab, by the lab that owns it."""
    blocks = GAME.observation.market.blocks.values()
    return {block.owner_lab_id: block for block in blocks if block.owner_lab_id != LEARNER}


def filled_in(kind: str, lab: str) -> dict:
    """An action of that kind in the first round, its fields such that the rules could take it."""
    obs = GAME.observation
    job, own = obs.own.jobs[0], obs.owned_blocks[0].block_id
    return {
        "action_type": kind,
        "target_lab_id": lab,
        "offer_id": "o_1",
        "coalition_id": "c_1",
        "block_ids": [own] if kind != "send_offer" else [],
        "requested_block_ids": [requested()[lab].block_id],
        "job_id": job.job_id,
        "message": "A fair trade for both of us.",
    }


def played_on(game: ArenaGame, rounds: int = 2) -> ArenaGame:
    """The game some rounds later; `lab_0` waits."""
    last = game.observation.market.round_index + rounds
    while not game.over and game.observation.market.round_index < last:
        game = act(game, arena.Action("wait"))
    return game


def is_usable(value: object) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) <= LARGEST


@pytest.mark.parametrize("kind", arena.KINDS)
@settings(max_examples=min(40, settings.default.max_examples))
@given(payment=numbers, ask=numbers, share=numbers, other=numbers, lab=st.sampled_from(range(3)))
@example(payment=0.0, ask=1.79e308, share=0.5, other=0, lab=0)
@example(payment=-1e308, ask=0.0, share=0.5, other=0, lab=0)
@example(payment=10**400, ask=10**400, share=10**400, other=10**400, lab=1)
@example(payment=0.0, ask=1e9, share=1e-300, other=-1e9, lab=2)
def test_any_number_in_any_action_is_refused_in_a_sentence_or_played_on(
    kind, payment, ask, share, other, lab
):
    row = filled_in(kind, sorted(requested())[lab]) | {"payment": payment}
    row["conditions"] = {"ask": ask, "share": share, "other": other}
    game = act(GAME, arena.action_from(row))
    result = game.steps[0].results[0]
    assert result.message
    numeric = [n for n in (payment, ask, share, other) if isinstance(n, int | float)]
    if not all(isinstance(n, bool) or is_usable(n) for n in numeric):
        assert result.code == "malformed_action"
    after = played_on(game)
    for own in after.play.state.private.values():
        if isinstance(own, arena.Own):
            assert isfinite(own.budget)
            assert isfinite(own.utility)
            assert own.budget >= 0


# Claims

BIDS = ("1.2.3", "...", ".", "9.", "9" * 400, "0", "9.00", "nan", "inf", "1e308", "-4", "٩", "")
TARGETS = ("lab_0", "lab_1", "lab_2", "lab_3", "lab_9", "Lab A", "nobody", "")
BLOCKS = ("b_0_0", "b_1_0", "b_9_9", "b_1", "", "a block")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bid", BIDS)
def test_a_claimed_rival_bid_is_checked_whatever_it_says(bid: str, target: str):
    state = GAME.play.state
    for block in BLOCKS:
        for words in (
            f"Decide soon: another lab has bid {bid} for {block}.",
            f"{target} has bid {bid} for {block}.",
            f"Another lab has bid {bid} for {block}. another lab has bid {bid} for {block}.",
        ):
            offer = arena.Offer("o_1", target, "lab_0", 0, 2, (), (), 0.0, message=words)
            assert arena.claim_holds(state.market, offer) in (None, False, True)
    garbled = f"Decide soon: another lab has bid {bid} for b_1_0."
    offer = arena.Offer("o_1", target, "lab_0", 0, 2, (), (), 0.0, message=garbled)
    known = False if bid in ("9" * 400, "0", "9.00", "٩") else None
    assert arena.claim_holds(state.market, offer) is known
