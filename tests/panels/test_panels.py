"""What the tabs draw from values: no browser, no files but the committed artifacts."""

import csv
import io

import numpy as np
import pytest

from panels.artifacts import tab as artifacts
from panels.results import language as language_view
from panels.results import model_comparison
from panels.results import published as published_panel
from panels.results import tab as results
from sauda.records.kinds import FILES
from sauda.records.store import Artifact, load

VIEW = results.View("classic/single_deal")


# Results


def test_a_bar_is_the_mean_of_its_row_and_its_whisker_the_interval(evaluation):
    bar = results.bars(evaluation, VIEW).data[0]
    row = next(r for r in evaluation.data["rows"] if r["policy"] == "rule_based")
    at = list(bar.y).index("rule_based")
    assert bar.x[at] == row["share"]["mean"]
    assert bar.x[at] + bar.error_x.array[at] == pytest.approx(row["share"]["high"])
    assert bar.x[at] - bar.error_x.arrayminus[at] == pytest.approx(row["share"]["low"])


def test_the_standard_deviation_is_a_choice_of_whisker(evaluation):
    view = results.View("classic/single_deal", whisker=results.DEVIATION)
    bar = results.bars(evaluation, view).data[0]
    row = next(r for r in evaluation.data["rows"] if r["policy"] == "rule_based")
    assert bar.error_x.array[list(bar.y).index("rule_based")] == row["share"]["sd"]


def test_bars_are_sorted_best_first_or_by_name(evaluation):
    best = [row["share"]["mean"] for row in results.rows_of(evaluation, VIEW)]
    assert best == sorted(best, reverse=True)
    by_name = results.View("classic/single_deal", order="By name")
    named = [row["policy"] for row in results.rows_of(evaluation, by_name)]
    assert named == ["naive", "rule_based", "wait"]


def test_bars_start_at_zero(evaluation):
    assert results.bars(evaluation, VIEW).layout.xaxis.range[0] == 0


def test_the_table_holds_the_numbers_of_the_bars(evaluation):
    shown = str(results.figures_table(evaluation, VIEW))
    for row in results.rows_of(evaluation, VIEW):
        assert f"{row['share']['mean']:.4f}" in shown
        assert f"{row['share']['low']:.4f} to {row['share']['high']:.4f}" in shown


def test_the_csv_holds_every_row_in_full_precision_and_opens_in_a_spreadsheet(evaluation):
    text = results.to_csv(evaluation, VIEW)
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:])))
    assert {row["policy"] for row in rows} == {"wait", "rule_based", "naive"}
    assert rows[0]["policy"] == "wait"
    mean = next(r for r in evaluation.data["rows"] if r["policy"] == "wait")["share"]["mean"]
    assert float(rows[0]["share_mean"]) == mean


def test_the_caption_says_the_best_policy_n_and_what_the_whiskers_are(evaluation):
    said = results.caption(evaluation, VIEW)
    assert said.startswith("wait leads with 0.979; n = 8 episodes")
    assert "95 %" in said


def test_a_policy_outside_the_baseline_has_no_difference_to_show():
    assert results.difference({"mean": 0.5}) == ("–", "–")


def test_every_published_figure_can_be_shown_with_its_caveat_and_n():
    published = load("published.json")
    for _, figure_id in published_panel.published_names(published):
        shown = str(published_panel.published_figure(published, figure_id))
        assert "published" in shown
        assert "Source: " in shown


def test_the_listings_task_says_that_its_published_figures_do_not_compare():
    assert "cannot be compared" in results.about("classic/amazon_realistic")
    assert "cannot be compared" not in results.about("classic/single_deal")


def test_results_show_how_well_a_blind_writers_sentences_are_read():
    artifact = load("language.json")
    shown = str(language_view.reading(artifact))
    (row,) = (
        row
        for row in artifact.data["blind"]["rows"]
        if (row["reader"], row["split"], row["language"], row["signal"])
        == ("sauda", "held_out", "all", "all")
    )
    assert f"{row['precision']['mean']:.2f} [{row['precision']['low']:.2f}" in shown
    assert all(name in shown for name in language_view.KIND_NAMES.values())


def test_a_tie_is_not_called_a_lead(evaluation):
    view = results.View("classic/career_10")
    rows = [{**row, "policy": name} for name in ("a", "b") for row in evaluation.data["rows"][:1]]
    tied = Artifact(
        evaluation.file, evaluation.kind, "measured", evaluation.made, evaluation.config,
        {**evaluation.data, "rows": [{**row, "task": view.task} for row in rows]},
    )  # fmt: skip
    assert results.caption(tied, view).startswith("a and b share the lead")


# Tour, artifacts


def test_every_file_is_listed_with_a_download_and_its_hash():
    shown = str(artifacts.listing())
    for entry in FILES:
        assert entry.file in shown
    assert shown.count("download") == len(FILES)


def test_a_missing_file_shows_the_command_that_makes_it(tmp_path):
    shown = str(artifacts.listing(tmp_path))
    for entry in FILES:
        assert entry.command in shown
    assert "is not there" in shown


def test_the_python_snippet_of_the_page_runs(capsys):
    exec(artifacts.PYTHON, {})
    assert capsys.readouterr().out.startswith("agreement")


@pytest.mark.parametrize(
    ("adds", "verdict"),
    [(0.1, "the model adds to it"), (-0.1, "takes away"), (0.0, "cannot be told from nothing")],
)
def test_what_a_wrapper_wins_is_told_beside_what_it_wins_around_no_model(adds, verdict):
    none = [0.1, 0.3, 0.2, 0.4]
    steered = [round(grade + adds, 3) for grade in none[:3]]  # fewer games than no model's
    episodes = {
        "mini": {"grade": none},
        "null+steering": {"grade": none},
        "mini+steering": {"grade": steered},
    }
    ladder = Artifact("", "ladder/1", "measured", {}, {}, {"episodes": {"bazaar/open": episodes}})
    (said,) = model_comparison._wrapped(ladder, "bazaar/open")
    assert f"{np.mean(steered):.3f} around the untrained base and 0.200 around no model" in said
    assert f"{adds:+.3f} [{adds:+.3f}, {adds:+.3f}] on n = 3" in said
    assert verdict in said
