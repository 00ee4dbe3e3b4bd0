"""The load test's visitors on the real page: they find its events, and none of them fails."""

import pytest

from benchmarks.load import FILE, MIXES, REVIEW, play_mix
from sauda.experiments.speeds import recompute_load
from sauda.records.store import load, save
from tests.support.running import run

SCRIPTED = {"start of a game", "scripted reply"}
pytestmark = pytest.mark.model  # visitors of scripts wait until the model is loaded, too


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("20 players", SCRIPTED),
        ("games in a row", SCRIPTED),
        ("sessions", {"page load", "opening events", "start of a game"}),
    ],
)
def test_visitors_of_a_short_mix_are_all_answered_and_counted_as_the_artifact_has_it(
    server, name, rows, tmp_path
):
    mix = run(play_mix(name, 4.0, server))
    assert {row["what"] for row in mix["rows"]} - {REVIEW} == rows
    assert all(row["n"] > 0 for row in mix["rows"])
    assert [row["reasons"] for row in mix["rows"] if row["reasons"]] == []
    data = {"machine": {}, "mixes": [{"state": "now", "commit": None, **mix}]}
    save(FILE, {"mixes": list(MIXES)}, data, tmp_path)
    assert recompute_load(load(FILE, tmp_path).data.as_json()) == data
