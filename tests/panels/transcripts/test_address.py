"""The address of Any game: it plays the choice that it names."""

import gradio as gr
import pytest

from panels.transcripts import callbacks
from panels.transcripts.episodes import play
from panels.transcripts.layout import Layout, lay_out
from sauda.experiments.episodes import POLICIES, SEED


@pytest.fixture(scope="module")
def page() -> Layout:
    episodes = play(callbacks.FIRST_TASK, SEED, POLICIES)
    with gr.Blocks():
        return lay_out(callbacks.FIRST_TASK, POLICIES, episodes)


def test_an_address_plays_the_task_the_seed_and_the_policies_that_it_names(page):
    query = {"task": "bazaar/open", "seed": "9", "policies": "wait"}
    updates = callbacks.from_address(page, query)
    (episode,) = updates[page.episodes].values()
    assert (episode.task, episode.seed) == ("bazaar/open", 9)
    assert (updates[page.task], updates[page.seed]) == ("bazaar/open", "9")
    assert callbacks.named_in_address("bazaar/open", "9", ["wait"]) == query


def test_the_choice_that_the_tab_opens_with_needs_no_address(page):
    assert callbacks.named_in_address(callbacks.FIRST_TASK, str(SEED), list(POLICIES)) == {}
    assert set(callbacks.from_address(page, {})[page.episodes]) == set(POLICIES)


@pytest.mark.parametrize("query", [{"task": "<b>x"}, {"seed": "many"}, {"policies": "nobody,<b>x"}])
def test_an_address_that_cannot_be_played_is_answered_in_words(page, query):
    problem = callbacks.from_address(page, query)[page.problem]
    assert 'role="alert"' in problem
    assert "<b>x" not in problem


def test_a_list_of_tasks_that_closes_without_a_choice_leaves_the_episodes_alone(page):
    episodes = play(callbacks.FIRST_TASK, SEED, POLICIES)
    closed = callbacks.change_task(page, callbacks.FIRST_TASK, episodes, str(SEED))
    assert page.episodes not in closed
    chosen = callbacks.change_task(page, "bazaar/open", episodes, str(SEED))
    assert {episode.task for episode in chosen[page.episodes].values()} == {"bazaar/open"}
