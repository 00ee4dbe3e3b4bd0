"""The tools for agents in this process: what they show, what they refuse, what they record."""

import json
import re
from typing import Any

import pytest

from env import ARENA_TASKS, TASKS, IllegalAction, arena
from panels.ui.look import PALETTE
from sauda.serve import game as games
from sauda.serve.limits import Episodes, Refused
from sauda.serve.mcp import DESCRIBED, UNKNOWN, Room, answer, app_page, gloss, prepare_call
from tests.support.cases import cases

every_task = pytest.mark.parametrize("task_name", TASKS)


class Agent:
    """A caller of the tools; `play` adds the id of its game to a call."""

    def __init__(self) -> None:
        self.room = Room(Episodes(UNKNOWN), "10.0.0.1")

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return prepare_call(tool, arguments, self.room)()

    def begin(self, task: str) -> dict[str, Any]:
        self.game = self("new_game", task=task)
        return self.game

    def play(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self(tool, game_id=self.game["game_id"], **arguments)


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def at_one_seed(monkeypatch):
    """New games are drawn at one seed, at which nobody leaves early."""
    monkeypatch.setattr(games, "draw_seed", lambda: 7)


@every_task
def test_a_review_waits_for_the_end_and_then_tells_the_game(agent, task_name):
    game = begun = agent.begin(task_name)
    with pytest.raises(Refused, match="still runs"):
        agent.play("review_game")
    while not game["over"]:
        game = agent.play("walk_away")
    review = agent.play("review_game")
    assert review["outcome"] == game["outcome"]
    assert review["transcript"]["seed"] == review["outcome"]["seed"]
    deals = 0 if task_name in ARENA_TASKS else game["bazaar"]["deals"]
    assert len(review["limits"]) == deals
    for limits in review["limits"][:1]:
        assert limits[game["seat"]] == begun["bazaar"]["own"]["reservation"]
    if task_name in ("bazaar/open-3", "bazaar/sell"):  # of the sale none is known
        assert (review["oracle"] is None) == (task_name == "bazaar/sell")
    json.dumps(review, allow_nan=False)


def test_no_agent_chooses_its_seed_and_none_is_used_twice(agent):
    with pytest.raises(Refused, match="new_game takes task alone"):
        agent("new_game", task="bazaar/open-3", seed=7)
    assert agent("new_game")["bazaar"] != agent("new_game")["bazaar"]


def test_the_moves_of_an_agent_are_those_of_the_game(agent, at_one_seed):
    agent.begin("bazaar/open-3")
    agent.play("offer", price=10, message="Ten.")
    game = agent.play("reject", message="No.")
    own = [move for move in game["bazaar"]["moves"] if move["agent"] == "buyer"]
    said = [(move["action"], move["price"], move["message"]) for move in own]
    assert said == [("offer", 10, "Ten."), ("offer", 10, "No.")]
    assert game["bazaar"]["round"] == 2
    assert agent.play("view_game") == game
    assert agent.play("walk_away")["outcome"]["end"] == "walkaway"
    ask = round(2 * agent.begin("bazaar/sell")["bazaar"]["item"]["list_price"])
    agent.play("offer", price=ask)
    assert agent.play("reject")["bazaar"]["asks"] == [ask, ask]
    agent.begin("classic/marketplace_arena")
    bids = agent.play("offer", price=40)["bazaar"]["bids"]  # sealed, so no move of the table
    assert agent.play("reject")["bazaar"]["bids"] == bids * 2


@pytest.mark.parametrize(("task", "tool", "arguments", "why"), cases("mcp_refused.csv", "move"))
def test_a_move_that_cannot_be_made_is_answered_with_why_and_changes_nothing(
    agent, task, tool, arguments, why
):
    game = agent.begin(task)
    with pytest.raises(IllegalAction, match=why):
        agent.play(tool, **json.loads(arguments))
    assert agent.play("view_game") == game


@pytest.mark.parametrize(("task", "tool", "arguments", "why"), cases("mcp_refused.csv", "call"))
def test_a_call_that_does_not_fit_is_answered_with_what_was_expected(
    agent, task, tool, arguments, why
):
    with pytest.raises(Refused, match=why):
        agent(tool, **json.loads(arguments))


def test_an_optional_argument_that_a_client_fills_with_an_empty_text_is_absent(agent, at_one_seed):
    assert agent.begin("")["task"] == "bazaar/people"
    agent.begin("bazaar/open-3")
    agent.play("offer", price=10, message="")
    assert agent.play("reject", offer_id="", message="")["bazaar"]["bids"] == [10, 10]
    assert agent.play("accept", offer_id="")["over"]
    assert len(agent("get_transcripts", task="bazaar/people", policy="")["games"]) > 1
    agent.begin("arena/market_round")
    assert len(agent.play("legal_actions", action_type="")["counts"]) > 1
    filled = {"action_type": "wait", "target_lab_id": "", "offer_id": "", "job_id": ""}
    assert agent.play("arena_action", action=filled)["last_action"]["ok"]


def test_an_agent_reads_what_each_action_of_a_lab_needs_and_what_came_of_its_own(agent):
    (schema,) = (tool.inputSchema for tool in DESCRIBED if tool.name == "arena_action")
    fields = schema["$defs"]["ArenaAction"]["properties"]
    assert fields.keys() == set(arena.Action._fields)
    for name, kind in arena.KINDS.items():
        assert f"{name}: {kind.purpose}" in fields["action_type"]["description"]
    agent.begin("arena/market_round")
    seen = agent.play("accept", offer_id="o_99")
    assert seen["last_action"] == seen["arena"]["own"]["results"][0]
    assert (seen["last_action"]["ok"], seen["last_action"]["code"]) == (False, "unknown_offer")


def test_legal_actions_of_a_lab_can_be_taken_as_they_are_listed(agent, at_one_seed):
    for kind in ("send_offer", "accept_offer", "make_pitch", "form_coalition"):
        agent.begin("arena/market_round")
        legal = agent.play("legal_actions", action_type=kind)
        assert 0 < len(legal["actions"]) <= legal["counts"][kind]
        after = agent.play("arena_action", action=legal["actions"][0])
        assert after["arena"]["own"]["results"][0]["ok"]
    agent.begin("arena/market_round")
    some = agent.play("legal_actions")
    assert {each["action_type"] for each in some["actions"]} == some["counts"].keys()


# The view that a client with MCP Apps draws -------------------------------------------------------

LETTERS = {"hi": re.compile("[\u0904-\u0939]"), "en": re.compile("[A-Za-z]")}
FOREIGN = {"en": "hi", "hi": "en"}


@every_task
def test_the_text_of_an_answer_is_the_game_alone_and_foreign_words_have_a_gloss(
    agent, task_name, monkeypatch
):
    glossed = set()
    for seed in range(8):
        monkeypatch.setattr(games, "draw_seed", lambda seed=seed: seed)
        game = agent.begin(task_name)
        if task_name not in ARENA_TASKS:
            factor = 3 if game["seat"] == "seller" else 0.5
            price = int(factor * game["bazaar"]["item"]["list_price"])
            game = agent.play("offer", price=price, message="कुछ कम कीजिए?")
        told = answer(game)
        assert told.content[0].text == json.dumps(game, indent=2)
        assert told.structuredContent == game
        for language, words in told.meta["sauda/words"].items():
            moves = game["bazaar"]["moves"]
            for move, meant in zip(moves, words["glosses"], strict=True):
                foreign = LETTERS[FOREIGN[language]].search(move["message"])
                if move["agent"] == game["seat"] or not any(map(str.isalpha, move["message"])):
                    assert meant == ""
                elif foreign:
                    assert LETTERS[language].search(meant), move["message"]
                    assert not LETTERS[FOREIGN[language]].search(meant)
                    glossed.add(language)
    if task_name in (*ARENA_TASKS, "bazaar/sell") or "mute" in task_name:
        assert glossed == set()
    else:  # the classic sellers speak English
        assert glossed == ({"hi"} if task_name.startswith("classic/") else {"hi", "en"})


def test_a_gloss_means_the_same_and_a_price_alone_needs_none():
    assert gloss("चलो, ₹600 पक्का।", "en") == "Done, ₹600."
    assert gloss("Done, ₹600.", "hi") == "चलो, ₹600 पक्का।"
    assert [gloss("₹760.", "hi"), gloss("Done, ₹600.", "en")] == ["", ""]


def test_the_view_is_one_document_that_loads_nothing_and_has_the_colours_of_the_page():
    page = app_page()
    assert not re.search(r"(src|href)=|@import|url\(|https?://(?!www\.w3\.org)", page)
    for name, pair in PALETTE.items():
        if f"--{name}:" in page:
            assert f"--{name}: light-dark({', '.join(pair)})" in page
    known = json.loads(re.search(r"const WORDS = (\{.*\});", page)[1])
    named = set(re.findall(r'say\("(\w+)"', page))
    assert named <= known.keys()
    assert {f"did_{kind}" for kind in ("accept", "walk")} | set(arena.KINDS) <= known.keys()
    for key, words in known.items():
        slots = [sorted(re.findall(r"\{\w+\}", words[language])) for language in ("en", "hi")]
        assert slots[0] == slots[1], key
