"""An evaluation of either game on Results: figure, caption, table, CSV; from small evaluations."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest

from panels.results import bazaar
from panels.results.arena import evaluations as arena_results
from panels.results.evaluation import (
    Game,
    View,
    bars,
    caption,
    change,
    details,
    details_label,
    download,
    rows_of,
)
from panels.results.evaluation_section import by_task, show
from panels.ui.tables import to_csv
from sauda.records.schemas.base import Metric
from sauda.records.store import Artifact, load
from tests.support.golden import assert_golden, plain

BAZAAR, ARENA = bazaar.game(), arena_results.game()
DEAL = View("classic/single_deal", "train", "share")
MARKET = View("arena/coalition_market", "holdout", "grade")


@pytest.fixture(params=["bazaar", "arena"])
def shown(request, evaluation, arena_evaluation) -> tuple[Game, Artifact, View, str]:
    """A game, an evaluation of it, a view, and a policy that is not the first on the view."""
    if request.param == "bazaar":
        return BAZAAR, evaluation, DEAL, "rule_based"
    return ARENA, arena_evaluation, MARKET, "broker"


def with_rows(evaluation: Artifact, rows: list) -> Artifact:
    """The evaluation with other rows."""
    return replace(evaluation, data=evaluation.data.model_copy(update={"rows": rows}))


def row_of(evaluation: Artifact, view: View, policy: str) -> dict:
    return next(row for row in rows_of(evaluation, view) if row.policy == policy)


def texts(game: Game, evaluation: Artifact, view: View, other: Artifact | None = None) -> dict:
    """The table's texts by policy and heading."""
    table = details(game, evaluation, view, other)
    lines = table["metadata"]["display_value"]
    return {line[0]: dict(zip(table["headers"], line, strict=True)) for line in lines}


# Figure, caption


def lines_of(game: Game, evaluation: Artifact, view: View) -> Iterator[str]:
    """The bars with their whiskers, the caption and the table of a view."""
    yield f"# {view}"
    bar = bars(game, evaluation, view).data[0]
    sides = (bar.error_x.arrayminus or bar.error_x.array, bar.error_x.array)
    low, high = ([round(value, 3) for value in side] for side in sides)
    yield f"  {list(bar.y)} {[round(x, 3) for x in bar.x]} -{low} +{high}"
    yield plain(caption(game, evaluation, view))
    table = texts(game, evaluation, view, evaluation)
    yield details_label(game, view)
    yield " | ".join(next(iter(table.values())))
    yield from (" | ".join(map(str, row.values())) for row in table.values())


def test_every_view_of_an_evaluation_shows_the_same(evaluation, arena_evaluation):
    lines = []
    for game, artifact, view in ((BAZAAR, evaluation, DEAL), (ARENA, arena_evaluation, MARKET)):
        views = [replace(view, metric=metric.name) for metric in game.metrics]
        views += [replace(view, whisker="sd"), replace(view, order="name")]
        for each in views:
            lines += lines_of(game, artifact, each)
    tied = [row.model_copy(update={"share": rows_of(evaluation, DEAL)[0].share})
            for row in rows_of(evaluation, DEAL)]  # fmt: skip
    lines.append(plain(caption(BAZAAR, with_rows(evaluation, tied), DEAL)))
    assert_golden("evaluations.txt", "\n".join(lines) + "\n")


def test_a_bar_is_the_mean_of_its_row_and_its_whisker_the_interval(evaluation):
    bar, row = bars(BAZAAR, evaluation, DEAL).data[0], row_of(evaluation, DEAL, "naive")
    at = list(bar.y).index("naive")
    assert bar.x[at] == row.share.mean
    assert bar.x[at] + bar.error_x.array[at] == pytest.approx(row.share.high)
    assert bar.x[at] - bar.error_x.arrayminus[at] == pytest.approx(row.share.low)


def test_the_open_markets_line_is_the_oracle_and_only_for_grades():
    oracle = load("oracle.json")
    game, evaluation = bazaar.game(oracle), load("evaluation/market-holdout.json")
    view = View("bazaar/open", "holdout", "grade")
    mean = bazaar.oracle_row(oracle, view.task).informed.mean
    assert bars(game, evaluation, view).layout.shapes[0].x0 == mean
    assert f"expects: {mean:.3f}" in caption(game, evaluation, view)
    assert game.bound(evaluation, replace(view, metric="share")) is None
    assert BAZAAR.bound(evaluation, view) is None


def test_a_mean_that_rounds_to_nothing_bears_no_sign(arena_evaluation):
    row = row_of(arena_evaluation, MARKET, "wait")
    grade = Metric(**dict.fromkeys(Metric.model_fields, -1e-6))
    near = with_rows(arena_evaluation, [row.model_copy(update={"grade": grade})])
    assert texts(ARENA, near, MARKET)["wait"]["mean [95 % interval]"] == "0.000 [0.000, 0.000]"


def test_a_change_on_other_seeds_is_shown_only_where_the_game_is_the_same(shown):
    _, evaluation, view, policy = shown
    row = row_of(evaluation, view, policy)
    hashes = row.hashes.model_copy(update={"opponents": "0123456789ab"})
    other = with_rows(evaluation, [row.model_copy(update={"hashes": hashes})])
    assert change(row, other, view.metric) is None
    assert change(row, None, view.metric) is None
    figures = getattr(row, view.metric)
    better = figures.model_copy(update={"mean": figures.mean + 0.25})
    same = with_rows(evaluation, [row.model_copy(update={view.metric: better})])
    assert change(row, same, view.metric) == pytest.approx(0.25)


# CSV, section


def test_the_csv_holds_every_row_in_full_precision_and_opens_in_a_spreadsheet(shown):
    _, evaluation, view, policy = shown
    text = to_csv(download(evaluation, view))
    assert text.startswith("\ufefftask,split,")
    rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(text[1:]))}
    assert set(rows) == set(evaluation.config["policies"])
    figures = getattr(row_of(evaluation, view, policy), view.metric)
    assert float(rows[policy][f"{view.metric}_mean"]) == figures.mean
    assert float(rows[policy][f"{view.metric}_difference"]) == figures.difference
    assert not any("hash" in heading for heading in rows[policy])


def test_a_view_without_episodes_shows_a_sentence_alone(evaluation):
    parts = show(BAZAAR, by_task([evaluation]), replace(DEAL, split="holdout"))
    assert set(parts) == {"about"}
    assert "has not been played on the hold-out seeds" in parts["about"]
