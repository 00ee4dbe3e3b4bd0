"""The tools for agents in this process: what they show, what they refuse, what they record."""

import json
from typing import Any

import pytest

from env import ARENA_TASKS, TASKS, IllegalAction, arena
from sauda.records.store import load
from sauda.serve.episodes import OF_ADDRESS, Refused
from sauda.serve.mcp.room import Room, new_seats, shown
from sauda.serve.mcp.server import DESCRIBED, called
from sauda.serve.openenv import game as games
from sauda.serve.openenv.actions import SaudaAction
from tests.support.served_games import blinded, played, wire_actions

every_task = pytest.mark.parametrize("task_name", TASKS)


class Agent:
    """A caller of the tools at one network address."""

    def __init__(self, address: str = "10.0.0.1", seats: Any = None) -> None:
        self.room = Room(new_seats() if seats is None else seats, address)

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return called(tool, arguments, self.room)()


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def at_one_seed(monkeypatch):
    """New games are drawn at one seed, at which nobody leaves early."""
    monkeypatch.setattr(games, "drawn_seed", lambda: 7)


# What is hidden


@every_task
def test_a_view_does_not_depend_on_what_the_seat_may_not_see(task_name):
    """Everybody else's private values and the seed are replaced: what is shown stays the same."""
    game = games.start(task_name, 11, "one", 0.0)
    for action in wire_actions(played(task_name, 11)):
        assert shown(blinded(game)) == shown(game)
        assert "outcome" not in shown(game)
        game = games.acted(game, SaudaAction.model_validate(action), 0.0)
    assert shown(game)["outcome"]["seed"] == 11


@every_task
def test_a_review_waits_for_the_end_and_then_tells_the_game(agent, task_name):
    game = agent("new_game", task=task_name)
    here = {"game_id": game["game_id"]}
    with pytest.raises(Refused, match="still runs"):
        agent("review_game", **here)
    while not game["over"]:
        game = agent("walk_away", **here)
    review = agent("review_game", **here)
    assert review["outcome"] == game["outcome"]
    assert review["transcript"]["seed"] == review["outcome"]["seed"]
    deals = 0 if task_name in ARENA_TASKS else game["bazaar"]["deals"]
    assert len(review["limits"]) == deals
    json.dumps(review, allow_nan=False)


def test_no_agent_chooses_its_seed_and_none_is_used_twice(agent):
    with pytest.raises(Refused, match="new_game takes task alone"):
        agent("new_game", task="bazaar/open", seed=7)
    first, second = agent("new_game"), agent("new_game")
    assert first["bazaar"] != second["bazaar"]


# Moves


def test_the_moves_of_an_agent_are_those_of_the_game(agent, at_one_seed):
    game = agent("new_game", task="bazaar/open")
    here = {"game_id": game["game_id"]}
    game = agent("offer", price=10, message="Ten.", **here)
    game = agent("reject", message="No.", **here)
    own = [move for move in game["bazaar"]["moves"] if move["agent"] == "buyer"]
    assert [(move["action"], move["price"], move["message"]) for move in own] == [
        ("offer", 10, "Ten."),
        ("offer", 10, "No."),
    ]
    assert game["bazaar"]["round"] == 2
    assert agent("view_game", **here) == game
    assert agent("walk_away", **here)["outcome"]["end"] == "walkaway"


def test_a_seller_rejects_by_standing_by_its_own_ask(agent, at_one_seed):
    game = agent("new_game", task="bazaar/seller_brief")
    here = {"game_id": game["game_id"]}
    ask = round(2 * game["bazaar"]["item"]["list_price"])
    agent("offer", price=ask, **here)
    assert agent("reject", **here)["bazaar"]["asks"] == [ask, ask]


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("offer", {"price": 10**7}, "the budget is"),
        ("offer", {"price": 10.5}, "prices here have whole rupees"),
        ("accept", {"offer_id": "o_1"}, "has no offer_id"),
        ("reject", {}, "You have named no price"),
        ("arena_action", {"action": {"action_type": "wait"}}, "play by offer, accept, reject and"),
        ("legal_actions", {}, "In the bazaar you may always offer or walk_away; accept needs"),
    ],
)
def test_a_move_that_the_rules_refuse_is_answered_with_why_and_changes_nothing(
    agent, tool, arguments, why
):
    game = agent("new_game")
    with pytest.raises(IllegalAction, match=why):
        agent(tool, game_id=game["game_id"], **arguments)
    assert agent("view_game", game_id=game["game_id"]) == game


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("step", {}, "no tool of that name"),
        ("offer", {}, "game_id: Field required; price: Field required"),
        (
            "offer",
            {"game_id": "x", "price": "5"},
            r"tool: price: Input should be a valid number\.$",
        ),
        ("arena_action", {"game_id": "x", "action": {"action_type": "offer"}}, "'send_offer'"),
        ("arena_action", {"game_id": "x", "action": {"action_type": "wait", "price": 5}}, "price"),
        ("offer", {"game_id": "x", "price": 5, "message": "x" * 2001}, "at most 2000 characters"),
        ("offer", {"game_id": "x", "price": 5}, "no game of this game_id"),
        ("new_game", {"task": "bazaar"}, "no task of that name; tasks are classic/single_deal"),
        ("get_results", {"task": ""}, "no task of that name"),
        ("get_transcripts", {"task": "../x"}, "no task of that name"),
    ],
)
def test_a_call_that_does_not_fit_is_answered_with_what_was_expected(agent, tool, arguments, why):
    with pytest.raises(Refused, match=why):
        agent(tool, **arguments)


def test_an_optional_argument_that_a_client_fills_with_an_empty_text_is_absent(agent, at_one_seed):
    game = agent("new_game", task="")
    assert game["task"] == "bazaar/open"
    here = {"game_id": game["game_id"]}
    assert agent("offer", price=10, message="", **here)["bazaar"]["bids"] == [10]
    assert agent("reject", offer_id="", message="", **here)["bazaar"]["bids"] == [10, 10]
    assert agent("accept", offer_id="", **here)["over"]
    assert len(agent("get_transcripts", task="bazaar/open", policy="")["games"]) > 1
    with pytest.raises(Refused, match="no game of this game_id"):
        agent("view_game", game_id="")
    here = {"game_id": agent("new_game", task="arena/market_round")["game_id"]}
    assert len(agent("legal_actions", action_type="", **here)["counts"]) > 1
    with pytest.raises(IllegalAction, match="name the offer_id"):
        agent("accept", offer_id="", **here)
    filled = {"action_type": "wait", "target_lab_id": "", "offer_id": "", "job_id": ""}
    assert agent("arena_action", action=filled, **here)["last_action"]["ok"]


def test_in_the_arena_an_answer_names_its_offer_and_prices_are_no_offers(agent):
    game = agent("new_game", task="arena/market_round")
    for tool, arguments, why in (
        ("offer", {"price": 5}, "arena_action with send_offer"),
        ("accept", {}, "name the offer_id"),
        ("reject", {}, "name the offer_id"),
    ):
        with pytest.raises(IllegalAction, match=why):
            agent(tool, game_id=game["game_id"], **arguments)
    seen = agent("accept", game_id=game["game_id"], offer_id="o_99")
    assert seen["last_action"] == seen["arena"]["own"]["results"][0]
    assert (seen["last_action"]["ok"], seen["last_action"]["code"]) == (False, "unknown_offer")


def test_an_agent_reads_what_each_action_of_a_lab_needs():
    (schema,) = (tool.inputSchema for tool in DESCRIBED if tool.name == "arena_action")
    fields = schema["$defs"]["ArenaAction"]["properties"]
    assert fields.keys() == set(arena.Action._fields)
    for name, kind in arena.KINDS.items():
        assert f"{name}: {kind.purpose}" in fields["action_type"]["description"]
    assert "Needs job_id, block_ids." in fields["action_type"]["description"]


def test_legal_actions_of_a_lab_can_be_taken_as_they_are_listed(agent, at_one_seed):
    for kind in ("send_offer", "allocate_to_job", "make_pitch", "form_coalition"):
        game = agent("new_game", task="arena/market_round")
        legal = agent("legal_actions", game_id=game["game_id"], action_type=kind)
        assert 0 < len(legal["actions"]) <= min(40, legal["counts"][kind])
        after = agent("arena_action", game_id=game["game_id"], action=legal["actions"][0])
        assert after["arena"]["own"]["results"][0]["ok"]
    one_of_each = agent(
        "legal_actions", game_id=agent("new_game", task="arena/market_round")["game_id"]
    )
    assert [each["action_type"] for each in one_of_each["actions"]] == list(
        reversed(one_of_each["counts"])
    )


def test_a_game_that_takes_too_many_moves_is_forfeited(agent):
    game = agent("new_game", task="classic/single_deal")
    here = {"game_id": game["game_id"]}
    for _ in range(games.MOST_STEPS):
        with pytest.raises(IllegalAction):
            agent("offer", price=10**8, **here)
    assert "at most 200 steps" in agent("offer", price=1, **here)["outcome"]["forfeit"]
    with pytest.raises(IllegalAction, match="This game is over"):
        agent("accept", **here)
    assert agent("review_game", **here)["outcome"]["end"] == "forfeit"


def test_an_address_that_starts_too_many_games_loses_the_one_unused_for_longest(agent):
    other = Agent("10.0.0.2", agent.room.seats)
    theirs = other("new_game")["game_id"]
    own = [agent("new_game")["game_id"] for _ in range(OF_ADDRESS + 1)]
    with pytest.raises(Refused, match="no game of this game_id"):
        agent("view_game", game_id=own[0])
    for game_id in (theirs, *own[1:]):
        assert other("view_game", game_id=game_id)["game_id"] == game_id


# Records


def test_the_tasks_are_those_that_can_be_played(agent):
    tasks = agent("list_tasks")["tasks"]
    assert list(tasks) == list(TASKS)
    assert tasks["bazaar/seller_brief"]["seat"] == "seller"


@every_task
def test_every_task_has_measured_results_with_n_interval_and_source(agent, task_name):
    rows = agent("get_results", task=task_name)["results"]
    assert len(rows) > 3 or task_name == "bazaar/seller_brief"  # no evaluation has that one
    for row in rows:
        assert row["n"] >= 50
        assert row["grade"]["low"] <= row["grade"]["mean"] <= row["grade"]["high"]
        assert row["source"]["origin"] == "measured"
        assert row["source"]["command"]


def test_a_result_is_that_of_its_file(agent):
    rows = agent("get_results", task="bazaar/open")["results"]
    (shown_row,) = (
        row
        for row in rows
        if row["policy"] == "linear" and row["source"]["file"].endswith("market-holdout.json")
    )
    (row,) = (
        row
        for row in load("evaluation/market-holdout.json").data.rows
        if (row.task, row.policy) == ("bazaar/open", "linear")
    )
    assert (shown_row["n"], shown_row["grade"]["mean"]) == (row.n, row.grade.mean)


def test_recorded_games_are_listed_and_told_move_by_move(agent):
    listed = agent("get_transcripts", task="bazaar/open")["games"]
    assert {"expert", "mini"} <= {game["policy"] for game in listed}
    assert not any("moves" in game for game in listed)
    (game, *_) = agent("get_transcripts", task="bazaar/open", policy="expert")["games"]
    assert game["moves"][0]["agent"] == "seller"
    assert agent("get_transcripts", task="bazaar/open", policy="nobody")["games"] == []
