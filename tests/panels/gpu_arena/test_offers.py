"""What an offer is said to be worth: what it gives, what it costs, and the sum."""

from panels.gpu_arena.offers import offers, worth
from tests.support.arena_games import block, job, market, seen, take

ENERGY = 2.0  # of each block


def lab(*others):
    """What lab_0 sees with the block "own", which alone serves its job of 40 credits."""
    return seen(market([block("own", 0), *others], {0: [job("j", hours=4, value=40.0)]}), 0)


def test_a_sale_is_worth_the_price_less_what_the_block_would_have_earned():
    text, total = worth(lab(), ["own"], [], 18.0)
    assert text == "You give own (worth 38.0 to your jobs) and get 18.00 credits"
    assert total == 18.0 - (40.0 - ENERGY)


def test_a_purchase_is_worth_what_the_block_adds_to_the_jobs_less_its_price():
    obs = seen(market([block("theirs", 1)], {0: [job("j", hours=4, value=40.0)]}), 0)
    text, total = worth(obs, [], ["theirs"], -20.0)
    assert text == "You give 20.00 credits and get theirs (worth 38.0 to your jobs)"
    assert total == 18.0


def test_a_block_that_no_job_needs_is_worth_nothing():
    assert worth(lab(block("theirs", 1)), [], ["theirs"], -5.0) == (
        "You give 5.00 credits and get theirs (worth 0.0 to your jobs)",
        -5.0,
    )


def test_of_a_swap_the_worth_is_that_of_both_blocks_together():
    text, total = worth(lab(block("theirs", 1, gpus=1)), ["own"], ["theirs"], 3.0)
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


def test_an_offer_is_numbered_and_open_to_the_end_of_a_round_counted_from_1():
    state = take(market([block("own", 0), block("b_1_0", 1)], {0: [job("j")]}), "wait")
    state = take(state, "send_offer", target_lab_id="lab_0", block_ids=("b_1_0",))
    obs = seen(state, 0)
    shown = str(offers(obs))
    assert 'title="o_1">Offer 1: lab_1 offers you a trade' in shown
    assert "get lab_1’s block 1 (worth" in shown
    last = obs.market.offers["o_1"].expires_round
    assert f"open to the end of round {last + 1}<" in shown


def test_what_a_lab_says_in_an_offer_is_shown_as_text():
    state = take(market([block("own", 0), block("theirs", 1)], {0: [job("j")]}), "wait")
    state = take(
        state, "send_offer", target_lab_id="lab_0", block_ids=("theirs",), message="<b>now</b>"
    )
    assert "&lt;b&gt;now" in str(offers(seen(state, 0)))
