"""What the GPU arena tab calls things, what an offer is said to be worth, the first world."""

import numpy as np

from env import arena
from panels.gpu_arena.names import (
    advised,
    block_name,
    deed,
    due,
    short_block_name,
    with_names,
)
from panels.gpu_arena.offers import offers
from panels.gpu_arena.players import LONER, SEED, TASK, made_by
from panels.gpu_arena.reasons import EXPERT, suggested_price, told_price, why, worth
from panels.results.evaluation import DRAWN
from sauda.records.seeds import SPLITS
from sauda.records.store import load
from tests.support.arena_games import block, do, job, market, seen, take

ROUNDS = 5


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


def test_a_message_names_blocks_and_jobs_as_the_page_does():
    obs = world()
    said = "Decide soon: another lab has bid 30.00 for b_1_0."
    expected = "Decide soon: another lab has bid 30.00 for lab_1’s block 1."
    assert with_names(obs.market, said) == expected
    assert with_names(obs.market, "j_0_0 needs b_0_2", {"j_0_0": "Benchmark run"}) == (
        "Benchmark run needs lab_0’s block 3"
    )


def test_an_offer_is_told_as_a_deed_and_as_advice():
    obs = world()
    offer = arena.Action(
        "send_offer", target_lab_id="lab_1", requested_block_ids=("b_1_0",), payment=16.46
    )
    assert deed(obs, "lab_0", offer) == "offers lab_1 16.46 credits for its block 1"
    assert advised(obs, offer) == "offer lab_1 16.46 credits for its block 1"
    booked = arena.Action("allocate_to_job", job_id="j_1_0", block_ids=("b_1_0",))
    assert deed(obs, "lab_1", booked) == "books its block 1"
    held = arena.Action("reserve_capacity", block_ids=("b_0_2",))
    assert advised(obs, held) == "hold lab_0’s block 3"


ENERGY = 2.0  # of each block


def lab_of(*others):
    """What lab_0 sees with the block "own", which alone serves its job of 40 credits."""
    return seen(market([block("own", 0), *others], {0: [job("j", hours=4, value=40.0)]}), 0)


def test_a_sale_is_worth_the_price_less_what_the_block_would_have_earned():
    text, total = worth(lab_of(), ["own"], [], 18.0)
    assert text == "You give own (worth 38.0 to your jobs) and get 18.00 credits"
    assert total == 18.0 - (40.0 - ENERGY)


def test_a_purchase_is_worth_what_the_block_adds_to_the_jobs_less_its_price():
    obs = seen(market([block("theirs", 1)], {0: [job("j", hours=4, value=40.0)]}), 0)
    text, total = worth(obs, [], ["theirs"], -20.0)
    assert text == "You give 20.00 credits and get theirs (worth 38.0 to your jobs)"
    assert total == 18.0


def test_of_a_swap_the_worth_is_that_of_both_blocks_together():
    text, total = worth(lab_of(block("theirs", 1, gpus=1)), ["own"], ["theirs"], 3.0)
    assert (
        text == "You give own and get theirs and 3.00 credits; the swap is worth -38.0 to your jobs"
    )
    assert total == -35.0


def test_an_offer_to_another_lab_is_not_valued():
    state = market([block("own", 0), block("theirs", 1)], {0: [job("j")]}, labs=3)
    state = take(state, "wait")
    state = take(
        state,
        "send_offer",
        target_lab_id="lab_2",
        block_ids=("theirs",),
        conditions=(("ask", 9.0),),
    )
    shown = str(offers(seen(state, 0)))
    assert "lab_1 offers lab_2 theirs for 9.00 credits" in shown
    assert "worth" not in shown
    assert "<button" not in shown


BID = arena.Action(
    "send_offer", target_lab_id="lab_1", requested_block_ids=("theirs",), payment=10.0
)


def test_the_reason_of_a_bid_names_the_job_its_worth_and_what_the_price_leaves():
    obs = seen(market([block("theirs", 1)], {0: [job("j", hours=4, value=40.0)]}), 0)
    reason = why(obs, BID)
    assert "serve Job: +38.0" in reason
    assert "+28.0 credits are yours" in reason


def test_a_suggested_price_is_one_that_pays_and_none_where_no_price_does():
    obs = seen(market([block("theirs", 1)], {0: [job("j", hours=4, value=80.0)]}), 0)
    assert 0 < suggested_price(obs, "lab_1", (), ("theirs",)) < 80.0 - ENERGY
    useless = seen(market([block("theirs", 1)], {0: [job("j", hours=40)]}), 0)
    assert suggested_price(useless, "lab_1", (), ("theirs",)) is None
    assert suggested_price(lab_of(), "lab_1", ("own",), ()) < -(40.0 - ENERGY)


def test_a_refusal_tells_the_price_that_the_other_lab_named():
    state = market([block("theirs", 1), block("own", 0)], {0: [job("j")], 1: []})
    state = do(state, 0, *BID[:1], **{k: v for k, v in BID._asdict().items() if k != "action_type"})
    state = do(
        state,
        1,
        "counter_offer",
        offer_id="o_1",
        block_ids=("theirs",),
        conditions=(("ask", 40.0),),
    )
    obs = seen(state, 0)
    assert told_price(obs, obs.market.closed["o_1"]).startswith("lab_1 wants about 40 credits")


def test_the_first_world_is_the_recorded_one_of_the_median_gain():
    evaluation = load("evaluation/arena-train.json")
    columns = evaluation.data.episodes[DRAWN][TASK]
    gain = np.array(columns[EXPERT].grade) - np.array(columns[LONER].grade)
    median = np.argsort(gain, kind="stable")[(len(gain) - 1) // 2]
    assert SPLITS["train"][int(median)] == SEED
    assert evaluation.config["split"] == "train"
    for name in (EXPERT, LONER):
        assert np.isclose(columns[name].utility[SEED], made_by(name))
