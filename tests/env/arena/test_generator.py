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


@pytest.mark.parametrize("name", TABLE)
def test_every_draw_lies_in_its_range(name: str):
    rounds = TABLE[name][1]
    for seed in SEEDS:
        world = start(name, seed)
        for b in world.market.blocks.values():
            assert 0 <= b.start_round <= max(1, rounds - 2)
            assert b.duration in (1, 2, 3)
            assert b.gpu_count in (1, 2, 4)
            assert 0.72 <= b.reliability <= 0.99
            assert 1.5 <= b.energy_cost <= 6
        for lab in world.market.labs:
            own = world.private[lab]
            assert 70 <= own.budget <= 130
            for j in own.jobs:
                assert j.gpu_hours_required in (2, 3, 4, 6, 8)
                assert 2 <= j.deadline_round <= rounds
                assert 30 <= j.base_value <= 95
                assert 1 <= j.urgency_multiplier <= 1.8
                assert 0.70 <= j.min_reliability <= 0.90


def test_all_five_archetypes_occur_and_none_twice_in_a_market():
    seen = Counter()
    for seed in SEEDS:
        world = start("arena/coalition_market", seed)
        kinds = [world.private[lab].archetype for lab in world.market.labs]
        assert kinds[0] == ""
        assert len(set(kinds)) == len(kinds)
        seen.update(kinds[1:])
    assert seen.keys() == set(arena.ARCHETYPES)
    assert min(seen.values()) > 100  # of 700: 140 each on average


def test_the_eighth_shock_is_either_kind_and_a_surge_has_a_job_for_every_lab():
    kinds = Counter()
    for seed in SEEDS:
        world = start("arena/coalition_market", seed)
        nature = world.private["nature"]
        assert (nature.shocks[3], nature.shocks[6]) == ("capacity_failure", "energy_spike")
        kinds[nature.shocks[8]] += 1
        surge = nature.shocks[8] == "demand_surge"
        assert set(nature.surge) == (set(world.market.labs) if surge else set())
    assert kinds.keys() == {"reliability_degradation", "demand_surge"}
    assert min(kinds.values()) > 70


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


def test_two_seeds_are_two_worlds_and_the_market_does_not_name_its_seed():
    worlds = [start("arena/coalition_market", seed) for seed in (12345, 12346)]
    assert worlds[0] != worlds[1]
    assert "12345" not in repr(worlds[0].market)


@pytest.mark.parametrize("name", TABLE)
def test_a_market_opens_with_nothing_but_labs_and_blocks_that_could_tell_its_seed(name: str):
    opened: dict[int, set] = {}
    for seed in range(50):
        market = start(name, seed).market
        bare = market._replace(labs={}, blocks={}, market_pressure="")
        opened.setdefault(len(market.labs), set()).add(repr(bare))
    assert sum(map(len, opened.values())) == len(TABLE[name][0])  # one for each number of labs


class Altered:
    """A generator whose very first draw is replaced."""

    def __init__(self, seed: int, first: float) -> None:
        self.rng, self.first = np.random.default_rng(seed), first

    def random(self, shape):
        draws = self.rng.random(shape)
        if self.first is not None:
            draws.flat[0], self.first = self.first, None
        return draws


@pytest.mark.parametrize("name", TABLE)
def test_the_first_draw_of_a_seed_shows_nowhere_in_its_world(name: str):
    env = ARENA_TASKS[name].env
    for seed in range(50):
        low, high = (env.reset(Altered(seed, first)) for first in (0.0, 0.999))
        assert low == high


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


@pytest.mark.slow
@pytest.mark.parametrize("now", [0, 2])
def test_the_plan_is_as_good_as_the_best_of_all_assignments(now: int):
    for seed in range(60):
        world = start("arena/coalition_market", seed)
        blocks = list(world.market.blocks.values())[2:7]
        jobs = [*world.private["lab_1"].jobs[:2], world.private["lab_2"].jobs[0]]
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
