"""Games step by step: any game, before and after training, their downloads and addresses."""

import json
import re
from base64 import b64decode
from types import SimpleNamespace

import gradio as gr
import pytest

from env import ARENA_TASKS, EndReason, get_task, rollout, rupees, zopa_width
from panels.measured import LAB_FILE
from panels.transcripts import episodes as played_episodes
from panels.transcripts import tab, view
from panels.transcripts.episodes import play
from panels.transcripts.tab import (
    Player,
    find_pair,
    moves_of,
    pair_in_address,
    pair_of_games,
    replay_both,
    typical,
)
from panels.ui.offers import Offers, offers_of
from sauda.games.transcript import from_json
from sauda.llm.backends import SEATS
from sauda.llm.server import Ready
from sauda.players import BASE, LAB, ORACLE, PEOPLE, SERVED, get_policy, sit
from sauda.records.schemas.episodes import POLICIES, SEED, ChosenPair
from sauda.records.schemas.evaluation import ArenaColumns
from sauda.records.seeds import SPLITS
from sauda.records.store import load
from tests.support.measured import changed, games_before_and_after

MARKET = "arena/coalition_market"


@pytest.fixture(scope="module")
def page() -> tab.Page:
    with gr.Blocks(), gr.Tab() as part:
        return tab.Page(part)


@pytest.fixture(scope="module")
def demo():
    """The default of the arena: both experts on coalition_market at seed 5."""
    names, seed = played_episodes.usual(MARKET, list(POLICIES), "50000")
    return play(MARKET, seed, names)


@pytest.fixture(scope="module")
def record():
    return games_before_and_after()


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


def test_an_address_plays_what_it_names_or_is_answered_in_words(page):
    query = {"task": PEOPLE, "seed": "9", "policies": "wait"}
    updates = tab.from_address(page, query)
    (episode,) = updates[page.episodes].values()
    assert (
        (episode.task, episode.seed) == (updates[page.task], int(updates[page.seed])) == (PEOPLE, 9)
    )
    assert tab.game_in_address(PEOPLE, "9", ["wait"]) == query
    for wrong in ({"task": "<b>x"}, {"seed": "many"}, {"policies": "nobody,<b>x"}):
        problem = tab.from_address(page, wrong)[page.transcripts]
        assert 'role="alert"' in problem
        assert "<b>x" not in problem


def test_a_list_of_tasks_that_closes_without_a_choice_leaves_the_episodes_alone(page):
    episodes = play(tab.FIRST_TASK, SEED, POLICIES)
    closed = tab.change_task(page, tab.FIRST_TASK, episodes, str(SEED))
    assert page.episodes not in closed
    chosen = tab.change_task(page, "bazaar/open-3", episodes, str(SEED))
    assert {episode.task for episode in chosen[page.episodes].values()} == {"bazaar/open-3"}


def test_a_step_shows_so_many_actions_of_the_learner_with_codes_and_sums(demo):
    assert list(demo) == ["broker", "rule_based_expert"]
    taken = [len(episode.trajectory("lab_0")) for episode in demo.values()]
    for step in (1, 6):
        shown = str(view.columns(demo, step))
        assert shown.count("sauda-money") == sum(min(step, count) for count in taken)
    whole = str(view.columns(demo, view.longest(demo)))
    for episode in demo.values():
        assert f"scored {ARENA_TASKS[MARKET].grade(episode.final):.0%}" in whole
        assert f"Utility {episode.final.private['lab_0'].utility:.2f} credits" in whole


def test_what_is_downloaded_is_what_is_shown_as_data_and_as_prose(demo):
    links = re.findall(r"base64,([^\"]+)", view.again(demo))
    data, prose = (b64decode(link).decode() for link in links)
    moves = [len(row["moves"]) for row in json.loads(data)]
    assert moves == [len(episode.turns) for episode in demo.values()]
    assert prose.count(f"# {MARKET}, seed 5: ") == 2


def test_before_and_after_is_the_seed_of_the_median_gain_of_training():
    """Of the games that both played."""
    grades = {LAB: [0.5, 0.1, 0.4, 0.9, 0.9], BASE: [0.1, 0.0, 0.1, 0.0]}
    pair = {n: ArenaColumns.model_construct(grade=own) for n, own in grades.items()}
    comparison = changed(load(LAB_FILE), episodes={MARKET: pair})
    assert played_episodes.median_gain(comparison, MARKET) == SPLITS["holdout"][0] + 2


def test_play_starts_a_game_of_one_move_and_none_without_moves():
    with gr.Blocks():
        player = Player()
        starts, stays = (player.start_or_stop(False, moves, moves) for moves in (1, 0))
    assert (starts[player.clock].active, stays[player.clock].active) == (True, False)
    assert player.step in starts  # from the first move again
    assert player.step not in stays


# Before and after


@pytest.mark.parametrize(
    ("deals", "shown"), [(["90th", "best"], "90th"), (["best"], "best"), ([], "50th")]
)
def test_where_the_typical_game_has_no_deal_the_next_in_the_rule_is_shown(record, deals, shown):
    tasks = [
        row.model_copy(update={"chosen": [ending(pair, pair.why in deals) for pair in row.chosen]})
        for row in record.data.tasks
    ]
    assert typical(changed(record, tasks=tasks), PEOPLE).why == shown


def ending(pair: ChosenPair, deal: bool) -> ChosenPair:
    """The pair as if its game after training had ended with a deal, or with a walk-away."""
    end = str(EndReason.AGREEMENT if deal else EndReason.WALKAWAY)
    return pair.model_copy(update={"after": pair.after.model_copy(update={"end": end})})


def test_a_step_shows_that_many_moves_and_the_end_only_at_the_end(record):
    pair = typical(record, PEOPLE)
    begun, ended = str(pair_of_games(pair, 1)), str(pair_of_games(pair, moves_of(pair)))
    assert begun.count("Move 1 of ") == 2
    assert begun.count("<b>seller</b>") == 2
    for later in ("<b>buyer</b>", "Every reply as the model wrote it"):
        assert later not in begun
        assert later in ended
    assert "Move " not in ended


def test_the_address_of_a_pair_leads_back_to_it(record):
    pair = record.data.tasks[1].chosen[0]
    assert find_pair(record, pair_in_address(record, pair)) == pair
    assert pair_in_address(record, find_pair(record, {})) == {}


def test_both_games_come_out_of_their_replies_as_recorded_and_a_changed_record_is_told(record):
    pair = typical(record, PEOPLE)
    shown = str(replay_both(pair))
    assert shown.count("<b>Equal: share of ") == 2
    share = f"recorded {pair.after.grade:.1%}, played now {pair.after.grade:.1%}, n = 1 game."
    assert share in shown
    wrong = pair.model_copy(update={"after": pair.after.model_copy(update={"grade": 0.5})})
    assert "Not the same in grade." in replay_both(wrong)


def test_a_recorded_game_of_the_models_is_shown_at_once(record, monkeypatch):
    monkeypatch.setattr(played_episodes, "load_or_say", lambda file: (record, ""))
    played_episodes.recorded_at.cache_clear()
    pair = typical(record, PEOPLE)
    played = play(PEOPLE, pair.seed, ["linear", BASE, SERVED])
    for name, game in ((BASE, pair.before), (SERVED, pair.after)):
        assert played[name].turns == from_json(game.as_json()).turns
    for other in ((PEOPLE, 1), ("classic/single_deal", pair.seed)):
        assert not played_episodes.recorded_at(*other)
    played_episodes.recorded_at.cache_clear()


def test_saudas_weights_are_loaded_once_however_a_row_calls_them(monkeypatch):
    asked, task = [], get_task("bazaar/open-3")
    worker = SimpleNamespace(for_visitor=lambda _: worker, wait=lambda _: Ready("", "", 0.0))
    monkeypatch.setattr(played_episodes, "in_page", lambda name: asked.append(name) or worker)
    own = SEATS["buyer"].model
    for name in (own, SERVED, f"{SERVED}+steering", BASE):
        played_episodes.of_this_page(task, name)
    assert asked == [own, own, own, BASE]


def test_what_can_be_won_in_a_game_of_packages_is_what_both_win_with_the_best_one():
    task = get_task("bazaar/package")
    oracle = rollout(task, sit(task, ORACLE)(50_000), 50_000)
    assert 0 < sum(oracle.payoffs.values()) <= view.winnable(oracle)
    assert view.winnable(oracle) > zopa_width(*view.limits(oracle))
    told = view.dealt(oracle).striptags()
    assert f"{rupees(view.winnable(oracle))} can be won with the best package" in told
