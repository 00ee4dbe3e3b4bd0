"""The arena's contestants: how they rank, that no exploit pays, and what nobody can exceed."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from env import ARENA_TASKS, Policy, arena, begin, rollout
from sauda.policies import LABS
from sauda.policies.arena import gains_from_trade, play_all_seeing
from tests.support.arena_games import block, job, market

SEEDS = range(60)
Action = arena.Action


def played(policy: Policy, name: str, seeds: range = SEEDS) -> np.ndarray:
    """Utility and reward of each game, shape (games, 2)."""
    task, rows = ARENA_TASKS[name], []
    for seed in seeds:
        game = rollout(task, policy, seed)
        rewards = arena.episode_rewards(begin(task, seed).state, game.turns, "lab_0")
        rows.append((game.final.private["lab_0"].utility, arena.total(rewards).normalized_reward))
    return np.array(rows)


@cache
def figures(policy_name: str, task_name: str) -> np.ndarray:
    return played(LABS[policy_name], task_name)


every_task = pytest.mark.parametrize("name", ARENA_TASKS)


@pytest.mark.nightly
@every_task
def test_autarky_has_a_grade_of_0_and_never_trades(name: str):
    task = ARENA_TASKS[name]
    for seed in range(300):
        game = rollout(task, LABS["autarky"], seed)
        own, start = game.final.private["lab_0"], begin(task, seed).state.private["lab_0"]
        assert own.utility == pytest.approx(start.batna, abs=0.02)  # rounded part by part
        assert task.grade(game.final) == pytest.approx(0, abs=5e-4)
        assert own.deals == own.pool == 0
        acted = {turn.action.action_type for turn in game.trajectory("lab_0")}
        assert acted <= {"allocate_to_job", "finish"}


def in_turn(*choices: Callable[[arena.Observation], Action | None]) -> Policy:
    """A policy that tries the choices in order, and waits where none applies."""

    def policy(obs: arena.Observation, rng: np.random.Generator) -> Action:
        return next(filter(None, (choose(obs) for choose in choices)), Action("wait"))

    return policy


def loot(obs: arena.Observation) -> Action | None:
    """All blocks of a lab for nothing."""
    for lab in obs.others:
        live = [
            b.block_id
            for b in obs.market.blocks.values()
            if b.owner_lab_id == lab.lab_id and b.status in ("available", "committed")
        ]
        if live and not any(o.to_lab_id == lab.lab_id for o in obs.outgoing):
            return Action("send_offer", lab.lab_id, requested_block_ids=tuple(live))
    return None


def repeated_ids(obs: arena.Observation) -> Action | None:
    """One block, named as often as the job wants hours."""
    for work in obs.open_jobs:
        for b in obs.owned_blocks:
            if b.status == "available" and b.reliability >= work.min_reliability:
                ids = (b.block_id,) * work.gpu_hours_required
                return Action("allocate_to_job", job_id=work.job_id, block_ids=ids)
    return None


def pitch_spam(obs: arena.Observation) -> Action:
    text = f"Deadline, reliability, fair allocation, guarantee: {len(obs.market.messages)}."
    return Action("make_pitch", message=text)


def book(obs: arena.Observation) -> Action | None:
    return next((part.booking for part in arena.own_plan(obs).parts), None)


def coalition_spam(obs: arena.Observation) -> Action | None:
    others = [lab.lab_id for lab in obs.others]
    turn = len(obs.market.coalitions) + obs.market.round_index
    return Action("form_coalition", others[turn % len(others)]) if others else None


EXPLOITS = {
    "coalition spam after work": in_turn(book, coalition_spam),
    "looting, then work": in_turn(loot, book),
    "repeated ids": in_turn(repeated_ids),
    "pitch spam after work": in_turn(book, pitch_spam),
}


@pytest.mark.nightly
@every_task
@pytest.mark.parametrize("exploit", EXPLOITS)
def test_no_exploit_pays_as_well_as_honest_planning(exploit: str, name: str):
    cheat, broker = played(EXPLOITS[exploit], name, range(40)), figures("broker", name)[:40]
    for column in (0, 1):
        above = broker[:, column] - cheat[:, column]
        assert above.mean() > 2 * above.std() / len(above) ** 0.5  # two standard errors


def test_the_gains_from_trade_in_a_market_that_fits_in_the_head():
    # lab_1's block would earn lab_0 40 - 2; lab_1 has no use for it.
    state = market([block("c", lab=1)], {0: [job("j0")], 1: []})
    assert gains_from_trade(state).utility == pytest.approx(38)
    # If lab_1 can do its own job of 60 with it, no trade gains anything.
    state = market([block("c", lab=1)], {0: [job("j0")], 1: [job("j1", value=60.0)]})
    assert gains_from_trade(state).utility == pytest.approx(0)
    # A joint job takes two blocks, for 4 of energy.
    joint = {0: [job("j0", joint=True)], 1: []}
    assert gains_from_trade(market([block("c", lab=1)], joint)).utility == pytest.approx(0)
    state = market([block("a"), block("c", lab=1)], joint)
    assert gains_from_trade(state).utility == pytest.approx(36)


@pytest.mark.parametrize("name", ["arena/single_trade", "arena/market_round"])
def test_the_all_seeing_trader_does_better_than_the_broker(name: str):
    task = ARENA_TASKS[name]
    seen_all = [play_all_seeing(task, seed).final.private["lab_0"].utility for seed in range(30)]
    assert np.mean(seen_all) > figures("broker", name)[:30, 0].mean()
