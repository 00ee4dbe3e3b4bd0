"""The address of a world of the GPU arena: it opens that world, and tells no secret seed."""

import gradio as gr
import pytest

from panels.gpu_arena import address
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import Layout, lay_out
from panels.gpu_arena.players import FIRST_PLAYER

WORLD = "arena/single_trade"


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(TASK, str(SEED)))


def test_an_address_opens_the_world_that_it_names(page):
    updates = address.open_world(page, FIRST_PLAYER, {"task": WORLD, "seed": "7"})
    game = updates[page.game]
    assert (game.task_name, game.play.seed) == (WORLD, 7)
    assert (updates[page.task], updates[page.seed]) == (WORLD, "7")
    assert address.named_in_address(game) == {"task": WORLD, "seed": "7"}


def test_the_first_world_needs_no_address(page):
    game = address.open_world(page, FIRST_PLAYER, {})[page.game]
    assert (game.task_name, game.play.seed) == (TASK, SEED)
    assert address.named_in_address(game) == {}


def test_a_secret_seed_is_in_no_address(page):
    updates = address.begin_here(page, WORLD, "", FIRST_PLAYER)
    assert address.named_in_address(updates[page.game]) == {"task": WORLD}
    assert "seed" not in updates[page.address.shown]


def test_a_list_of_tasks_that_closes_without_a_choice_leaves_the_game_alone(page):
    game = new_game(WORLD, "7")
    assert page.game not in address.change_task(page, game, WORLD, "7", FIRST_PLAYER)
    for before in (game, None):
        begun = address.change_task(page, before, TASK, "7", FIRST_PLAYER)[page.game]
        assert (begun.task_name, begun.play.seed) == (TASK, 7)


@pytest.mark.parametrize("query", [{"task": "<b>x</b>"}, {"task": WORLD, "seed": "-1"}])
def test_an_address_that_names_no_world_is_answered_in_words(page, query):
    updates = address.open_world(page, FIRST_PLAYER, query)
    assert page.game not in updates
    assert 'role="alert"' in updates[page.problem]
    assert "<b>x" not in updates[page.problem]


def test_a_page_that_opens_without_an_address_shows_the_first_world(page):
    first = new_game(TASK, str(SEED))
    assert address.reopen(page, first, FIRST_PLAYER, "", {})[page.game] is first
    there = address.reopen(page, first, FIRST_PLAYER, "", {"task": WORLD, "seed": "7"})
    assert there[page.game].play.seed == 7
