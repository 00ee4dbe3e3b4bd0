"""The load test on the page and in the documents: every mix and action, failures included."""

from panels.artifacts import load as panel
from sauda.experiments.speeds import LoadTest, latency, load_cells, memory_cells, memory_growth
from sauda.records.store import Artifact


def artifact() -> Artifact:
    rows = [latency("page load", [2.0, 4.0], 1, {}), latency("reply", [], 0, {"late": 3})]
    memory = [memory_growth("game", [0, 1, 2], [100, 110, 120], None)]
    mix = {"name": "two", "about": "both read", "seconds": 9.6, "rows": rows, "memory": memory}
    mixes = [{**mix, "state": state, "commit": state} for state in ("before", "now")]
    data = LoadTest.model_validate({"machine": {}, "mixes": mixes})
    return Artifact("load.json", "load/1", "measured", {}, {}, data)


def test_every_mix_and_action_has_a_row_with_its_refusals_and_failures():
    before, late, *now = load_cells(artifact().data)
    assert before == ("two", "before", "page load", "2", "3,000", "3,900", "1", "0")
    assert late == ("two", "before", "reply", "0", "–", "–", "0", "3")
    assert now == [("two", "now", *before[2:]), ("two", "now", *late[2:])]


def test_memory_is_shown_from_start_to_end_with_its_slope():
    cells = ("two", "before", "100 to 120", "none", "10,240", "game")
    assert memory_cells(artifact().data)[0] == cells
    assert "100 to 120" in panel.memory_table(artifact())


def test_the_page_says_once_who_visits_and_for_how_long():
    assert panel.mixes(artifact()) == {"two": "two: both read (10 s before, 10 s now)"}
    shown = panel.load_tables(artifact())
    assert shown.count("<tr>") == 5
    assert shown.count("both read") == 1
