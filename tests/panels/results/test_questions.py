"""What Results shows of single questions: gains, rewards, rules, words; and rows played again."""

from dataclasses import replace
from functools import partial
from statistics import fmean

import gradio as gr
import pytest

from env import arena
from panels.results import optimum, winners
from panels.results.models import LAB_FILE, policy_label, rows_by_policy
from panels.results.question import HTML, section
from panels.results.reproduce import SCRIPTED, draw_sample, play_row_again, rows_of
from panels.results.training import TRAINING, policies_table, stage_figure
from sauda.experiments.comparison import OURS
from sauda.experiments.verify import replay_row
from sauda.records.store import load
from tests.support.measured import model_comparison

pytestmark = pytest.mark.slow
LAB_TASK = "arena/coalition_market"
MARKET = "evaluation/market-holdout.json"


def test_a_question_whose_file_is_missing_shows_the_command_that_makes_it(monkeypatch):
    gone = replace(TRAINING, files=("words.json", "evaluation/nothing.json"))
    with gr.Blocks() as page, gr.Tab() as tab:
        section(gone, tab)
    (told,) = (block.value for block in page.blocks.values() if isinstance(block, gr.HTML))
    assert "cannot be shown" in told
    assert "nothing.json" in told


@pytest.mark.parametrize("read", [model_comparison, partial(load, LAB_FILE)], ids=["bazaar", "lab"])
def test_a_figure_draws_each_stage_with_its_grade_and_a_table_every_policy(read):
    artifact = read()
    task = artifact.data.rows[0].task
    rows = rows_by_policy(artifact, task)
    points = [trace.x[0] for trace in stage_figure(artifact, task).data]
    assert points == sorted(points, reverse=True)
    steps = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    for step in steps:
        assert {rows[step.before].grade.mean, rows[step.after].grade.mean} <= {*points}
    table = policies_table(artifact, task)
    assert all(f">{policy_label(name)}<" in table for name in rows)


def test_every_component_stands_with_its_formula_and_its_measured_step(arena_evaluation):
    row = next(
        row
        for row in arena_evaluation.data.rows
        if (row.others, row.task, row.policy) == ("as drawn", LAB_TASK, "broker")
    )
    shown = str(winners.component_table(arena_evaluation, row))
    for component in (*arena.COMPONENTS, arena.TOTAL):
        assert component.name in shown
        assert component.formula.replace("'", "&#39;") in shown
    for example in arena_evaluation.data.examples:
        assert f"{example.amount:+.3f}: " in shown
        assert f"seed {example.seed}, round {example.round + 1})" in shown


def test_a_script_comes_out_as_recorded_and_says_so_with_both_means():
    artifact = load(MARKET)
    begins, ends = map(str, play_row_again(rows_of([artifact]), "bazaar/open linear"))
    mean = fmean(artifact.data.episodes["bazaar/open"]["linear"].grade[:SCRIPTED])
    assert f"Playing {SCRIPTED} games" in begins
    assert f"recorded {mean:.3f}, played now {mean:.3f}, n = {SCRIPTED} games." in ends
    assert "<b>Equal" in ends
    assert ends.count("<tr") == SCRIPTED + 1
    assert "≠" not in ends


def test_a_game_that_differs_is_shown_as_such_and_a_loss_of_nothing_as_0():
    artifact, cell = next(iter(rows_of([load(MARKET)]).values()))
    sample = replay_row(artifact, cell, 2)
    changed = {**sample.replayed, "grade": [0.25, -1e-9]}
    text = str(draw_sample(replace(sample, replayed=changed)))
    assert "<b>Not equal" in text
    assert "Not the same in grade." in text
    assert text.count("≠") == 2
    assert ">0.000000<" in text
    assert "-0.000000" not in text


def test_a_row_that_is_not_in_the_list_is_answered_in_words():
    (only,) = play_row_again({}, "<b>x</b>")
    assert "Pick one of the rows" in only


def test_what_words_are_worth_is_said_with_its_interval_by_type_and_in_unseen_phrases():
    data = load("words.json").data
    worth = {row.what: row for row in data.worth}
    hearing = load("hearing.json").data
    verdict = optimum.words_verdict(data, hearing)
    loses = {row.market: row.less.mean for row in hearing.rows if row.player == OURS}
    kept = 1 - loses[optimum.UNSEEN] / loses[optimum.REMOVED]
    assert f"it keeps {kept:.0%} [" in " ".join(verdict.evidence)
    for row in (worth[optimum.BOTH].all, worth[optimum.BOTH].bluffer):
        assert f"{row.mean:+.3f}" in f"{verdict.sentence} {' '.join(verdict.evidence)}".replace(
            "−", "-"
        )
    means = [row.interval.mean for row in optimum.words_rows(data)]
    assert max(means) == means[0]  # nobody who does not know the seller passes the bound


def test_every_rule_of_the_arena_stands_beside_the_published_one_with_its_worth_in_both():
    published, rules = load("published.json"), load("arena_rules.json")
    worth = [partial(told, published, rules) for told in (winners.rule_worth, winners.player_worth)]
    shown = HTML.differences(LAB_TASK, *worth)
    rows = {row.rule for row in rules.data.ablations} - {"no_shocks"}  # told with "shocks"
    for rule in rows:
        there, here = worth[0](rule)
        assert "of reward" in there
        assert f">{there}<" in shown
        assert f">{here}<" in shown
    assert shown.count("of the broker’s grade") == len(rows)
