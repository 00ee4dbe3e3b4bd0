"""What every task promises, checked on every task there is."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from env import (
    ARENA_TASKS,
    BAZAAR_TASKS,
    TASKS,
    Accept,
    EndReason,
    Episode,
    IllegalAction,
    Observation,
    Offer,
    Policy,
    Task,
    WalkAway,
    advance,
    arena,
    begin,
    move,
    rollout,
)
from sauda.games.transcript import from_json, to_json, to_markdown
from sauda.players import scripts_of
from tests.support.golden import assert_golden

SEEDS = range(3)

every_task = pytest.mark.parametrize("played", TASKS.values(), ids=TASKS.keys())
every_bazaar_task = pytest.mark.parametrize(
    "played", BAZAAR_TASKS.values(), ids=BAZAAR_TASKS.keys()
)
every_arena_task = pytest.mark.parametrize("played", ARENA_TASKS.values(), ids=ARENA_TASKS.keys())


def always(action: Any) -> Policy:
    return lambda obs, rng: action


def accepting(obs: Observation, rng: np.random.Generator) -> Accept | Offer:
    """Takes whatever it is offered; a seller must open first."""
    return Accept() if obs.agent == "buyer" or obs.table.bids else Offer(obs.table.item.list_price)


def stubborn(obs: Observation, rng: np.random.Generator) -> Offer:
    """Names the same price for ever: the smallest bid there is, or five times the list price."""
    if obs.agent == "seller":
        return Offer(5 * obs.table.item.list_price)
    return Offer(10**-obs.table.decimals)


def games(played: Task) -> tuple[tuple[str, Episode], ...]:
    """Every contestant and three blunt policies at a few seeds: (policy, episode)."""
    return games_of(played.name)


@cache
def games_of(name: str) -> tuple[tuple[str, Episode], ...]:
    played = TASKS[name]
    if played.name in ARENA_TASKS:
        babble = arena.action_from("no action at all")
        blunt = {"leaving": always(arena.Action("finish")), "babbling": always(babble)}
    else:
        blunt = {"accepting": accepting, "walking": always(WalkAway()), "stubborn": stubborn}
    policies = {**scripts_of(played), **blunt}
    return tuple((name, rollout(played, p, seed)) for name, p in policies.items() for seed in SEEDS)


def states(played: Task, game: Episode) -> Iterator[Any]:
    """Every state of a game, the first and the last included."""
    state = begin(played, game.seed).state
    yield state
    for turn in game.turns:
        if turn.action is not None:
            state = played.env.step(state, turn.action)
            yield state


@every_bazaar_task
def test_a_game_ends_within_its_limit_of_rounds(played: Task):
    seats = len(played.env.agents)
    for name, game in games(played):
        table = game.final.table
        assert game.end is EndReason.FORFEIT or played.env.to_act(game.final) is None, name
        assert 1 <= len(table.past) <= table.deals, name
        assert all(deal.rounds <= table.rounds for deal in table.past), name
        assert len(game.turns) <= table.deals * (1 + seats * table.rounds), name


@every_bazaar_task
def test_a_move_after_the_end_is_refused(played: Task):
    over = advance(
        played, {**played.opponents, played.learner: always(WalkAway())}, begin(played, 0)
    )
    for action in (Offer(40), Accept(), WalkAway()):
        with pytest.raises(IllegalAction, match="over"):
            played.env.step(over.state, action)
        with pytest.raises(IllegalAction, match="over"):
            move(played, over, action)


@pytest.mark.parametrize("task_name", ["bazaar/open-3", "classic/single_deal", "bazaar/sell"])
def test_nobody_takes_a_price_beyond_the_own_budget(task_name):
    task = TASKS[task_name]
    state = advance(task, {"seller": always(Offer(60))}, begin(task, 1)).state
    poor = {**state.private["buyer"], "reservation": 59, "purse": 59}
    with pytest.raises(IllegalAction, match="the budget is ₹59, and ₹60 is more"):
        task.env.step(replace(state, private={**state.private, "buyer": poor}), Accept())


@every_arena_task
def test_a_market_ends_within_its_rounds_and_everyone_settles(played: Task):

    for name, game in games(played):
        market = game.final.market
        assert played.env.to_act(game.final) is None, name
        assert market.round_index <= market.max_rounds, name
        acted = Counter((turn.agent, turn.observation.market.round_index) for turn in game.turns)
        assert max(acted.values()) <= arena.ACTIONS_PER_ROUND, name
        for lab in market.labs:
            assert game.final.private[lab].results[-1].code == "final_settlement", name


@every_task
def test_a_step_leaves_the_state_before_it_as_it_was(played: Task):
    for _, game in games(played)[:: len(SEEDS)]:
        before = None
        for state in states(played, game):
            if before is not None:
                assert repr(before[0]) == before[1]
            before = state, repr(state)


@every_task
def test_a_game_read_from_its_json_is_the_same_game(played: Task):
    for name, game in games(played):
        assert from_json(json.loads(json.dumps(to_json(game, name)))) == game, name


@every_task
def test_no_observation_reads_what_others_alone_know(played: Task):
    for _, game in games(played):
        for state in states(played, game):
            for agent in played.env.agents:
                blanked = {k: v if k == agent else None for k, v in state.private.items()}
                seen = played.env.observe(replace(state, private=blanked), agent)
                assert seen == played.env.observe(state, agent)


GARBAGE = [None, "32", {"action": "offer", "price": 32}, ("offer", 32), 32, Offer, Accept]
FORBIDDEN_PRICES = [
    float("nan"), float("inf"), -float("inf"), -5, 0, True, "32", "₹32", None, 1e308, 10**400,
    -(10**5000), 32.123, [32], np.array([32, 33]),
]  # fmt: skip


@every_task
def test_a_policy_that_returns_no_action_or_names_a_forbidden_price_forfeits(played: Task):
    in_bazaar = played.name in BAZAAR_TASKS
    for action in (*GARBAGE, *(Offer(price) for price in FORBIDDEN_PRICES if in_bazaar)):
        game = rollout(played, always(action), 1)
        assert game.end is EndReason.FORFEIT, action
        if in_bazaar:
            assert set(game.payoffs.values()) == {0}
            assert played.grade(game.final) == 0
        else:  # nothing delivered, and what it could have done alone forgone
            own = game.final.private[played.learner]
            assert (own.utility, game.payoffs[played.learner]) == (0, -own.batna)
        *earlier, last = game.turns
        assert (last.agent, last.action) == (played.learner, None)
        assert 15 < len(last.error) < 200
        assert "\n" not in last.error
        assert not any(turn.error for turn in earlier)


def test_sellers_of_every_manner_show_what_they_did():
    """The golden transcripts show none of these numbers."""
    lines = []
    for name in (name for name in BAZAAR_TASKS if name.startswith("classic/")):
        for turn in rollout(TASKS[name], stubborn, 7).trajectory("buyer")[:4]:
            told = re.sub(r"(\.\d{6})\d+", r"\1", str(turn.observation.tells))
            lines.append(f"{name} {told}")
    assert_golden("tells.txt", "\n".join(lines) + "\n")


@every_task
def test_the_golden_transcript_is_what_the_first_contestant_plays(played: Task):
    name, policy = next(iter(scripts_of(played).items()))
    file = f"{played.name.replace('/', '-')}.md"
    assert_golden(file, to_markdown(rollout(played, policy, 7), name))
