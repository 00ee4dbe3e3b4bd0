"""Episodes on paper: what is written is what was played, and nothing else can be read."""

import copy
import json

import pytest

from env import Accept, EndReason, IllegalAction, Offer, get_task, rollout
from sauda.games.transcript import from_json, to_json
from tests.support.cases import cases

SINGLE = "classic/single_deal"


def then(*actions):
    """A policy that makes these moves, one a turn, and raises those that are exceptions."""

    def learner(obs, rng):
        action = actions[obs.round]
        if isinstance(action, Exception):
            raise action
        return action

    return learner


def played(*actions) -> dict:
    """The JSON of an episode of SINGLE at seed 0 in which the buyer makes these moves."""
    return to_json(rollout(get_task(SINGLE), then(*actions), 0), "test")


def test_a_forfeit_is_written_with_its_reason_and_read_as_a_forfeit():
    row = played(Offer(20), IllegalAction("no JSON in “hm”"))
    assert row["moves"][-1] == {"agent": "buyer", "action": "forfeit", "error": "no JSON in “hm”"}
    again = from_json(row)
    assert again.end == row["end"] == EndReason.FORFEIT
    assert again.turns[-1].action is None
    assert again.payoffs == {"buyer": 0, "seller": 0}


@pytest.mark.parametrize(("number", "change", "fault"), cases("refused_moves.csv", "transcript"))
def test_a_recorded_move_that_could_not_be_made_is_refused_by_its_number(number, change, fault):
    row = copy.deepcopy(played(Offer(20), Accept()))
    row["moves"][int(number) - 1] |= json.loads(change)
    with pytest.raises(ValueError, match=f"^{fault}"):
        from_json(row)


def test_a_record_that_stops_too_soon_or_goes_on_is_refused():
    row = played(Offer(20), Accept())
    with pytest.raises(ValueError, match="the game still runs"):
        from_json(row | {"moves": row["moves"][:-1]})
    with pytest.raises(ValueError, match="move 5 is by buyer, but None is to act"):
        from_json(row | {"moves": [*row["moves"], row["moves"][-1]]})
