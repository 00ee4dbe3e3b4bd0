"""What the page calls blocks, rounds and deadlines."""

from env import arena
from panels.gpu_arena.names import block_name, due, readable, short_block_name
from panels.gpu_arena.words import advised, deed
from tests.support.arena_games import block, job, market, seen

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


def test_sentences_of_the_engine_count_rounds_from_1_and_name_what_they_speak_of():
    obs = world()
    assert readable(obs, "held until the end of round 0") == "held until the end of round 1"
    assert readable(obs, "o_2 is settled; b_1_0 is not yours") == (
        "offer 2 is settled; lab_1’s block 1 is not yours"
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
