"""The published figures on Results."""

from panels.results import published as published_panel
from sauda.records.store import load


def test_every_published_figure_can_be_shown_with_its_caveat_and_n():
    published = load("published.json")
    tasks = {name for name in published_panel.TITLES if "_" in name}
    for _, figure_id in published_panel.published_names(published):
        shown = str(published_panel.published_figure(published, figure_id))
        assert "published" in shown
        assert "Source: " in shown
        assert not [name for name in tasks if f">{name}<" in shown]


def test_tasks_stand_by_their_titles_and_names_without_underscores():
    in_words = published_panel.in_words
    assert in_words("The fall on amazon_realistic") == "The fall on catalogue item"
    assert in_words("tit_for_tat") == "tit for tat"
    assert in_words("unsloth/some_model") == "unsloth/some_model"
    assert in_words(0.5) == 0.5
    shown = str(published_panel.differences_table())
    assert "overbid once on ten deals" in shown
    assert "`" not in shown
