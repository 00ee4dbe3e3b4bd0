"""The published figures on Results."""

from panels.results import published as published_panel
from sauda.records.store import load


def test_every_published_figure_can_be_shown_with_its_caveat_and_n():
    published = load("published.json")
    for _, figure_id in published_panel.published_names(published):
        shown = str(published_panel.published_figure(published, figure_id))
        assert "published" in shown
        assert "Source: " in shown
