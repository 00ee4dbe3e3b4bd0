"""What the GPU arena tab calls things, what an offer is said to be worth, the first world."""

import numpy as np
import pytest

from env import arena
from panels.gpu_arena.offers import offers
from panels.gpu_arena.players import LONER, SEED, TASK, made_by
from panels.gpu_arena.words import EXPERT, block_name, due, short_block_name, suggested_price, worth
from panels.results.evaluation import DRAWN
from sauda.records.seeds import SPLITS
from sauda.records.store import load
from tests.support.arena_games import block, job, market, seen, take

ROUNDS = 5
ENERGY = 2.0  # of each block


def world(**deadline):
    """What lab_0 sees: its block b_0_2, and lab_1's b_1_0."""
    jobs = {0: [job("j_0_0", **deadline)]}
    return seen(market([block("b_0_2", 0), block("b_1_0", 1)], jobs, rounds=ROUNDS), 0)


def test_a_block_keeps_the_name_of_the_lab_that_had_it_at_first():
    obs = world()
    assert block_name(obs.market, "b_1_0") == "lab_1’s block 1"
    bought = obs.market.blocks["b_1_0"]._replace(owner_lab_id="lab_0")
    assert short_block_name(obs.market, bought) == "Block 1 from lab_1"
    assert short_block_name(obs.market, obs.market.blocks["b_0_2"]) == "Block 3"


def test_hours_count_in_full_up_to_the_end_of_the_round_that_the_deadline_names():
    obs = world(deadline=2)
    (task,) = obs.own.jobs
    assert due(task, obs.market) == "end of round 2"
    last_in_time = obs.market.blocks["b_0_2"]._replace(start_round=1, duration=1)  # round 2 shown
    too_late = last_in_time._replace(start_round=2)
    assert arena.hours(last_in_time, task, 0, ROUNDS) == (2, 0)
    assert arena.hours(too_late, task, 0, ROUNDS) == (0, 2)
    assert due(task._replace(deadline_round=9), obs.market) == "end of round 5"


def buyer(hours: int = 4, value: float = 40.0):
    """What lab_0 sees without a block of its own; lab_1 has one, which serves its job."""
    return seen(market([block("theirs", 1)], {0: [job("j", hours=hours, value=value)]}), 0)


def owner(*others):
    """What lab_0 sees with the block "own", which alone serves its job of 40 credits."""
    return seen(market([block("own", 0), *others], {0: [job("j", hours=4, value=40.0)]}), 0)


@pytest.mark.parametrize(
    ("obs", "given", "received", "money", "text", "total"),
    [
        (owner(), ["own"], [], 18.0,
         "You give own (worth 38.0 to your jobs) and get 18.00 credits", 18.0 - (40.0 - ENERGY)),
        (buyer(), [], ["theirs"], -20.0,
         "You give 20.00 credits and get theirs (worth 38.0 to your jobs)", 18.0),
        (owner(block("theirs", 1, gpus=1)), ["own"], ["theirs"], 3.0,
         "You give own and get theirs and 3.00 credits; the swap is worth -38.0 to your jobs",
         -35.0),
    ],
    ids=["sale", "purchase", "swap"],
)  # fmt: skip
def test_a_trade_is_worth_what_the_jobs_gain_and_the_money(
    obs, given, received, money, text, total
):
    assert worth(obs, given, received, money) == (text, total)


def test_an_offer_to_another_lab_is_not_valued():
    state = market([block("own", 0), block("theirs", 1)], {0: [job("j")]}, labs=3)
    asked = {"block_ids": ("theirs",), "conditions": (("ask", 9.0),)}
    state = take(take(state, "wait"), "send_offer", target_lab_id="lab_2", **asked)
    shown = str(offers(seen(state, 0)))
    assert "lab_1 offers lab_2 theirs for 9.00 credits" in shown
    assert "worth" not in shown
    assert "<button" not in shown


def test_a_suggested_price_is_one_that_pays_and_none_where_no_price_does():
    assert 0 < suggested_price(buyer(value=80.0), "lab_1", (), ("theirs",)) < 80.0 - ENERGY
    assert suggested_price(buyer(hours=40), "lab_1", (), ("theirs",)) is None
    assert suggested_price(owner(), "lab_1", ("own",), ()) < -(40.0 - ENERGY)


def test_the_first_world_is_the_recorded_one_of_the_median_gain():
    evaluation = load("evaluation/arena-train.json")
    columns = evaluation.data.episodes[DRAWN][TASK]
    gain = np.array(columns[EXPERT].grade) - np.array(columns[LONER].grade)
    median = np.argsort(gain, kind="stable")[(len(gain) - 1) // 2]
    assert SPLITS["train"][int(median)] == SEED
    assert evaluation.config["split"] == "train"
    for name in (EXPERT, LONER):
        assert np.isclose(columns[name].utility[SEED], made_by(name))
