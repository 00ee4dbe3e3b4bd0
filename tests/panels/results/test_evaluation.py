"""An evaluation of either game on Results: figure, caption and table, from small evaluations."""

import pytest

from panels.results.evaluation import (
    ARENA,
    View,
    bazaar_game,
    caption,
    change,
    details,
    figure,
    rows_of,
)
from sauda.records.store import load
from tests.support.golden import assert_golden, plain, table_lines
from tests.support.measured import changed

COMPARISON = load("evaluation/model-comparison.json")
BAZAAR = bazaar_game(COMPARISON)
OPEN = "bazaar/open-3"
DEAL = View("classic/single_deal", "train", "share")
MARKET = View("arena/coalition_market", "holdout", "grade")


def test_every_view_of_an_evaluation_shows_the_same(evaluation, arena_evaluation):
    lines = []
    for game, artifact, view in ((BAZAAR, evaluation, DEAL), (ARENA, arena_evaluation, MARKET)):
        for metric in game.metrics:
            each = view._replace(metric=metric)
            table = details(game, artifact, each, artifact)
            lines += [f"# {each}", plain(caption(game, artifact, each)), plain(table.about)]
            lines += table_lines(table.shown)
    tied = [row.model_copy(update={"share": rows_of(evaluation, DEAL)[0].share})
            for row in rows_of(evaluation, DEAL)]  # fmt: skip
    lines.append(plain(caption(BAZAAR, changed(evaluation, rows=tied), DEAL)))
    assert_golden("evaluations.txt", "\n".join(lines) + "\n")


def test_the_open_markets_bound_is_the_oracle_and_only_for_grades():
    evaluation, view = load("evaluation/market-holdout.json"), View(OPEN, "holdout", "grade")
    (mean,) = (
        row.grade.mean for row in COMPARISON.data.rows if (row.task, row.policy) == (OPEN, "oracle")
    )
    assert figure(BAZAAR, evaluation, view).data[0].x[0] == mean
    assert "The oracle is" in caption(BAZAAR, evaluation, view)
    assert "The oracle is" not in caption(BAZAAR, evaluation, view._replace(metric="share"))


def test_a_change_on_other_seeds_is_shown_only_where_the_game_is_the_same(
    evaluation, arena_evaluation
):
    for artifact, view in ((evaluation, DEAL), (arena_evaluation, MARKET)):
        row = rows_of(artifact, view)[-1]
        hashes = row.hashes.model_copy(update={"opponents": "0123456789ab"})
        other = changed(artifact, rows=[row.model_copy(update={"hashes": hashes})])
        assert change(row, other, view.metric) is None
        figures = getattr(row, view.metric)
        better = figures.model_copy(update={"mean": figures.mean + 0.25})
        same = changed(artifact, rows=[row.model_copy(update={view.metric: better})])
        assert change(row, same, view.metric) == pytest.approx(0.25)
