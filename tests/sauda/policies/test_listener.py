"""The planner of the open market: its beliefs, its plan, and the oracle beside it."""

import numpy as np

from env import get_task, rollout, speech
from sauda.policies import BUYERS, SLOW
from sauda.policies.listener import Informed, Listener, at_opening, believe
from sauda.records.seeds import deal_at

OPEN = get_task("bazaar/open")


def positions(seed: int, buyer="conceder"):
    turns = rollout(OPEN, BUYERS[buyer], seed).trajectory("buyer")
    return [turn.observation for turn in turns]


def test_the_oracle_gains_nothing_by_a_retreat_and_never_makes_one():
    for seed in range(12):
        oracle = Informed.of(deal_at(OPEN, seed))
        assert oracle.solution.gain_of_retreat == 0
        bids = rollout(OPEN, oracle, seed).final.table.bids
        assert list(bids) == sorted(bids)


def test_words_bring_a_belief_nearer_the_truth():
    def surprise(reads: bool) -> float:
        total = 0.0
        for seed in range(30):
            belief = believe(positions(seed)[-1], reads)
            right = belief.sellers.kind == deal_at(OPEN, seed).seller["stance"].kind
            total += np.log(belief.weights[right].sum() + 1e-9)
        return total

    assert surprise(reads=True) > surprise(reads=False) + 5


def test_before_the_first_bid_there_is_nothing_to_learn_but_the_opening():
    early, late = positions(3)[0], positions(3)[-1]
    assert at_opening(late) == early
    stated = believe(at_opening(late)).stated()
    assert stated == Listener().stated(early)
    assert stated[0] < stated[1]


def test_bids_only_rise_and_nothing_is_said_twice():
    for seed in range(4):
        table = rollout(OPEN, SLOW["listener"], seed).final.table
        assert list(table.bids) == sorted(table.bids)
        said = [speech.act_in(m.action.message)[0] for m in table.moves if m.agent == "buyer"]
        said = [act for act in said if act]
        assert len(said) == len(set(said))
