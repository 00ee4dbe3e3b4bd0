"""The first view tells what the Tour tells, before any script has run."""

from html import escape

from panels import PANELS
from panels.tour import first_view as first
from panels.tour.facts import chain, in_short
from panels.tour.race import TASK, race, recorded_games
from panels.transcripts.before_after import FILE, typical
from sauda.records.kinds import ArtifactError
from sauda.records.store import load


def test_it_has_the_promise_what_was_trained_and_the_race():
    shown = first.first_view("<h1>Sauda</h1>")
    assert shown.count("<h1>") == 1
    assert first.PROMISE in shown
    assert in_short(chain()) in shown
    pair = typical(load(FILE), TASK)
    assert str(race(recorded_games(pair), pair)) in shown


def test_without_artifacts_it_is_the_header_alone(monkeypatch):
    def missing(file):
        raise ArtifactError(f"artifacts/{file} is missing")

    monkeypatch.setattr(first, "load", missing)
    shown = first.first_view("<h1>Sauda</h1>")
    assert "<h1>Sauda</h1>" in shown
    assert "<main></main>" in shown
    assert all(f"<span>{escape(panel.TITLE)}</span>" in str(shown) for panel in PANELS)
