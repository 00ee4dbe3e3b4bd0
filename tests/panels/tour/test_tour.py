"""The Tour's figures are those of the artifacts."""

from html import escape

import pytest

from env import EndReason
from panels import PANELS
from panels.haggle.opponents.stages import bare_stages
from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_summary import best_script, rows_by_policy
from panels.tour import figures, race
from panels.tour import first_view as first
from panels.transcripts.before_after import pick, typical
from sauda.experiments.comparison import OURS
from sauda.records.kinds import ArtifactError
from sauda.records.store import load
from tests.support.measured import games_before_and_after, model_comparison


def test_the_tours_figures_are_those_of_the_artifacts():
    comparison, words = model_comparison(), load("words.json")
    shown = str(figures.glance(comparison, load("evaluation/reproduction.json"), words))
    rows = rows_by_policy(comparison, figures.MARKET)
    grades = {name: row.grade.mean for name, row in rows.items()}
    last = OURS
    assert f">{grades[last]:.3f}" in shown
    closed = (grades[last] - grades["mini"]) / (grades["listener"] - grades["mini"])
    assert f"{closed:.0%}" in shown
    (way,) = [
        way
        for way in comparison.data.gap_closed
        if (way.task, way.policy) == (figures.MARKET, last)
    ]
    assert way.share == pytest.approx(closed, abs=1e-4)
    assert way.low < way.share < way.high
    assert f"[{way.low:.0%}, {way.high:.0%}]" in shown
    worth = next(row.all.mean for row in words.data.worth if row.what == "reading and speaking")
    assert f"{worth:+.3f}" in shown


def test_the_middle_moves_of_a_long_game_are_dots(monkeypatch):
    pair = typical(games_before_and_after(), race.TASK)
    _, after = games = race.recorded_games(pair)
    monkeypatch.setattr(race, "TURNS", len(after.turns) - 1)
    monkeypatch.setattr(race, "LAST", 1)
    shown = str(race.race(games, pair))
    assert shown.count('class="sauda-turn') == race.TURNS
    assert ">…<" in shown


def test_a_reply_that_is_no_move_is_quoted_short_and_escaped():
    record = games_before_and_after()
    why = next(p.why for p in record.data.tasks[0].chosen if p.before.end == EndReason.FORFEIT)
    pair = pick(record, race.TASK, why)
    games = race.recorded_games(pair)
    reply = "<img src=x onerror=alert(1)>" + "z" * 200
    written = pair.model_copy(
        update={"before": pair.before.model_copy(update={"replies": [reply]})}
    )
    shown = str(race.race(games, written))
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "z" * 100 not in shown


def test_games_played_again_are_compared_move_by_move():
    pair = typical(games_before_and_after(), race.TASK)
    games = race.recorded_games(pair)
    assert "move by move as recorded" in race.compared(games, games)
    other = [games[1], games[1]]
    assert "before training took other moves" in race.compared(games, other)


def test_without_artifacts_it_is_the_header_alone(monkeypatch):
    def missing(file):
        raise ArtifactError(f"artifacts/{file} is missing")

    monkeypatch.setattr(first, "load", missing)
    shown = first.first_view("<h1>Sauda</h1>")
    assert "<h1>Sauda</h1>" in shown
    assert "<main></main>" in shown
    assert all(f"<span>{escape(panel.TITLE)}</span>" in str(shown) for panel in PANELS)


def test_untrained_under_the_grammar_each_stage_and_the_best_script_can_stand_beside():
    rivals = race.rivals()
    script, _ = best_script(rows_by_policy(load(COMPARISON), race.TASK))
    assert {"mini", "mini+constrained", script} <= rivals.keys()
    assert set(bare_stages(race.TASK)) - {OURS} <= rivals.keys()
    pair = typical(games_before_and_after(), race.TASK)
    game = race.played_by(script, pair.seed)
    assert game.seed == pair.seed
    assert rivals[script] in race.race([game, game], pair, script)
