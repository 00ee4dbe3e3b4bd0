"""Any game: episodes side by side, step by step, their downloads and their address."""

import json
from dataclasses import replace

import gradio as gr
import pytest

from env import ARENA_TASKS, get_task, rollout
from panels.transcripts import arena as arena_transcripts
from panels.transcripts import callbacks, playing, view
from panels.transcripts import episodes as played_episodes
from panels.transcripts.episodes import play
from panels.transcripts.layout import Layout, lay_out
from panels.ui.offers import Offers, offers_of
from sauda.experiments.comparison import BASE, LAB, ArenaModelColumns, ArenaModelComparison
from sauda.experiments.episodes import POLICIES, SEED
from sauda.llm.registry import get_policy
from sauda.records.seeds import SPLITS


@pytest.fixture(scope="module")
def naive():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    return rollout(task, get_policy(task, "naive"), 0)


def test_a_step_shows_that_many_moves(naive):
    assert offers_of(naive, 3) == Offers((60.0, 54.0), (48.0,), 8, None, (30, 100))
    assert str(view.talk(naive, 3)).count("<li") == 3


def test_a_strip_is_as_long_as_the_rounds_and_says_who_gave_in(naive):
    shown = str(view.strips(naive, len(naive.turns)))
    assert "2 of 8 rounds" in shown
    assert "✓ seller accepted ₹51" in shown


@pytest.mark.parametrize("seed", [-1, 1.5, None, "abc", "NaN", True, 10**41])
def test_a_bad_seed_is_answered_with_what_was_expected(seed):
    with pytest.raises(ValueError, match="whole number"):
        played_episodes.play("classic/single_deal", seed, ["naive"])


@pytest.mark.parametrize("names", [[], ["naive"] * 5])
def test_none_or_five_policies_are_refused(names):
    with pytest.raises(ValueError, match="one to 4 policies"):
        played_episodes.play("classic/single_deal", 0, names)


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


MARKET = "arena/coalition_market"


@pytest.fixture(scope="module")
def demo():
    """The default of the arena: both experts on coalition_market at seed 5."""
    names, seed = played_episodes.usual(MARKET, list(POLICIES), "50000")
    return played_episodes.play(MARKET, seed, names)


def test_going_to_the_arena_shows_its_own_pair_and_seed_and_back_the_bazaars(demo):
    assert list(demo) == ["broker", "rule_based_expert"]
    assert {episode.seed for episode in demo.values()} == {5}
    back = played_episodes.usual("classic/single_deal", list(demo), "5")
    assert back == (list(POLICIES), str(SEED))
    assert played_episodes.usual("arena/market_round", ["wait"], "9") == (["wait"], "9")


def test_a_step_shows_so_many_actions_of_the_learner_with_codes_and_sums(demo):
    taken = [len(episode.trajectory("lab_0")) for episode in demo.values()]
    for step in (1, 3, 6):
        shown = str(view.columns(demo, step))
        assert shown.count("sauda-money") == sum(min(step, count) for count in taken)
    assert "Utility" not in str(view.columns(demo, 1))
    whole = str(view.columns(demo, view.longest(demo)))
    for episode in demo.values():
        assert f"Grade {ARENA_TASKS[MARKET].grade(episode.final):.3f}" in whole
        own = episode.final.private["lab_0"]
        assert f"Utility {own.utility:.2f} credits" in whole
    assert whole.count("<b>shock</b>") == sum(
        len(episode.final.market.shock_history) for episode in demo.values()
    )


def test_what_is_downloaded_is_what_is_shown_as_data_and_as_prose(demo):
    with open(played_episodes.json_file(demo), encoding="utf-8") as file:
        rows = json.load(file)
    assert [len(row["moves"]) for row in rows] == [len(e.turns) for e in demo.values()]
    with open(played_episodes.markdown_file(demo), encoding="utf-8") as file:
        text = file.read()
    assert text.count(f"# {MARKET}, seed 5: ") == 2
    assert "job_allocated" in text


def test_before_and_after_is_the_seed_of_the_median_gain_of_training(arena_evaluation):
    def recorded(after, before):
        grades = {LAB: after, BASE: before}
        pair = {n: ArenaModelColumns.model_construct(grade=own) for n, own in grades.items()}
        data = ArenaModelComparison.model_construct(episodes={MARKET: pair})
        return replace(arena_evaluation, data=data)

    first = SPLITS["holdout"][0]
    odd = recorded([0.9, 0.2, 0.5], [0.0, 0.0, 0.0])
    assert arena_transcripts.before_and_after(odd, MARKET) == first + 2
    even = recorded([0.4, 0.1, 0.3, 0.9], [0.0, 0.0, 0.0, 0.0])
    assert arena_transcripts.before_and_after(even, MARKET) == first + 2
    against = recorded([0.5, 0.5, 0.5], [0.4, 0.0, 0.2])  # differences 0.1, 0.5, 0.3
    assert arena_transcripts.before_and_after(against, MARKET) == first + 2
    fewer = recorded([0.9, 0.2, 0.5, 0.6, 0.7], [0.0, 0.0, 0.0])  # the untrained played three
    assert arena_transcripts.before_and_after(fewer, MARKET) == first + 2
    name, names, seed = played_episodes.median_pair(odd, MARKET)
    assert (name, names, seed) == (MARKET, [LAB, BASE], str(first + 2))


def test_play_starts_a_game_of_one_move_and_none_without_moves():
    with gr.Blocks():
        player = playing.Player(gr.Button(), gr.Timer(), gr.State(), gr.Slider())
        starts, stays = (
            playing.start_or_stop(player, playing=False, step=moves, moves=moves)
            for moves in (1, 0)
        )
    assert (starts[player.clock].active, stays[player.clock].active) == (True, False)
    assert player.step in starts  # from the first move again
    assert player.step not in stays
