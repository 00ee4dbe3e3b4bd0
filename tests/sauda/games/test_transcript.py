"""Episodes on paper: what is written is what was played, and nothing else can be read."""

import copy
import json

import pytest

from env import TASKS, Accept, EndReason, IllegalAction, Offer, WalkAway, get_task, rollout
from sauda.games import policies_of
from sauda.games.transcript import from_json, in_words, to_json, to_markdown

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


@pytest.mark.parametrize("name", TASKS)
def test_an_episode_written_and_read_is_the_same_episode(name: str):
    task = TASKS[name]
    for policy_name, policy in policies_of(task).items():
        episode = rollout(task, policy, 7)
        row = json.loads(json.dumps(to_json(episode, policy_name)))
        again = from_json(row)
        assert again == episode
        assert to_json(again, policy_name) == row


def test_a_row_holds_the_moves_and_what_came_of_them():
    row = played(Offer(20, "bees?"), Accept())
    assert (row["task"], row["policy"], row["seed"]) == (SINGLE, "test", 0)
    assert [move["agent"] for move in row["moves"]] == ["seller", "buyer", "seller", "buyer"]
    assert [move["action"] for move in row["moves"]] == ["offer", "offer", "offer", "accept"]
    assert row["moves"][1] == {
        "agent": "buyer",
        "action": "offer",
        "price": 20,
        "message": "bees?",
    }
    assert row["moves"][3] == {"agent": "buyer", "action": "accept"}
    # The seller asks 60, then 54: the buyer keeps 100 - 54, the seller 54 - 30.
    assert row["payoffs"] == {"buyer": 46, "seller": 24}
    assert (row["end"], row["grade"]) == ("agreement", round(46 / 70, 6))


def test_a_forfeit_is_written_with_its_reason_and_read_as_a_forfeit():
    row = played(Offer(20), IllegalAction("no JSON in “hm”"))
    assert row["moves"][-1] == {"agent": "buyer", "action": "forfeit", "error": "no JSON in “hm”"}
    again = from_json(row)
    assert again.end == row["end"] == EndReason.FORFEIT
    assert again.turns[-1].action is None
    assert again.payoffs == {"buyer": 0, "seller": 0}


def test_a_forbidden_bid_is_a_forfeit_that_can_be_read_again():
    row = played(Offer(100.01))
    assert row["end"] == "forfeit"
    assert "the budget is ₹100" in row["moves"][-1]["error"]
    assert to_json(from_json(row), "test") == row


@pytest.mark.parametrize(
    ("number", "change", "fault"),
    [
        (2, {"price": 101}, "move 2 breaks the rules: the budget is ₹100"),
        (2, {"price": -1}, "move 2 breaks the rules: a price is a positive int or float"),
        (2, {"price": "20"}, "move 2 breaks the rules: a price is a positive int or float"),
        (2, {"price": 20.001}, "move 2 breaks the rules: prices here have at most 2 decimals"),
        (3, {"price": 19}, "move 3 breaks the rules: the buyer already bids ₹20"),
        (1, {"action": "accept"}, "move 1 breaks the rules: there is no bid to accept yet"),
        (2, {"agent": "seller"}, "move 2 is by seller, but buyer is to act"),
        (2, {"action": "shout"}, "move 2 is no move: an action is one of offer, accept, walk"),
    ],
)
def test_a_recorded_move_that_could_not_be_made_is_refused_by_its_number(number, change, fault):
    row = copy.deepcopy(played(Offer(20), Accept()))
    row["moves"][number - 1] |= change
    with pytest.raises(ValueError, match=f"^{fault}"):
        from_json(row)


def test_an_offer_without_a_price_is_refused_by_its_number():
    row = played(Offer(20), Accept())
    del row["moves"][1]["price"]
    with pytest.raises(ValueError, match=r"^move 2 is no move: 'price'"):
        from_json(row)


def test_a_record_that_stops_too_soon_or_goes_on_is_refused():
    row = played(Offer(20), Accept())
    with pytest.raises(ValueError, match="the game still runs"):
        from_json(row | {"moves": row["moves"][:-1]})
    with pytest.raises(ValueError, match="move 5 is by buyer, but None is to act"):
        from_json(row | {"moves": [*row["moves"], row["moves"][-1]]})


def test_a_record_of_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="no task 'classic/nothing'"):
        from_json(played(Accept()) | {"task": "classic/nothing"})


def test_moves_in_words_say_the_price_first():
    turns = rollout(get_task(SINGLE), then(Offer(31.5, "take it"), WalkAway()), 0).turns
    assert in_words(SINGLE, turns[1]) == "bids ₹31.50: “take it”"
    assert in_words(SINGLE, turns[2]).startswith("asks ₹54: “")
    assert in_words(SINGLE, turns[3]) == "walks away"
    forfeit = rollout(get_task(SINGLE), then(IllegalAction("hm")), 0).turns[-1]
    assert in_words(SINGLE, forfeit) == "forfeits: hm"


def test_the_markdown_has_every_move_in_order_and_the_end():
    episode = rollout(get_task(SINGLE), then(Offer(20), Accept()), 0)
    lines = to_markdown(episode, "test").splitlines()
    assert lines[0] == "# classic/single_deal, seed 0: test as buyer"
    assert lines[3] == "2. **buyer** bids ₹20"
    assert lines[5] == "4. **buyer** accepts"
    assert lines[-1] == "Ended by agreement. Surplus: buyer ₹46, seller ₹24."
