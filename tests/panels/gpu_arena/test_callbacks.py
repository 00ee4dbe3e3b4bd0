"""What the GPU arena tab does on each event, without a browser."""

import gradio as gr
import pytest

from panels.gpu_arena import callbacks
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.layout import Layout, lay_out

WORLD = "arena/single_trade"


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(WORLD, "5"), "")


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


def test_an_action_that_fails_shows_one_sentence_and_changes_nothing_else(page):
    game = new_game(WORLD, "5")
    for updates, expected in (
        (callbacks.begin(page, WORLD, "many"), "A seed is a whole number"),
        (callbacks.take_step(page, None, "planner", None), "put away after an hour"),
        (callbacks.toggle_run(page, None, running=False), "put away after an hour"),
        (callbacks.act_by_form(page, game, None, None, 0, 0, 0, ""), "Choose an action first"),
        (callbacks.act_by_json(page, game, None, "give"), "An action is JSON such as"),
    ):
        assert list(updates) == [page.problem]
        assert expected in updates[page.problem]


def test_the_form_shows_the_fields_of_the_chosen_action(page):
    updates = callbacks.choose_action(page, '{"action_type": "wait"}')
    assert not any(updates[part].visible for part in page.terms[1:])
    offer = '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 2.0}'
    updates = callbacks.choose_action(page, offer)
    assert (updates[page.payment].value, updates[page.payment].visible) == (2.0, True)
    assert updates[page.message].visible
