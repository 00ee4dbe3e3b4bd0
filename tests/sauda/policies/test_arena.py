"""The arena's contestants: how they rank, that no exploit pays, and what nobody can exceed."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from env import ARENA_TASKS, Policy, arena, begin, rollout
from sauda.games import policies_of
from sauda.policies import LAB_LABELS, LABS
from sauda.policies.arena_bound import joint_optimum, upper_bound
from tests.support.arena_games import block, do, job, market, seen, take

SEEDS = range(60)
RNG = np.random.default_rng(0)
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


def clearly_above(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the paired differences are above 0 by more than two standard errors."""
    differences = one - other
    return differences.mean() > 2 * differences.std() / len(differences) ** 0.5


every_task = pytest.mark.parametrize("name", ARENA_TASKS)


# How they rank


@pytest.mark.slow
@every_task
def test_the_planner_beats_the_expert_and_the_expert_beats_chance_and_waiting(name: str):
    planner, expert = figures("planner", name), figures("rule_based_expert", name)
    for column in (0, 1):
        assert clearly_above(planner[:, column], expert[:, column])
        for weaker in ("random", "naive_plea", "wait"):
            if column == 0 or weaker == "naive_plea":
                assert clearly_above(expert[:, column], figures(weaker, name)[:, column])


@pytest.mark.slow
@every_task
def test_the_planner_gains_by_trade_what_nobody_gains_alone(name: str):
    task = ARENA_TASKS[name]
    games = [rollout(task, LABS["planner"], seed) for seed in range(200)]
    surplus = np.array([game.payoffs["lab_0"] for game in games])
    assert surplus.mean() > 2 * surplus.std() / len(surplus) ** 0.5


# Alone


@pytest.mark.nightly
@every_task
def test_autarky_has_a_grade_of_0_whatever_shocks_strike_and_never_trades(name: str):
    task, struck = ARENA_TASKS[name], Counter()
    for seed in range(300):
        game = rollout(task, LABS["autarky"], seed)
        own, start = game.final.private["lab_0"], begin(task, seed).state.private["lab_0"]
        assert own.utility == pytest.approx(start.batna, abs=0.02)  # rounded part by part
        assert task.grade(game.final) == pytest.approx(0, abs=5e-4)
        assert own.deals == own.pool == 0
        assert {t.action.action_type for t in game.trajectory("lab_0")} <= {
            "allocate_to_job",
            "finish",
        }
        struck.update(shock.kind for shock in game.final.market.shock_history)
    wanted = {kind for _, kinds in task.env.size.shocks for kind in kinds}
    assert struck.keys() == wanted


def test_autarky_falls_below_0_only_where_three_jobs_need_the_two_actions_of_the_first_round():
    task = ARENA_TASKS["arena/coalition_market"]
    start = begin(task, 1051)  # the only one of the first 1,500 seeds
    obs = task.env.observe(start.state, "lab_0")
    urgent = [p for p in arena.own_plan(obs).parts if arena.loss_by_delay(obs, p) > 0]
    assert len(urgent) == 3 > arena.ACTIONS_PER_ROUND
    assert task.grade(rollout(task, LABS["autarky"], 1051).final) == pytest.approx(-0.12, abs=0.01)


def test_autarky_takes_no_offer_however_good():
    state = market([block("a")], {0: [job("j0")]})
    gift = do(state, 1, "send_offer", target_lab_id="lab_0", payment=90.0)
    assert LABS["autarky"](seen(gift, 0), RNG) == Action(
        "allocate_to_job", job_id="j0", block_ids=("a",)
    )


def test_labels_and_seats_fit():
    assert LAB_LABELS.keys() == LABS.keys()
    assert all(policies_of(task) is LABS for task in ARENA_TASKS.values())


# What they do in small markets


def test_the_planner_takes_what_helps_and_not_what_harms():
    state = market([block("a"), block("c", lab=1)], {0: [job("j0")], 1: []})
    cheap = do(state, 1, "send_offer", target_lab_id="lab_0", block_ids=("c",))
    assert LABS["planner"](seen(cheap, 0), RNG).action_type != "accept_offer"  # it needs no more
    ruin = do(
        state, 1, "send_offer", target_lab_id="lab_0", requested_block_ids=("a",), payment=5.0
    )
    assert LABS["planner"](seen(ruin, 0), RNG).action_type != "accept_offer"
    needy = market([block("c", lab=1)], {0: [job("j0")], 1: []})
    fields = {"block_ids": ("c",), "conditions": (("ask", 10.0),)}
    offer = do(needy, 1, "send_offer", target_lab_id="lab_0", **fields)
    assert LABS["planner"](seen(offer, 0), RNG) == Action("accept_offer", offer_id="o_1")


def test_the_planner_bids_for_what_its_job_lacks_and_less_than_it_gains():
    state = market([block("c", lab=1)], {0: [job("j0")], 1: []})
    bid = LABS["planner"](seen(state, 0), RNG)
    assert (bid.action_type, bid.requested_block_ids) == ("send_offer", ("c",))
    assert 0 < bid.payment < 38


def test_the_planner_uses_a_pool_that_pays():
    state = market([block("c", lab=1)], {0: [job("j0")], 1: []})
    state = take(state, "form_coalition", target_lab_id="lab_1")
    state = take(state, "commit_to_coalition", coalition_id="c_1", block_ids=("c",))
    booking = LABS["planner"](seen(state, 0), RNG)
    assert booking == Action("allocate_to_job", job_id="j0", block_ids=("c",))


def test_the_hoarder_books_everything_that_is_reliable_enough():
    blocks = [block("a"), block("b"), block("shaky", reliability=0.7)]
    state = market(blocks, {0: [job("j0")]})
    hoard = LABS["greedy_hoarder"](seen(state, 0), RNG)
    assert hoard == Action("allocate_to_job", job_id="j0", block_ids=("a", "b"))


def test_random_is_random_and_legal():
    state = market([block("a"), block("c", lab=1)], {0: [job("j0")], 1: []})
    draws = {LABS["random"](seen(state, 0), np.random.default_rng(s)) for s in range(60)}
    assert len({action.action_type for action in draws}) > 5
    assert draws <= set(arena.legal_actions(seen(state, 0)))


# Exploits


def in_turn(*choices: Callable[[arena.Observation], Action | None]) -> Policy:
    """A policy that tries the choices in order, and waits where none applies."""

    def policy(obs: arena.Observation, rng: np.random.Generator) -> Action:
        return next(filter(None, (choose(obs) for choose in choices)), Action("wait"))

    return policy


def coalition_spam(obs: arena.Observation) -> Action | None:
    others = [lab.lab_id for lab in obs.others]
    turn = len(obs.market.coalitions) + obs.market.round_index
    return Action("form_coalition", others[turn % len(others)]) if others else None


def empty_commitments(obs: arena.Observation) -> Action | None:
    for coalition in (*obs.coalitions, *obs.proposals):
        return Action("commit_to_coalition", coalition_id=coalition.coalition_id)
    return None


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


def gifts(obs: arena.Observation) -> Action | None:
    """All of its own blocks for nothing."""
    own_blocks = tuple(b.block_id for b in obs.owned_blocks if b.status == "available")
    for lab in obs.others if own_blocks else ():
        return Action("send_offer", lab.lab_id, block_ids=own_blocks)
    return None


def repeated_ids(obs: arena.Observation) -> Action | None:
    """One block, named as often as the job wants hours."""
    for work in obs.open_jobs:
        for b in obs.owned_blocks:
            if b.status == "available" and b.reliability >= work.min_reliability:
                ids = (b.block_id,) * work.gpu_hours_required
                return Action("allocate_to_job", job_id=work.job_id, block_ids=ids)
    return None


def stall(obs: arena.Observation) -> Action | None:
    """Reserve and release the same block for ever."""
    for b in obs.owned_blocks:
        if b.status in ("available", "reserved"):
            kind = "reserve_capacity" if b.status == "available" else "release_capacity"
            return Action(kind, block_ids=(b.block_id,))
    return None


def pitch_spam(obs: arena.Observation) -> Action:
    text = f"Deadline, reliability, fair allocation, guarantee: {len(obs.market.messages)}."
    return Action("make_pitch", message=text)


def resale(obs: arena.Observation) -> Action | None:
    """Commit and offer blocks that have gone to a job already."""
    used = [b.block_id for b in obs.owned_blocks if b.status == "used"]
    if not used:
        return None
    for coalition in obs.coalitions:
        return Action(
            "commit_to_coalition", coalition_id=coalition.coalition_id, block_ids=(*used,)
        )
    return Action("send_offer", obs.others[0].lab_id, block_ids=(used[0],)) if obs.others else None


def book(obs: arena.Observation) -> Action | None:
    parts = arena.own_plan(obs).parts
    return (
        Action("allocate_to_job", job_id=parts[0].job_id, block_ids=parts[0].block_ids)
        if parts
        else None
    )


EXPLOITS = {
    "coalition spam": in_turn(coalition_spam),
    "coalition spam after work": in_turn(book, coalition_spam),
    "empty commitments": in_turn(empty_commitments, coalition_spam),
    "looting": in_turn(loot),
    "looting, then work": in_turn(loot, book),
    "gifts": in_turn(gifts),
    "repeated ids": in_turn(repeated_ids),
    "repeated ids, then coalition spam": in_turn(repeated_ids, coalition_spam),
    "stalling": in_turn(stall),
    "pitch spam": in_turn(pitch_spam),
    "pitch spam after work": in_turn(book, pitch_spam),
    "resale of used blocks": in_turn(book, resale),
}


@pytest.mark.nightly
@every_task
@pytest.mark.parametrize("exploit", EXPLOITS)
def test_no_exploit_pays_as_well_as_honest_planning(exploit: str, name: str):
    cheat, planner = played(EXPLOITS[exploit], name, range(40)), figures("planner", name)[:40]
    for column in (0, 1):
        assert clearly_above(planner[:, column], cheat[:, column])


@pytest.mark.slow
def test_coalition_spam_earns_nothing_at_all():
    for name in ("arena/market_round", "arena/coalition_market"):
        utility, reward = played(EXPLOITS["coalition spam"], name, range(20)).T
        waiting = figures("wait", name)[:20, 1]
        assert ((utility == 0) | (utility == arena.BREACH_FINE)).all()  # a partner may break it
        assert utility.mean() < 1
        assert (reward <= waiting + 0.1).all()
        assert reward.mean() < waiting.mean()


def test_looting_takes_no_block():
    task = ARENA_TASKS["arena/coalition_market"]
    for seed in range(20):
        final = rollout(task, EXPLOITS["looting"], seed).final
        own_blocks = {b.block_id for b in final.market.blocks.values() if b.owner_lab_id == "lab_0"}
        assert own_blocks == {f"b_0_{index}" for index in range(4)}


# Bounds


def test_the_bound_in_a_market_that_fits_in_the_head():
    # lab_1's block would earn lab_0 40 - 2; lab_1 has no use for it.
    state = market([block("c", lab=1)], {0: [job("j0")], 1: []})
    assert upper_bound(state).utility == pytest.approx(38)
    # If lab_1 can do its own job of 60 with it, lab_0 can gain nothing by it.
    state = market([block("c", lab=1)], {0: [job("j0")], 1: [job("j1", value=60.0)]})
    assert upper_bound(state).utility == pytest.approx(0)


def test_the_joint_optimum_of_one_lab_is_its_plan():
    for seed in range(15):
        state = begin(ARENA_TASKS["arena/market_round"], seed).state
        everything = arena.best_plan(
            state.market.blocks.values(), state.private["lab_0"].jobs, 0, 5
        )
        assert joint_optimum(state, ["lab_0"]).utility == pytest.approx(everything.gain, abs=1e-4)


@pytest.mark.nightly
@every_task
def test_nobody_exceeds_the_bound_where_no_other_lab_falls_below_its_batna(name: str):
    task, checked = ARENA_TASKS[name], 0
    for seed in range(12):
        bound = upper_bound(begin(task, seed).state)
        assert bound.solved
        for policy in ("planner", "rule_based_expert"):
            game = rollout(task, LABS[policy], seed)
            others = [gain for lab, gain in game.payoffs.items() if lab != "lab_0"]
            if min(others) >= -0.05:
                checked += 1
                assert game.final.private["lab_0"].utility <= bound.utility + 0.1
    assert checked > 2
