"""All runs beside each other: what each took, and its gain on hold-out games."""

import re

from panels.results.model_comparison import FILE, LAB_FILE
from panels.training.logs import EVALUATION, recorded
from panels.training.overview import NOT_PLAYED, all_gains, gain_of, overview
from panels.training.together import shared_metrics, together
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
    assert gain_of("unheard-of", "bazaar", gains) == NOT_PLAYED


def test_gains_on_unseen_sellers_alone_are_left_out():
    gains = list(all_gains([load(FILE)]))
    assert len(gains) == len({(gain.task, gain.after) for gain in gains})


def test_without_a_comparison_no_gain_is_claimed():
    runs = {name: load(f"training/{name}.json") for name in training_runs()}
    shown = str(overview(runs, []))
    assert len(re.findall(NOT_PLAYED, shown)) == len(runs)


def test_runs_laid_over_each_other_are_those_that_hold_the_metric():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    for metric in shared_metrics(logs):
        for over in ("step", "tokens", "time"):
            drawn = together(logs, metric, over)
            assert {line.name for line in drawn.data} == {
                log.name for log in logs if log.holds(metric)
            }
            assert len(drawn.data) > 1
            assert all(line.x[-1] > line.x[0] for line in drawn.data)
    evaluated = together(logs, EVALUATION, "tokens").data
    assert all(line.error_y.array is not None for line in evaluated)
