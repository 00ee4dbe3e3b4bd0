"""The Tour's figures are those of the artifacts."""

from dataclasses import replace
from html import escape

import pytest

from env import EndReason
from panels import PANELS
from panels.results.models import rows_by_policy
from panels.results.question import side
from panels.tour import facts, tab
from panels.training.tab import RENTED, cost, table_of_runs
from panels.transcripts.tab import pairs_of, typical
from panels.ui.tables import with_interval
from sauda.cloud.jobs import PRICES_READ, flavor
from sauda.experiments.comparison import BASE, OURS
from sauda.policies import BUYERS
from sauda.records.kinds import ArtifactError
from sauda.records.store import load
from tests.support.measured import games_before_and_after, model_comparison


def test_the_tours_figures_are_those_of_the_artifacts():
    comparison, words = model_comparison(), load("worth.json")
    grades = {name: row.grade for name, row in rows_by_policy(comparison, facts.MARKET).items()}
    told = facts.gain(comparison)
    assert f"{grades[BASE].mean:z.0%} to {with_interval(grades[OURS], 'z.0%')}" in told
    ways = {(way.task, way.policy): way for way in comparison.data.gap_closed}
    way = ways[facts.MARKET, OURS]
    assert f"{way.share:.0%} [{way.low:.0%}, {way.high:.0%}]" in told
    drawn = facts.grades_figure(comparison).data
    assert drawn[0].x[0] == grades["oracle"].mean
    assert [trace.x[0] for trace in drawn] == sorted((t.x[0] for t in drawn), reverse=True)
    worth = next(row for row in words.data.worth if row.what == "both" and row.market == "open-3")
    assert f"{100 * worth.difference.mean:+.0f}" in facts.what_pays(words)


def test_what_training_further_changed_is_told_with_its_intervals():
    comparison = load("evaluation/model-comparison.json")
    rows = [r for r in comparison.data.stage_gains if (r.task, r.before) == (facts.MARKET, OURS)]
    told = facts.trained_on(comparison)
    assert rows
    for row in rows:
        is_told = facts.points(row.interval, facts.FINE) in told
        assert is_told == (row.on == "all" or side(row.interval) != "unclear")
    nothing = all(side(row.interval) == "unclear" for row in rows if row.on == "all")
    assert ("nothing that can be measured" in told) == nothing
    moved = [row.model_copy(update={"difference": 0.2, "low": 0.1, "high": 0.3}) for row in rows]
    data = comparison.data.model_copy(update={"stage_gains": moved})
    assert "nothing that can be measured" not in facts.trained_on(replace(comparison, data=data))
    data = comparison.data.model_copy(update={"stage_gains": []})
    assert facts.trained_on(replace(comparison, data=data)) == ""


def test_a_second_stage_begins_where_the_first_ended():
    (run,) = facts.chain()[:1]
    figure = facts.curve([run, run], model_comparison())
    first, second = (trace.x for trace in figure.data if trace.mode == "lines")
    assert second[0] == pytest.approx(run.data.seconds / 60 + first[0])
    assert len(figure.layout.shapes) == 2


def test_a_run_costs_what_the_hub_rents_such_a_machine_for_and_says_when_that_was_read():
    def on(device):
        hardware = run.data.hardware.model_copy(update={"device": device, "cores": 2})
        return replace(run, data=run.data.model_copy(update={"hardware": hardware}))

    (run,) = facts.chain()[:1]
    told = facts.in_short([on("x86_64 CPU"), on("NVIDIA H100")])
    assert "2 CPU cores, then an NVIDIA H100" in told
    assert "$" not in told
    assert cost(on("NVIDIA H100")) is None  # the Hub rents none
    hours = run.data.seconds / 3600
    for device, name in (("x86_64 CPU", RENTED), ("NVIDIA H200", "h200")):
        dollars = hours * flavor(name).price
        assert cost(on(device)) == pytest.approx(dollars)
        assert f"${dollars:.2f} " in facts.in_short([on(device)])
        assert f"{PRICES_READ:%B %Y}" in facts.in_short([on(device)])
        table = table_of_runs({"sft": on(device)})
        assert f"${flavor(name).price:.2f} for {name}" in table
        assert f"{PRICES_READ:%B %Y}" in table
        assert "published" in table


def test_a_reply_that_is_no_move_is_quoted_short_and_escaped():
    record = games_before_and_after()
    why = next(p.why for p in record.data.tasks[0].chosen if p.before.end == EndReason.FORFEIT)
    pair = pairs_of(record, facts.MARKET)[why]
    games = tab.recorded_games(pair)
    reply = "<img src=x onerror=alert(1)>" + "z" * 200
    written = pair.model_copy(
        update={"before": pair.before.model_copy(update={"replies": [reply]})}
    )
    shown = str(tab.race(games, written))
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "z" * 100 not in shown
    assert "…”, which is no move" in shown


def test_games_played_again_are_compared_move_by_move():
    pair = typical(games_before_and_after(), facts.MARKET)
    games = tab.recorded_games(pair)
    assert "move by move as recorded" in tab.compare(games, games)
    other = [games[1], games[1]]
    assert "before training took other moves" in tab.compare(games, other)


def test_without_artifacts_it_is_the_header_alone(monkeypatch):
    def missing(file):
        raise ArtifactError(f"artifacts/{file} is missing")

    monkeypatch.setattr(tab, "load", missing)
    shown = tab.first_view("<h1>Sauda</h1>", [panel.TITLE for panel in PANELS])
    assert "<h1>Sauda</h1>" in shown
    assert "<main></main>" in shown
    assert all(f"<span>{escape(panel.TITLE)}</span>" in str(shown) for panel in PANELS)


def test_games_played_now_are_compared_with_those_recorded_before_training_alone(monkeypatch):
    pair = typical(games_before_and_after(), facts.MARKET)
    games = tab.recorded_games(pair)
    monkeypatch.setattr(tab, "of_this_page", lambda task, name: BUYERS["linear"])
    monkeypatch.setattr(tab, "rivals", lambda: {tab.BEFORE: "Before", "boulware": "Boulware"})
    told = {name: list(tab.play_beside(pair, games, name))[-1] for name in ("boulware", "<b>")}
    assert "Played now, in this page." in told["boulware"]
    assert "Boulware" in told["boulware"]
    assert "recorded one" in told["<b>"]  # as if nobody were named
    assert "recorded one" not in told["boulware"]
