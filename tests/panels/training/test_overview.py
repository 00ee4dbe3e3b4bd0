"""All runs beside each other: what each took, and its gain on hold-out games."""

import html
import re
from dataclasses import replace

from panels.results.model_comparison import FILE, LAB_FILE
from panels.results.questions.training import verdict, whole_gains
from panels.training.logs import EVALUATION, LEARNING_RATE, recorded
from panels.training.overview import NOT_RECORDED, all_gains, gain_of, headline, overview
from panels.training.references import scripted_rows
from panels.training.together import DASHES, GRADES, key, shared_metrics, together
from sauda.records.kinds import training_runs
from sauda.records.store import load


def test_every_run_has_a_row_with_its_gain_or_says_that_it_was_not_played():
    runs = {name: load(f"training/{name}.json") for name in training_runs()}
    comparisons = [load(FILE), load(LAB_FILE)]
    shown = str(overview(runs, comparisons))
    assert shown.count("<tr") == 1 + len(runs)
    for run in runs.values():
        assert f"{run.data.num_tokens:,}" in shown
    gains = list(all_gains(comparisons))
    (sft,) = [g for g in gains if (g.after, g.task) == ("mini+sft", "bazaar/open")]
    assert gain_of("sft", "bazaar", gains) == (
        f"{sft.difference:+.3f} [{sft.low:+.3f}, {sft.high:+.3f}], n {sft.n}"
    )
    assert gain_of("sft-arena", "arena", gains) in shown
    assert gain_of("unheard-of", "bazaar", gains) == NOT_RECORDED


def test_the_headline_says_by_how_much_training_helps():
    comparison = load(FILE)
    gain = whole_gains(comparison)["bazaar/open"]
    told = headline(comparison)
    assert told.startswith(verdict(comparison).sentence)
    assert f"In the open market: {gain.interval.mean:+.3f} [" in told
    assert told.endswith(f"n = {gain.n:,}.")


def test_gains_on_unseen_sellers_alone_are_left_out():
    gains = list(all_gains([load(FILE)]))
    assert len(gains) == len({(gain.task, gain.after) for gain in gains})


def test_without_a_comparison_no_gain_is_claimed():
    runs = {name: load(f"training/{name}.json") for name in training_runs()}
    shown = str(overview(runs, []))
    assert len(re.findall(NOT_RECORDED, shown)) == len(runs)


def test_runs_laid_over_each_other_hold_the_metric_and_share_its_scale():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    assert any(log.game == "arena" and log.holds(EVALUATION) for log in logs)
    for metric in shared_metrics(logs):
        for over in ("step", "tokens", "time"):
            drawn = together(logs, metric, over)
            assert [line.name.rpartition(": ")[0] for line in drawn.data] == [
                log.name
                for log in logs
                if log.holds(metric) and (metric not in GRADES or log.game == "bazaar")
            ]
            assert len(drawn.data) > 1
            assert all(line.x[-1] > line.x[0] for line in drawn.data)
    evaluated = together(logs, EVALUATION, "tokens").data
    assert all(line.error_y.array is not None for line in evaluated)


def test_a_second_training_and_a_lab_are_told_from_the_run_of_their_colour():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    for metric in shared_metrics(logs):
        drawn = together(logs, metric, "tokens").data
        assert len({(line.line.color, line.line.dash) for line in drawn}) == len(drawn)
    names = {line.name.rpartition(": ")[0] for line in drawn}
    assert {"Distillation, mini", "Distillation, mini, seed 1"} <= names


def test_a_first_training_is_solid_a_second_dotted_and_a_lab_dashed():
    names = ("distill", "distill-seed1", "sft", "sft-arena")
    logs = [recorded(load(f"training/{name}.json")) for name in names]
    drawn = together(logs, LEARNING_RATE, "tokens").data
    assert [line.line.dash for line in drawn] == ["solid", "dot", "solid", "dash"]


def test_the_key_below_the_figure_names_every_line_with_its_dashes():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    for metric in shared_metrics(logs):
        drawn, names = together(logs, metric, "tokens"), key(logs, metric, "tokens")
        entries = re.findall(r'dasharray="(.*?)".*?--light: (.*?);.*?</svg>(.*?)</li>', names)
        assert [(DASHES[line.line.dash], line.line.color, line.name) for line in drawn.data] == [
            (dashes, colour, html.unescape(name)) for dashes, colour, name in entries
        ]
        assert ("grades of the arena" in names) == (metric in GRADES)


def test_a_stage_that_trains_another_than_usual_further_says_which():
    run = load("training/sft.json")
    log = recorded(replace(run, file="training/sft-from-distill.json"))
    assert log.name == f"SFT after distillation, {run.data.base.name}"
    (line,) = together([log], EVALUATION, "tokens").data
    assert line.line.dash == "dashdot"


def test_checkpoints_are_named_with_their_last_grade_and_compared_with_scripts():
    log = recorded(load("training/distill.json"))
    drawn = together([log], EVALUATION, "tokens", scripted_rows())
    curve, *levels = drawn.data
    assert curve.name == f"{log.name}: {log.evaluations[-1]['grade']:.3g}"
    best = max(
        (row for row in load("evaluation/market-train.json").data.rows if row.task == "bazaar/open"
         and row.policy not in ("pilot", "tuned")),
        key=lambda row: row.grade.mean,
    )  # fmt: skip
    assert levels[0].name == f"best script: {best.policy} {best.grade.mean:.3f}"
    assert {each.text for each in drawn.layout.annotations} == {each.name for each in levels}
    assert set(levels[0].y) == {best.grade.mean}
