"""What the page calls blocks, rounds and deadlines."""

from env import arena
from panels.gpu_arena.names import (
    block_list,
    block_name,
    due,
    job_names,
    readable,
    short_block_name,
    with_names,
)
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


def test_a_message_names_blocks_and_jobs_as_the_page_does():
    obs = world()
    said = "Decide soon: another lab has bid 30.00 for b_1_0."
    expected = "Decide soon: another lab has bid 30.00 for lab_1’s block 1."
    assert with_names(obs.market, said) == expected
    assert with_names(obs.market, "j_0_0 needs b_0_2", {"j_0_0": "Benchmark run"}) == (
        "Benchmark run needs lab_0’s block 3"
    )


def test_blocks_are_listed_in_the_order_of_their_numbers():
    listed = block_list(world().market, ["b_1_0", "b_0_2", "b_0_1"])
    assert listed == "lab_0’s block 2, lab_0’s block 3 and lab_1’s block 1"


def test_a_job_is_named_for_work_and_not_for_its_deadline():
    jobs = [job(f"j_0_{i}")._replace(private_notes="paper_deadline") for i in range(2)]
    assert list(job_names(jobs).values()) == ["Paper experiments 1", "Paper experiments 2"]


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
