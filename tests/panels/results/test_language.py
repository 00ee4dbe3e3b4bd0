"""What Results says of reading prices and tells in text."""

from panels.results import language as language_view
from sauda.records.store import load


def test_results_show_how_well_a_blind_writers_sentences_are_read():
    artifact = load("language.json")
    shown = str(language_view.reading(artifact))
    (row,) = (
        row
        for row in artifact.data.blind.rows
        if (row.reader, row.split, row.language, row.signal) == ("sauda", "held_out", "all", "all")
    )
    assert f"{row.precision.mean:.2f} [{row.precision.low:.2f}" in shown
    assert all(name in shown for name in language_view.KIND_NAMES.values())
