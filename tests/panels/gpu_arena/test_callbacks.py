"""What the GPU arena tab does on each event, without a browser."""

import gradio as gr
import pytest

from panels.gpu_arena import callbacks
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import Layout, lay_out
from panels.site.calls import may_hold
from sauda.sessions.arena import ArenaGame

WORLD = "arena/single_trade"


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(WORLD, "5"))


@pytest.fixture
def first() -> ArenaGame:
    """The first world: b_0_2 serves the job j_0_0, b_1_1 of lab_1 would serve j_0_1."""
    return new_game(TASK, str(SEED))


def test_a_run_starts_pauses_and_takes_steps_until_it_is_paused(page):
    game = new_game(WORLD, "5")
    started = callbacks.toggle_run(page, game, running=False)
    assert (started[page.run].value, started[page.clock].active) == ("Pause", True)
    ticked = callbacks.tick(page, game, "planner", None)
    assert (len(ticked[page.game].movers), ticked[page.running]) == (1, True)
    paused = callbacks.toggle_run(page, ticked[page.game], running=True)
    assert (paused[page.run].value, paused[page.running]) == ("Run", False)


def test_a_step_by_hand_pauses_a_run_and_stays_at_the_type_of_action(page):
    updates = callbacks.take_step(page, new_game(WORLD, "5"), "planner", "wait")
    assert (updates[page.running], updates[page.kind].value) == (False, "wait")


def test_advice_is_the_action_that_a_step_takes_and_leaves_the_game_as_it_is(page, first):
    advice = callbacks.advise(page, first, "planner")
    assert list(advice) == [page.problem]
    assert "Planner’s advice: offer Lab A 16.46 credits for its block 2" in advice[page.problem]
    stepped = callbacks.take_step(page, first, "planner", None)
    assert "Your lab offers Lab A 16.46 credits for its block 2" in stepped[page.last_step]


def test_an_action_that_fails_shows_one_sentence_and_changes_nothing_else(page):
    game = new_game(WORLD, "5")
    for updates, expected in (
        (callbacks.begin(page, WORLD, "many", "planner"), "A seed is a whole number"),
        (callbacks.take_step(page, None, "planner", None), "put away after an hour"),
        (callbacks.take_step(page, game, "nobody", None), "The policies of lab_0 are planner"),
        (callbacks.advise(page, None, "planner"), "put away after an hour"),
        (callbacks.toggle_run(page, None, running=False), "put away after an hour"),
        (callbacks.wait_for_round(page, None, None), "put away after an hour"),
        (callbacks.act_by_form(page, game, None, None, 0, 0, 0, ""), "Choose an action first"),
        (callbacks.act_by_json(page, game, None, "give"), "An action is JSON such as"),
    ):
        assert list(updates) == [page.problem]
        assert expected in updates[page.problem]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"action_type": "steal"}', "The rules refuse this: there is no action_type"),
        (
            '{"action_type": "accept_offer", "offer_id": "o_7"}',
            "The rules refuse this: there is no offer 7",
        ),
        (
            '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 94}',
            "You have 93.53 credits to spend, and this offer pays 94.00",
        ),
        (
            '{"action_type": "allocate_to_job", "job_id": "j_0_1", "block_ids": ["b_1_1"]}',
            "The rules refuse this: Lab A’s block 2 is neither yours nor in a pool of yours",
        ),
    ],
)
def test_what_the_rules_would_refuse_is_said_in_a_sentence_and_costs_no_action(
    page, first, text, expected
):
    updates = callbacks.act_by_json(page, first, None, text)
    assert list(updates) == [page.problem]
    assert expected in updates[page.problem]
    assert "; this cost no action." in updates[page.problem]


@pytest.mark.parametrize(
    ("payment", "ask", "share", "expected"),
    [
        (-5, 0, 0.5, "“You pay, credits” takes a number from 0 to 1,000,000, not -5"),
        (1e300, 0, 0.5, "“You pay, credits” takes a number from 0 to 1,000,000"),
        (5, -1, 0.5, "“They pay you, credits” takes a number from 0 to 1,000,000, not -1"),
        (5, "much", 0.5, "“They pay you, credits” takes a number from 0 to 1,000,000"),
        (94, 0, 0.5, "You have 93.53 credits to spend, and this offer pays 94.00"),
    ],
)
def test_a_number_that_cannot_be_is_answered_in_a_sentence_and_costs_no_action(
    page, first, payment, ask, share, expected
):
    choice = '{"action_type": "send_offer", "target_lab_id": "lab_1"}'
    updates = callbacks.act_by_form(page, first, None, choice, payment, ask, share, "")
    assert list(updates) == [page.problem]
    assert expected in updates[page.problem]
    assert "; this cost no action." in updates[page.problem]


@pytest.mark.parametrize("share", [-0.1, 1.5, None])
def test_the_owners_share_of_a_pool_lies_between_0_and_1(page, first, share):
    choice = '{"action_type": "form_coalition", "target_lab_id": "lab_1"}'
    updates = callbacks.act_by_form(page, first, None, choice, 0, 0, share, "")
    assert "“Owner’s share of a pooled gain, 0 to 1” takes a number" in updates[page.problem]


@pytest.mark.parametrize("field", ["payment", "ask", "share"])
def test_the_page_lets_every_number_of_the_form_reach_its_sentence(page, field):
    assert all(may_hold(getattr(page, field), value) for value in (-5, 1e200, None))


def test_pressed_blocks_say_what_they_would_do_and_a_pressed_job_books_them(page, first):
    outlook = callbacks.press_calendar(page, first, ["b_0_2"], None, None)
    assert list(outlook) == [page.hint]
    assert "2 of 2 GPU-hours on time" in outlook[page.hint]
    assert "Paper experiments 2 takes all its 8 GPU-hours in one booking" in outlook[page.hint]
    booked = callbacks.press_calendar(page, first, ["b_0_2"], "j_0_0", None)[page.game]
    assert booked.steps[0].results[0].code == "job_allocated"


@pytest.mark.parametrize(
    ("blocks", "job", "want", "expected"),
    [
        ([], "j_0_0", None, "Press one or more of your blocks first, then the job"),
        (["b_0_2"], "j_0_1", None, "takes all its 8 GPU-hours in one booking, and there are 6"),
        (["b_0_0"], "j_0_0", None, "reliability 0.89 or more, and your block 1 has 0.72"),
        (["b_0_2"], "j_9_9", None, "The rules refuse this: you have no job j_9_9"),
        (["b_9_9"], None, None, "There is no block b_9_9 on the calendar"),
        ([], None, "b_0_2", "Choose a block of another lab"),
    ],
)
def test_a_press_that_cannot_be_is_answered_beside_the_calendar_and_costs_nothing(
    page, first, blocks, job, want, expected
):
    updates = callbacks.press_calendar(page, first, blocks, job, want)
    assert list(updates) == [page.hint]
    assert expected in updates[page.hint]


@pytest.mark.parametrize("odd", [None, 5, {}, [[1]], "x" * 5000, [None]])
def test_whatever_a_client_sends_for_a_press_leaves_the_game_as_it_is(page, first, odd):
    pressed = (
        callbacks.press_calendar(page, first, odd, odd, None),
        callbacks.press_calendar(page, first, None, None, odd),
        callbacks.press_calendar(page, None, odd, odd, odd),
        callbacks.press_offer(page, first, odd, odd),
    )
    for updates in pressed:
        assert page.game not in updates


def test_a_press_of_anothers_block_fills_the_form_with_an_offer_for_it(page, first):
    updates = callbacks.press_calendar(page, first, [], None, "b_1_1")
    assert "Lab A’s block 2 would add 78.1 credits" in updates[page.hint]
    assert updates[page.other_actions].open
    assert updates[page.kind].value == "send_offer"
    assert '"requested_block_ids": ["b_1_1"]' in updates[page.choice].value
    assert updates[page.payment].visible
    useless = callbacks.press_calendar(page, first, [], None, "b_2_0")
    assert "would add nothing" in useless[page.hint]


def test_an_offer_is_taken_or_answered_by_its_buttons(page, first):
    bid = '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 10,'
    bid += ' "requested_block_ids": ["b_1_1"]}'
    game = callbacks.act_by_json(page, first, None, bid)[page.game]
    shown = callbacks.show(page, game)
    assert "You give your block 3 (worth" in shown[page.offers]
    assert "and get 34.71 credits" in shown[page.offers]
    taken = callbacks.press_offer(
        page, game, '{"action_type": "accept_offer", "offer_id": "o_2"}', None
    )
    assert taken[page.game].steps[-1].results[0].code == "offer_accepted"
    countered = callbacks.press_offer(page, game, None, "o_2")
    assert (countered[page.kind].value, page.game in countered) == ("counter_offer", False)


def test_once_the_game_is_over_nothing_can_be_done_in_it(page):
    ended = callbacks.act_by_json(page, new_game(WORLD, "5"), None, '{"action_type": "finish"}')
    assert ended[page.game].over
    assert not ended[page.other_actions].visible
    for button in (page.advice, page.step, page.run):
        assert not ended[button].interactive
    assert callbacks.begin(page, WORLD, "5", "planner")[page.other_actions].visible
    assert "Played now: single trade at seed 5." in ended[page.settlement]


def test_what_a_lab_says_and_the_form_show_no_name_of_the_code(page, first):
    bid = '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 10,'
    bid += ' "requested_block_ids": ["b_1_1"], "message": "b_1_1 for j_0_1"}'
    shown = callbacks.act_by_json(page, first, None, bid)
    for part in (page.last_step, page.message_board, page.log, page.offers):
        assert "for b_1" not in shown[part]
    assert "“Lab A’s block 2 for Paper experiments 2”" in shown[page.last_step]
    chosen = callbacks.choose_action(page, bid)
    assert chosen[page.purpose].endswith("to another lab.</p>")


def test_the_form_shows_the_fields_of_the_chosen_action(page):
    updates = callbacks.choose_action(page, '{"action_type": "wait"}')
    assert not any(updates[part].visible for part in page.terms[1:])
    offer = '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 2.0}'
    updates = callbacks.choose_action(page, offer)
    assert (updates[page.payment].value, updates[page.payment].visible) == (2.0, True)
    assert updates[page.message].visible


def test_a_tab_without_an_earlier_game_finds_the_first_world(page, first):
    found = callbacks.resume(page, first, "")
    assert found[page.game] is first
    assert page.problem not in found
    lost = callbacks.resume(page, first, "a session that is gone")
    assert lost[page.game] is first
    assert "this is a new one" in lost[page.problem]
