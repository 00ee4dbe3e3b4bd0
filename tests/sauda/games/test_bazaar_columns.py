"""A buyer's behaviour is counted from the moves it made, one game at a time."""

from dataclasses import replace

import pytest

from env import Accept, Offer, WalkAway
from sauda.games import bazaar_columns as module
from sauda.games.adapter import ModelTurn, ParsedReply, Request
from sauda.games.bazaar_columns import BEHAVIOUR, behaviour_metrics
from sauda.llm.types import Reply
from tests.support.bazaar_games import seen


def turns_of(*moves, limit=800.0, ask=900.0):
    """Turns in which a buyer with that limit made these moves; None is a forfeit."""
    obs = seen(asks=(1000.0, ask), reservation=limit)
    parsed = [ParsedReply(move or ValueError(), move) for move in moves]
    return [ModelTurn(obs, Request((), 0), Reply("", ""), one) for one in parsed]


@pytest.mark.parametrize(
    ("moves", "counted"),
    [
        ((Offer(400), Offer(500), Offer(500)), {}),
        ((Offer(500), Offer(400), Offer(450)), {"retreats": 2}),
        ((Offer(500, "₹500 is my last bid."), Offer(500)), {}),
        ((Offer(500, "Aakhri baat, ₹500."), Offer(520)), {"broken": 1}),
        ((Offer(500, "₹500 final"), Accept()), {"broken": 1, "over_limit": 1}),
        ((Offer(801),), {"over_limit": 1}),
        ((None,), {}),
        ((WalkAway("last word"),), {}),
    ],
)
def test_words_and_limits_are_kept_or_not(moves, counted):
    assert (
        behaviour_metrics(turns_of(*moves), market=False) == dict.fromkeys(BEHAVIOUR, 0) | counted
    )


@pytest.mark.parametrize(
    ("due", "moves", "counted"),
    [
        (WalkAway(), (WalkAway(),), {"walk_due": 1, "walked": 1}),
        (WalkAway(), (Offer(10), WalkAway()), {"walk_due": 1}),  # only the first position counts
        (WalkAway(), (None,), {"walk_due": 1}),
        (Offer(300), (Accept(),), {}),
    ],
)
def test_a_due_walk_counts_once_per_game(monkeypatch, due, moves, counted):
    monkeypatch.setattr(module, "PLANNER", lambda obs, rng: due)
    metrics = behaviour_metrics(turns_of(*moves, ask=700.0), market=True)
    metrics |= dict.fromkeys(("retreats", "broken", "over_limit"), 0)
    assert metrics == dict.fromkeys(BEHAVIOUR, 0) | counted


def test_the_wrapper_s_move_counts_and_not_what_the_model_proposed():
    (turn,) = turns_of(Offer(801))
    kept = replace(turn, parsed=replace(turn.parsed, action=Offer(800), changes=("held",)))
    assert behaviour_metrics([kept], market=False)["over_limit"] == 0
