"""The OpenEnv environment in this process: the same games, nothing hidden shown, limits kept."""

import asyncio
import json
import re
from collections import deque
from dataclasses import replace
from functools import partial

import pytest
import yaml
from fastapi.testclient import TestClient
from pydantic import ValidationError

from env import ARENA_TASKS, TASKS, arena, begin, market
from sauda.fairness import FairGate, Limits
from sauda.records.store import ROOT
from sauda.serve import game as games
from sauda.serve.game import ARENA, BAZAAR, SaudaAction
from sauda.serve.http import openenv_app
from sauda.serve.observations import observation_of, state_of
from sauda.serve.openenv import LATER, LEAVES, SaudaEnvironment, SocketLimits, Sockets
from tests.support.cases import cases
from tests.support.entries import blinded, played, wire_actions
from tests.support.running import run

every_task = pytest.mark.parametrize("task_name", TASKS)
OFFER = SaudaAction(action_type="offer", price=1)
MANIFEST = yaml.safe_load((ROOT.parent / "openenv.yaml").read_text(encoding="utf-8"))


@every_task
def test_a_served_episode_is_the_one_that_is_measured(task_name):
    task, served = TASKS[task_name], SaudaEnvironment()
    for seed in (7, 50_001):
        episode = played(task_name, seed)
        observation, total = served.reset(seed=seed, task=task_name), 0.0
        for action in wire_actions(episode):
            assert not observation.done
            observation = served.step(SaudaAction.model_validate(action))
            assert observation.error == ""
            total += observation.reward
        assert observation.done
        outcome = observation.outcome
        assert outcome["grade"] == task.grade(episode.final)
        assert outcome["payoffs"] == episode.payoffs
        assert (outcome["end"], outcome["seed"]) == (str(episode.end), seed)
        if task_name in ARENA_TASKS:
            start = begin(task, seed).state
            parts = arena.total(arena.episode_rewards(start, episode.turns, task.learner))
            assert total == pytest.approx(parts.normalized_reward)
        else:
            assert total == outcome["grade"]


@every_task
def test_what_goes_out_does_not_depend_on_what_the_seat_may_not_see(task_name):
    """Everybody else's private values are blanked: the observation and the state stay the same."""
    game = games.start(task_name, 11, "one", 0.0)
    for action in wire_actions(played(task_name, 11)):
        blind = replace(blinded(game), seed_is_chosen=False)
        hidden = replace(game, seed_is_chosen=False)
        assert observation_of(blind) == observation_of(hidden)
        assert state_of(blind) == state_of(hidden)
        assert state_of(hidden).seed is None
        game = games.act(game, SaudaAction.model_validate(action), 0.0)
    assert game.over


def test_a_seed_that_nobody_chose_is_told_at_the_end_and_plays_the_same_game_again():
    served = SaudaEnvironment()
    first = served.reset()
    assert served.state.seed is None
    last = served.step(SaudaAction(action_type="walk"))
    seed = last.outcome["seed"]
    assert int(seed) > 2**64  # drawn from so many that nobody can search them
    assert str(seed) not in first.model_dump_json()
    assert SaudaEnvironment().reset(seed=seed).bazaar == first.bazaar
    assert SaudaEnvironment().reset().bazaar != first.bazaar


def test_an_illegal_move_changes_nothing_and_says_why():
    served = SaudaEnvironment()
    before = served.reset(seed=3)
    for action, why in (
        ({"action_type": "offer", "price": 10**7}, "the budget is"),
        ({"action_type": "offer"}, "an offer needs a price"),
        ({"action_type": "offer", "price": 0.5}, "prices here have whole rupees"),
        ({"action_type": "wait"}, "an action of the bazaar is one of offer, accept, walk"),
        ({"action_type": "accept", "payment": 5}, "an action of the bazaar has no payment"),
    ):
        after = served.step(SaudaAction.model_validate(action))
        assert why in after.error
        assert (after.bazaar, after.reward, after.done) == (before.bazaar, 0.0, False)
    assert served.state.step_count == 5
    assert served.step(OFFER).error == ""


@pytest.mark.parametrize(("action", "why"), cases("openenv_refused.csv", "action"))
def test_what_is_no_action_is_refused_by_its_type(action, why):
    with pytest.raises(ValidationError, match=why):
        SaudaAction.model_validate(json.loads(action))


@pytest.mark.parametrize(("options", "why"), cases("openenv_refused.csv", "reset"))
def test_a_reset_that_makes_no_sense_is_refused_in_a_sentence(options, why):
    served = SaudaEnvironment()
    with pytest.raises((ValueError, IndexError), match=why):
        served.reset(**json.loads(options))
    assert served.state.task is None


@every_task
def test_the_moves_of_a_briefing_can_be_made_and_its_fields_are_there(task_name):
    """A model that is given the observation alone copies the examples and looks up the fields."""
    served = SaudaEnvironment()
    first = served.reset(task=task_name, seed=7)
    assert first.briefing == served.reset(task=task_name, seed=8).briefing  # tells nothing drawn
    for kind in ARENA if task_name in ARENA_TASKS else BAZAAR:
        assert kind in first.briefing
    share = 0.7 if first.seat == "buyer" else 1.4
    assert first.system_prompt.startswith(first.briefing)
    for example in re.findall(r"\{.*?\}", first.briefing):
        action = SaudaAction.model_validate_json(example)
        seen = served.reset(task=task_name, seed=7)
        if seen.bazaar:
            price = round(share * seen.bazaar["own"]["reservation"])
            if action.action_type == "offer":
                action.price = price
            elif not (seen.bazaar["asks"] or seen.bazaar["bids"]):  # whoever sells names the first
                served.step(SaudaAction(action_type="offer", price=price))
        assert served.step(action).error == ""
    for path in re.findall(r"`((?:bazaar|arena)\.[\w.]+)`", first.briefing):
        place = first.model_dump()
        for name in path.split("."):
            assert name in place, path
            place = place[name]


@every_task
def test_a_briefing_tells_how_the_task_is_graded_and_whether_bids_stand(task_name):
    task, told = TASKS[task_name], games.briefing(TASKS[task_name])
    if task_name in ARENA_TASKS:
        return
    free = task.grade.func if isinstance(task.grade, partial) else task.grade
    assert ("in [-1, 1]" in told) == (free is market.market_grade)
    in_parts = bool(getattr(task.env, "extras", ()))  # there the seller counts what stands
    assert ("Bids stand" in told) == (task.env.standing and not in_parts)


def test_an_episode_that_uses_up_its_steps_or_its_time_is_forfeited():
    now = [0.0]
    served = SaudaEnvironment(lambda: now[0])
    served.reset(seed=2)
    for _ in range(games.MOST_STEPS):
        assert not served.step(SaudaAction(action_type="wait")).done
    last = served.step(OFFER)
    assert (last.done, last.outcome["end"]) == (True, "forfeit")
    assert f"{games.MOST_STEPS} steps" in last.outcome["forfeit"]
    assert last.reward == last.outcome["grade"] == 0.0
    served.reset(seed=2)
    now[0] += games.MOST_SECONDS
    assert not served.step(OFFER).done
    now[0] += 1
    assert "seconds" in served.step(OFFER).outcome["forfeit"]


def test_the_reward_is_the_sum_of_named_rubrics():
    served = SaudaEnvironment()
    served.reset(task="arena/coalition_market", seed=7)
    rewards = [
        served.step(SaudaAction.model_validate(action)).reward
        for action in wire_actions(played("arena/coalition_market", 7))
    ]
    rubrics = dict(served.rubric.named_rubrics())
    names = {f"arena.{part.name}" for part in arena.COMPONENTS}
    assert names | {"arena", "bazaar", "bazaar.grade"} == set(rubrics)
    assert sum(rubrics[name].last_score for name in names) == pytest.approx(rewards[-1])
    assert any(rewards)


@pytest.mark.parametrize("task", ARENA_TASKS)
def test_gifts_sales_and_refused_actions_stay_within_the_declared_range_of_the_reward(task):
    low, high = MANIFEST["validation"]["reward"]["range"]
    served = SaudaEnvironment()
    for seed in range(90, 110):
        seen = served.reset(task=task, seed=seed).arena
        own = [each["block_id"] for each in seen["blocks"] if each["owner_lab_id"] == "lab_0"]
        offer = {"action_type": "send_offer", "target_lab_id": "lab_1"}
        gift = offer | {"payment": seen["own"]["budget"]}  # of all credits for nothing
        sale = offer | {"block_ids": own, "conditions": {"ask": 60}}
        for move in (gift, sale, {"action_type": "reserve_capacity"}):
            served.reset(task=task, seed=seed)
            assert low <= served.step(SaudaAction(**move)).reward <= high


def test_the_entries_of_ten_addresses_keep_no_other_one_from_entering(board):
    app = openenv_app()

    def enter(address: str, number: int) -> int:
        agent = {"name": f"buyer {number}", "task": "bazaar/open-3"}
        client = TestClient(app, client=(address, 5000))
        return client.post("/leaderboard/enter", json=agent).status_code

    floods = [enter(f"192.0.2.{number % 10}", number) for number in range(70)]
    assert set(floods[-10:]) == {429}
    networks = [enter(f"2001:db8:0:{number}::1", 100 + number) for number in range(10)]
    assert {networks[0], networks[-1]} == {200, 429}  # all of them may be one caller's
    assert enter("198.51.100.1", 200) == 200


STATE = '{"type": "state"}'
SOCKET = {"type": "websocket", "query_string": b"session_id=1"}


async def echo(scope, receive, send) -> None:
    """Accepts, sends each frame back, ends with the client; as the package's handler does."""
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
    await send({"type": "websocket.close"})


class Wire:
    """The web server's side of one socket; when the frames are out, the client leaves or waits."""

    def __init__(self, *frames: str | bytes, stays: bool = False) -> None:
        kinds = {str: "text", bytes: "bytes"}
        messages = [{"type": "websocket.receive", kinds[type(f)]: f} for f in frames]
        leaving = [] if stays else [{"type": "websocket.disconnect", "code": 1006}]
        self.incoming = deque([{"type": "websocket.connect"}, *messages, *leaving])
        self.sent: list[dict] = []

    async def receive(self) -> dict:
        while not self.incoming:
            await asyncio.sleep(0.001)
        return self.incoming.popleft()

    async def send(self, message: dict) -> None:
        self.sent.append(message)

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.sent if message["type"] == "websocket.send"]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The typed errors: code and sentence."""
        answers = [json.loads(text) for text in self.texts]
        return [(a["data"]["code"], a["data"]["message"]) for a in answers if a["type"] == "error"]


def serve(wire: Wire, sockets: Sockets | None = None, address: str = "10.0.0.1") -> Wire:
    sockets = sockets or Sockets(echo, FairGate())
    run(sockets.serve(SOCKET, wire.receive, wire.send, address))
    return wire


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        *cases("openenv_refused.csv", "frame"),
        ("[" * 50_000, "INVALID_JSON"),
        (STATE.encode(), "INVALID_JSON"),
        ('{"type": "step", "data": {"message": "' + "x" * 65_536 + '"}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"message": "' + "₹" * 30_000 + '"}}', "VALIDATION_ERROR"),
    ],
)
def test_any_other_frame_gets_a_typed_error_and_the_session_goes_on(frame, code):
    wire = serve(Wire(frame, STATE))
    ((seen, sentence),) = wire.errors
    assert seen == code
    assert sentence.endswith(".")
    assert wire.texts[-1] == STATE


@pytest.mark.parametrize("limit", ["idle_seconds", "session_seconds"])
def test_a_session_that_is_silent_or_open_for_too_long_is_told_so_and_ends(limit):
    wire = Wire(STATE, stays=True)

    async def handle(scope, receive, send) -> None:
        while (await receive())["type"] != "websocket.disconnect":
            if limit == "session_seconds":  # busy, so never silent
                wire.incoming.append({"type": "websocket.receive", "text": STATE})
            await asyncio.sleep(0.001)

    serve(wire, Sockets(handle, FairGate(), SocketLimits(**{limit: 0.05})))
    ((code, sentence),) = wire.errors
    assert code == "SESSION_ERROR"
    assert ("sent nothing" if limit == "idle_seconds" else "was open") in sentence
    assert wire.sent[-1] == {"type": "websocket.close", "code": LEAVES, "reason": ""}


def test_an_address_has_so_many_sessions_and_the_machine_itself_as_many_as_it_likes():
    sockets = Sockets(echo, FairGate(), SocketLimits(of_address=1))

    async def open_another(address: str) -> Wire:
        wire = Wire(STATE)
        await sockets.serve(SOCKET, wire.receive, wire.send, address)
        return wire

    async def visit(address: str) -> tuple[Wire, ...]:
        first = Wire(stays=True)
        task = asyncio.create_task(sockets.serve(SOCKET, first.receive, first.send, address))
        await asyncio.sleep(0.01)
        second, other = await open_another(address), await open_another("10.0.0.2")
        first.incoming.append({"type": "websocket.disconnect", "code": 1006})
        await task
        return second, other, await open_another(address)

    refused, other, later = run(visit("10.0.0.1"))
    assert [code for code, _ in refused.errors] == ["CAPACITY_REACHED"]
    assert refused.sent[-1]["code"] == LATER
    assert other.texts == later.texts == [STATE]
    for wire in run(visit("127.0.0.1")):
        assert wire.texts == [STATE]
    assert sockets.sessions.total == 0


def test_a_frame_holds_a_place_at_the_gate_until_its_answer_is_sent():
    gate = FairGate(Limits(running=1))
    seen = []

    async def watching(scope, receive, send) -> None:
        for message in [await receive(), await receive()]:
            seen.append(gate.running)
            await send({"type": "websocket.send", "text": message.get("text", "")})
            seen.append(gate.running)
        await receive()

    serve(Wire(STATE), Sockets(watching, gate))
    assert seen == [1, 0, 0, 0]
    assert not gate.running


def test_frames_of_an_address_beyond_those_that_may_wait_get_an_error_and_lose_nothing():
    gate = FairGate(Limits(running=1, running_of_address=1, waiting_of_address=1))
    sockets = Sockets(echo, gate)

    async def crowd() -> Wire:
        wire = Wire(STATE)
        async with gate.place("10.0.0.1"):
            waiting = asyncio.create_task(gate.place("10.0.0.1").__aenter__())
            await asyncio.sleep(0.01)
            await sockets.serve({}, wire.receive, wire.send, "10.0.0.1")
        await waiting
        return wire

    assert run(crowd()).errors == [
        ("EXECUTION_ERROR", "Too many calls of your network address wait.")
    ]
