"""The arena's worlds and plans: what is drawn, from which stream, and the exact assignment."""

from itertools import product

import numpy as np
import pytest

from env import ARENA_TASKS, arena, begin

SEEDS = range(200)
NUMBERS = {"arena/single_trade": 1, "arena/market_round": 1, "arena/coalition_market": 2}  # of labs


def start(name: str, seed: int) -> arena.State:
    return begin(ARENA_TASKS[name], seed).state


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


@pytest.mark.parametrize("name", NUMBERS)
def test_only_labs_blocks_and_opening_offers_can_tell_the_seed_of_a_market(name: str):
    opened: dict[int, set] = {}
    for seed in range(50):
        market = start(name, seed).market
        bare = market._replace(labs={}, blocks={}, market_pressure="", offers={}, messages=())
        opened.setdefault(len(market.labs), set()).add(repr(bare))
    assert sum(map(len, opened.values())) == NUMBERS[name]


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
