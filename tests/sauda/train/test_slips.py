"""Pairs of Sauda's slips and what mends them."""

import json

import numpy as np
import pytest

from env import Accept, Offer
from env.bazaar.prompt import parse
from sauda.language.faults import faults_in
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Reply
from sauda.played import play_together
from sauda.train.people_rows import task_of
from sauda.train.slips import MOVE, slip, worsened

TASK = "bazaar/people"


class Writes:
    """A model that gives one reply at every turn."""

    def __init__(self, reply):
        self.reply = reply

    def batch(self, chats, seeds, schemas):
        return [Reply(self.reply, "made up") for _ in chats]


def turns(reply):
    games = play_together(
        task_of(TASK, "training"), PlayerSpec(Writes(reply)), range(15_000, 15_006)
    )
    return [turn for game in games for turn in game.turns]


@pytest.mark.parametrize("reply", ['{"raise":140,"say":"Take #."}', '{"accept":true}'])
def test_a_move_at_a_loss_or_above_the_ask_is_mended_by_one_that_is_neither(reply):
    mended = 0
    for turn in turns(reply):
        if pair := slip(TASK, turn, "en", np.random.default_rng(0)):
            mended, made = mended + 1, parse(pair["chosen"], turn.obs)
            assert (pair["rejected"], pair["gap"]) == (reply, MOVE)
            if isinstance(made, Offer):
                assert made.price <= turn.obs.budget
                assert made.price < turn.obs.ask
            if isinstance(made, Accept):
                assert turn.obs.ask <= turn.obs.budget
    assert mended


def test_a_line_said_twice_is_mended_by_another_with_the_same_move():
    pairs = {
        number: slip(TASK, turn, "en", np.random.default_rng(number))
        for number, turn in enumerate(turns('{"raise":40,"say":"So, #."}'))
    }
    assert None in pairs.values()  # a first line repeats none
    for number, pair in pairs.items():
        if pair is not None:
            turn = turns('{"raise":40,"say":"So, #."}')[number]
            chosen, rejected = (json.loads(pair[name]) for name in ("chosen", "rejected"))
            assert next(iter(chosen.values())) == next(iter(rejected.values()))
            assert not list(faults_in(turn.obs, parse(pair["chosen"], turn.obs)))


def test_a_line_without_a_fault_is_better_than_an_earlier_one_and_than_an_untrue_one():
    rejected = set()
    for number, turn in enumerate(turns('{"raise":40,"say":"So, #."}')):
        if pair := worsened(turn, "en", np.random.default_rng(number)):
            made = parse(pair["rejected"], turn.obs)
            assert made.price == turn.action.price
            rejected.add(json.loads(pair["rejected"])["say"])
    assert len(rejected) > 1
    assert "So, #." not in rejected  # an earlier line is worse only where it differs
