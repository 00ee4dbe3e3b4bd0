"""The arena's worlds and plans: what is drawn, from which stream, and the exact assignment."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from env import ARENA_TASKS, arena, begin
from tests.support.arena_games import block, job

SEEDS = range(200)
TABLE = {  # labs, rounds, blocks a lab, jobs a lab
    "arena/single_trade": ({2}, 3, 2, 1),
    "arena/market_round": ({3}, 5, 3, 2),
    "arena/coalition_market": ({4, 5}, 9, 4, 3),
}


def start(name: str, seed: int) -> arena.State:
    return begin(ARENA_TASKS[name], seed).state


@pytest.mark.parametrize("name", TABLE)
def test_a_world_has_the_size_of_its_task(name: str):
    labs, rounds, blocks, jobs = TABLE[name]
    worlds = [start(name, seed) for seed in SEEDS]
    assert {len(world.market.labs) for world in worlds} == labs
    for world in worlds:
        assert world.market.max_rounds == rounds
        owners = Counter(b.owner_lab_id for b in world.market.blocks.values())
        assert set(owners.values()) == {blocks}
        assert {len(world.private[lab].jobs) for lab in world.market.labs} == {jobs}


def test_what_one_lab_does_changes_neither_shocks_nor_another_lab_s_luck():
    size = arena.SIZES["arena/coalition_market"]
    fewer = arena.Size(size.labs, size.max_rounds, size.blocks, jobs=1, shocks=size.shocks)
    for seed in range(20):
        one, two = (
            arena.GpuBudgetNegotiationEnv("x", s).reset(np.random.default_rng(seed))
            for s in (size, fewer)
        )
        if len(one.market.labs) == len(two.market.labs):  # other jobs, yet the same fate
            assert one.private["nature"].shocks == two.private["nature"].shocks
            assert one.private["nature"].frail == two.private["nature"].frail
            for lab in one.market.labs:
                assert one.private[lab].chance == two.private[lab].chance


@pytest.mark.parametrize("name", TABLE)
def test_only_labs_blocks_and_opening_offers_can_tell_the_seed_of_a_market(name: str):
    opened: dict[int, set] = {}
    for seed in range(50):
        market = start(name, seed).market
        bare = market._replace(labs={}, blocks={}, market_pressure="", offers={}, messages=())
        opened.setdefault(len(market.labs), set()).add(repr(bare))
    assert sum(map(len, opened.values())) == len(TABLE[name][0])  # one for each number of labs


def test_labs_own_what_others_need():
    for name in TABLE:
        alone = [start(name, seed).private["lab_0"] for seed in SEEDS]
        assert sum(own.batna for own in alone) < 0.4 * sum(own.stake for own in alone)


@pytest.mark.parametrize("name", ["arena/market_round", "arena/coalition_market"])
def test_a_third_of_the_markets_open_with_an_offer_worth_taking(name: str):
    task, worth = ARENA_TASKS[name], 0
    for seed in SEEDS:
        obs = task.env.observe(start(name, seed), "lab_0")
        assert len(obs.incoming) <= len(obs.others)
        worth += any(arena.offer_gain(obs, offer) >= 5 for offer in obs.incoming)
    assert worth >= len(SEEDS) / 3


def test_a_shock_is_announced_in_the_round_before_it_strikes():
    for seed in range(20):
        task = ARENA_TASKS["arena/coalition_market"]
        state, announced = start(task.name, seed), {}
        while state.market.queue:
            announced[state.market.round_index + 1] = state.market.announced
            state = task.env.step(state, arena.Action("wait"))
        struck = {shock.round_index: shock.kind for shock in state.market.shock_history}
        assert struck == {r: kind for r, kind in announced.items() if kind}
        assert "demand_surge" in struck.values()


# Plans


def by_hand(blocks, jobs, now: int, horizon: int) -> float:
    """The best assignment, by trying them all."""
    best = 0.0
    for serves in product(range(len(jobs) + 1), repeat=len(blocks)):
        total = 0.0
        for index, work in enumerate(jobs):
            assigned = [b for b, to in zip(blocks, serves, strict=True) if to == index]
            added = arena.booking_gain(work, assigned, now, horizon) if assigned else 0.0
            total += -1e9 if added is None else added
        best = max(best, total)
    return best


@pytest.mark.parametrize("now", [0, 2])
def test_the_plan_is_as_good_as_the_best_of_all_assignments(now: int):
    for seed in range(60):
        world = start("arena/coalition_market", seed)
        blocks = list(world.market.blocks.values())[2:7]
        jobs = [*world.private["lab_1"].jobs[:2], world.private["lab_2"].jobs[0]]
        jobs = [work._replace(joint=False) for work in jobs]
        blocks = [b for b in blocks if b.start_round + b.duration > now]
        plan = arena.best_plan(blocks, jobs, now, 9)
        assert plan.gain == pytest.approx(by_hand(blocks, jobs, now, 9))
        used = [b for part in plan.parts for b in part.block_ids]
        assert len(used) == len(set(used))
        assert plan.gain == pytest.approx(sum(part.gain for part in plan.parts))


def test_a_plan_in_the_head():
    blocks = [block("a"), block("b"), block("c", gpus=1)]  # 4, 4 and 2 hours, energy 2 each
    jobs = [job("six", hours=6, value=60.0), job("four", hours=4, value=50.0)]
    plan = arena.best_plan(blocks, jobs, 0, 5)
    assert plan.gain == 60 - 4 + 50 - 2
    assert arena.best_plan(blocks[:2], jobs, 0, 5).gain == 60 - 4  # eight hours: not both
    assert arena.best_plan(blocks[:1], jobs, 0, 5).parts == (arena.Part("four", ("a",), 48),)
