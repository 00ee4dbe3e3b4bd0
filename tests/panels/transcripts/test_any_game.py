"""Any game: episodes side by side, step by step, their downloads and their address."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest

from env import ARENA_TASKS, get_task, rollout
from panels.transcripts import episodes as played_episodes
from panels.transcripts import tab, view
from panels.transcripts.episodes import play
from panels.ui.offers import Offers, offers_of
from sauda.experiments.comparison import BASE, LAB, OURS, ArenaModelComparison
from sauda.experiments.episodes import POLICIES, SEED
from sauda.experiments.evaluate import ArenaColumns
from sauda.llm.backends import SEATS
from sauda.llm.registry import get_policy
from sauda.llm.server import Ready
from sauda.records.seeds import SPLITS


def test_a_step_shows_that_many_moves_and_a_strip_who_gave_in():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    naive = rollout(task, get_policy(task, "naive"), 0)
    assert offers_of(naive, 3) == Offers((60.0, 54.0), (48.0,), 8, None, (30, 100))
    assert str(view.talk(naive, 3)).count("<li") == 3
    strips = str(view.strips(naive, len(naive.turns)))
    assert "2 of 8 rounds" in strips
    assert "✓ seller accepted ₹51" in strips


@pytest.mark.parametrize(
    ("seed", "policies", "expected"),
    [
        *((seed, 1, "whole number") for seed in (-1, 1.5, None, "NaN", True, 10**41)),
        *((0, policies, "one to 4 policies") for policies in (0, 5)),
    ],
)
def test_a_bad_choice_is_answered_with_what_was_expected(seed, policies, expected):
    with pytest.raises(ValueError, match=expected):
        play("classic/single_deal", seed, ["naive"] * policies)


@pytest.fixture(scope="module")
def page() -> tab.Page:
    with gr.Blocks(), gr.Tab() as part:
        return tab.Page(part)


def test_an_address_plays_the_task_the_seed_and_the_policies_that_it_names(page):
    query = {"task": "bazaar/open", "seed": "9", "policies": "wait"}
    updates = tab.from_address(page, query)
    (episode,) = updates[page.episodes].values()
    assert (episode.task, episode.seed) == ("bazaar/open", 9)
    assert (updates[page.task], updates[page.seed]) == ("bazaar/open", "9")
    assert tab.game_in_address("bazaar/open", "9", ["wait"]) == query


@pytest.mark.parametrize("query", [{"task": "<b>x"}, {"seed": "many"}, {"policies": "nobody,<b>x"}])
def test_an_address_that_cannot_be_played_is_answered_in_words(page, query):
    problem = tab.from_address(page, query)[page.transcripts]
    assert 'role="alert"' in problem
    assert "<b>x" not in problem


def test_a_list_of_tasks_that_closes_without_a_choice_leaves_the_episodes_alone(page):
    episodes = play(tab.FIRST_TASK, SEED, POLICIES)
    closed = tab.change_task(page, tab.FIRST_TASK, episodes, str(SEED))
    assert page.episodes not in closed
    chosen = tab.change_task(page, "bazaar/open", episodes, str(SEED))
    assert {episode.task for episode in chosen[page.episodes].values()} == {"bazaar/open"}


MARKET = "arena/coalition_market"


@pytest.fixture(scope="module")
def demo():
    """The default of the arena: both experts on coalition_market at seed 5."""
    names, seed = played_episodes.usual(MARKET, list(POLICIES), "50000")
    return play(MARKET, seed, names)


def test_a_step_shows_so_many_actions_of_the_learner_with_codes_and_sums(demo):
    assert list(demo) == ["broker", "rule_based_expert"]
    taken = [len(episode.trajectory("lab_0")) for episode in demo.values()]
    for step in (1, 6):
        shown = str(view.columns(demo, step))
        assert shown.count("sauda-money") == sum(min(step, count) for count in taken)
    whole = str(view.columns(demo, view.longest(demo)))
    for episode in demo.values():
        assert f"Grade {ARENA_TASKS[MARKET].grade(episode.final):.3f}" in whole
        assert f"Utility {episode.final.private['lab_0'].utility:.2f} credits" in whole


def test_what_is_downloaded_is_what_is_shown_as_data_and_as_prose(demo):
    links = re.findall(r"base64,([^\"]+)", view.again(demo))
    data, prose = (b64decode(link).decode() for link in links)
    moves = [len(row["moves"]) for row in json.loads(data)]
    assert moves == [len(episode.turns) for episode in demo.values()]
    assert prose.count(f"# {MARKET}, seed 5: ") == 2


def test_before_and_after_is_the_seed_of_the_median_gain_of_training(arena_evaluation):
    def recorded(after, before):
        grades = {LAB: after, BASE: before}
        pair = {n: ArenaColumns.model_construct(grade=own) for n, own in grades.items()}
        data = ArenaModelComparison.model_construct(episodes={MARKET: pair})
        return replace(arena_evaluation, data=data)

    first = SPLITS["holdout"][0]
    even = recorded([0.4, 0.1, 0.3, 0.9], [0.0, 0.0, 0.0, 0.0])
    assert played_episodes.median_gain(even, MARKET) == first + 2
    fewer = recorded([0.5, 0.5, 0.5, 0.6], [0.4, 0.0, 0.2])  # the untrained played three
    assert played_episodes.median_gain(fewer, MARKET) == first + 2


def test_play_starts_a_game_of_one_move_and_none_without_moves():
    with gr.Blocks():
        player = tab.Player()
        starts, stays = (player.start_or_stop(False, moves, moves) for moves in (1, 0))
    assert (starts[player.clock].active, stays[player.clock].active) == (True, False)
    assert player.step in starts  # from the first move again
    assert player.step not in stays


def test_saudas_weights_are_loaded_once_however_a_row_calls_them(monkeypatch):
    asked, task = [], get_task("bazaar/open")
    worker = SimpleNamespace(for_visitor=lambda _: worker, wait=lambda _: Ready("", "", 0.0))
    monkeypatch.setattr(played_episodes, "in_page", lambda name: asked.append(name) or worker)
    own = SEATS["buyer"].model
    for name in (own, OURS, f"{OURS}+steering", BASE):
        played_episodes.of_this_page(task, name)
    assert asked == [own, own, own, BASE]
