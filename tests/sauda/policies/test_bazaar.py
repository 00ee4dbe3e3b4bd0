"""The bazaar's scripts: by hand numbers, tuned ones, the planner and the oracle beside it; all play
their first recorded games as they did then.
"""

from dataclasses import fields

import numpy as np
import pytest

from env import TASKS, begin, ear, get_task, rollout, zopa_width
from sauda.experiments.simplest import rule_of
from sauda.played import Cell, cells, replay_row
from sauda.players import scripts_of
from sauda.policies import BUYERS, SLOW
from sauda.policies.bazaar import leave
from sauda.policies.listener import at_opening, believe
from sauda.policies.ruled import Ruled
from sauda.policies.tuned import load_best
from sauda.records.seeds import deal_at
from sauda.records.store import load

OPEN = "bazaar/open-3"
MARKET = get_task(OPEN)


def test_a_point_of_the_search_is_a_script_within_its_bounds():
    size = len(fields(Ruled))
    low, high = rule_of([-1.0] * size), rule_of([2.0] * size)
    for known in fields(Ruled):
        ends = known.metadata["low"], known.metadata["high"]
        assert (getattr(low, known.name), getattr(high, known.name)) == pytest.approx(ends)


def test_tuned_plays_what_the_search_found_best_on_training_games():
    player = scripts_of(MARKET)["tuned"]
    assert rollout(MARKET, player, 7).turns == rollout(MARKET, load_best(OPEN), 7).turns
    with pytest.raises(ValueError, match="nothing was tuned for classic/single_deal"):
        load_best("classic/single_deal")
    assert "tuned" not in scripts_of(get_task("classic/single_deal"))
    assert "tuned" in scripts_of(get_task("bazaar/mute-3"))


def test_who_leaves_at_once_scores_where_nothing_could_be_shared_and_nowhere_else():
    for seed in range(60):
        (deal,) = begin(MARKET, seed).state.private["nature"]
        shared = zopa_width(deal.buyer["reservation"], deal.seller["reservation"]) > 0
        assert MARKET.grade(rollout(MARKET, leave, seed).final) == (0.0 if shared else 1.0)


def positions(seed: int, buyer="conceder"):
    turns = rollout(MARKET, BUYERS[buyer], seed).trajectory("buyer")
    return [turn.observation for turn in turns]


def test_words_bring_a_belief_nearer_the_truth():
    def surprise(reads: bool) -> float:
        total = 0.0
        for seed in range(30):
            belief = believe(positions(seed)[-1], reads)
            right = belief.sellers.kind == deal_at(MARKET, seed).seller["stance"].kind
            total += np.log(belief.weights[right].sum() + 1e-9)
        return total

    assert surprise(reads=True) > surprise(reads=False) + 5


def test_before_the_first_bid_there_is_nothing_to_learn_but_the_opening():
    early, late = positions(3)[0], positions(3)[-1]
    assert at_opening(late) == early
    assert len(set(believe(early).weights)) > 1


def test_bids_only_rise_and_nothing_is_said_twice():
    for seed in range(4):
        table = rollout(MARKET, SLOW["listener"], seed).final.table
        assert list(table.bids) == sorted(table.bids)
        said = [ear.act_in(m.action.message)[0] for m in table.moves if m.agent == "buyer"]
        said = [act for act in said if act]
        assert len(said) == len(set(said))


# Scripts, planners and wrappers play their first recorded games as they did then


GAMES = {"classic": 3, "market": 3, "arena": 1}  # per row


@pytest.mark.parametrize("family", GAMES)
def test_scripts_play_as_recorded(family):
    artifact = load(f"evaluation/{family}-holdout.json")
    samples = {
        cell: replay_row(artifact, cell, GAMES[family])
        for cell in cells(artifact)
        if cell.task in TASKS and not cell.policy.startswith(("belief", "oracle"))
    }
    assert samples
    assert [cell for cell, one in samples.items() if one.replayed != one.recorded] == []


@pytest.mark.parametrize(
    ("player", "task"),
    [
        ("bayesian", "bazaar/mute-3"),
        ("listener", "bazaar/open-3"),
        ("listener", "bazaar/package"),
        ("tuned", "bazaar/people"),
        ("null+steering", "bazaar/people"),
        ("null+honest", "bazaar/people"),
    ],
)
def test_planners_and_wrappers_play_as_recorded(player, task):
    one = replay_row(load("evaluation/model-comparison.json"), Cell(task, player), 4)
    assert one.replayed == one.recorded
