"""Sellers with other signals ask the same prices and say what they are to say."""

import pytest

from env import CLAIMS, Offer, Tells, claim_at, get_task, rollout
from sauda.evaluation.market.profile.cues import (
    CANDID,
    LEVELS,
    MISLEADING,
    MODES,
    NEUTRAL,
    signalling,
)
from sauda.policies import BUYERS
from sauda.policies.belief import claim_in
from sauda.records.seeds import SPLITS

TASK = "bazaar/open"
SEEDS = SPLITS["holdout"][:25]


def played(mode: str, seed: int, buyer: str = "boulware"):
    return rollout(signalling(get_task(TASK), mode), BUYERS[buyer], seed)


def claims(mode: str) -> list[tuple[str, bool]]:
    """The claims that the sellers of a mode make in all games, and whether each is true."""
    made = []
    for seed in SEEDS:
        final = played(mode, seed).final
        counters = [move for move in final.table.moves[2:] if move.agent == "seller"]
        for t, move in enumerate(counters, start=1):
            if isinstance(move.action, Offer):
                claim, true = claim_at(final.private["seller"], t)
                assert claim_in(move.action.message) == claim
                if claim:
                    made.append((claim, true))
    return made


@pytest.mark.parametrize("mode", MODES)
def test_a_buyer_that_reads_no_signals_plays_the_same_game(mode):
    for seed in SEEDS:
        own, other = rollout(get_task(TASK), BUYERS["linear"], seed), played(mode, seed, "linear")
        assert (other.final.table.asks, other.final.table.bids) == (
            own.final.table.asks,
            own.final.table.bids,
        )
        assert (other.end, other.payoffs) == (own.end, own.payoffs)


def test_candid_sellers_claim_what_is_true_and_misleading_ones_what_is_false():
    candid, misleading = claims(CANDID), claims(MISLEADING)
    assert {true for _, true in candid} == {True}
    assert {true for _, true in misleading} == {False}
    assert {claim for claim, _ in candid} == {claim for claim, _ in misleading} == set(CLAIMS)


def test_neutral_sellers_claim_nothing_and_show_no_manner():
    assert claims(NEUTRAL) == []
    moves = [move for seed in SEEDS for move in played(NEUTRAL, seed).final.table.moves]
    assert {move.tells for move in moves} == {None}


def tells(mode: str) -> list[Tells]:
    moves = [move for seed in SEEDS for move in played(mode, seed).final.table.moves]
    return [move.tells for move in moves if move.tells is not None]


def test_a_misleading_manner_shows_the_opposite_of_its_causes():
    bluffing = {mode: [one.verbal_deception_cue for one in tells(mode)] for mode in MODES}
    assert set(bluffing[CANDID]) == {0.2}  # who never bluffs shows the least cue
    assert min(bluffing[MISLEADING]) < 0.5  # who bluffs shows little of it
    for one in tells(MISLEADING):
        assert all(0 <= getattr(one, name) <= 1 for name in LEVELS)


def test_confidence_falls_with_the_ask_if_candid_and_rises_with_it_if_misleading():
    for mode, sign in ((CANDID, -1), (MISLEADING, 1)):
        games = [played(mode, seed).final.table.moves for seed in SEEDS]
        shown = [[m.tells.verbal_confidence for m in moves if m.tells] for moves in games]
        long = [levels for levels in shown if len(levels) > 4]
        assert long
        assert all(sign * (levels[-1] - levels[0]) > 0 for levels in long)
