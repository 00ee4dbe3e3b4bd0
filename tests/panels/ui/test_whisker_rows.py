"""Figures whose rows have their labels above them."""

import plotly.graph_objects as go
import pytest

from panels.ui.whisker_rows import WhiskerRow, labels_above, whisker_rows
from sauda.records.schemas.base import Interval

SURE = WhiskerRow("SFT", Interval(mean=0.2, low=0.1, high=0.4), "sft")
BOUND = WhiskerRow("bound", Interval(mean=-0.5, low=-0.6, high=-0.4), "oracle")


def test_each_row_shows_its_numbers_in_words_and_as_a_point_with_whiskers():
    figure = whisker_rows({"open": [SURE], "rushed": [BOUND]}, "gain", "+.1f")
    texts = [note.text for note in figure.layout.annotations]
    assert texts == [
        "<b>open</b>",
        "SFT: +0.2 [+0.1, +0.4]",
        "<b>rushed</b>",
        "bound: −0.5 [−0.6, −0.4]",
    ]
    first, second = figure.data
    assert first.x == (0.2,)
    assert first.error_x.array == pytest.approx((0.2,))
    assert first.error_x.arrayminus == pytest.approx((0.1,))
    assert first.y > second.y  # the first group stands on top
    assert all(note.bgcolor for note in figure.layout.annotations)  # no grid line crosses them
    heights = [note.y for note in figure.layout.annotations]
    assert heights == sorted(heights, reverse=True)


def test_a_rule_above_each_label_parts_it_from_the_point_of_the_row_before():
    figure = whisker_rows({"open": [SURE, SURE]}, "gain", "+.1f")
    first, second = (point.y[0] for point in figure.data)
    upper, lower = (rule.y0 for rule in figure.layout.shapes)
    assert upper > first > lower > second


def test_the_axis_holds_0_and_the_ends_of_all_whiskers():
    low, high = whisker_rows({"open": [SURE]}, "gain", "+.1f").layout.xaxis.range
    assert low < 0 < 0.4 < high
    low, high = whisker_rows({"open": [BOUND]}, "gain", "+.1f").layout.xaxis.range
    assert low < -0.6 < 0 < high


def test_labels_stand_above_their_bars_and_the_figure_grows_with_them():
    bar = go.Bar(x=[1, 2], y=["a", "b"], orientation="h")
    figure = labels_above(go.Figure(bar), ["a", "b"])
    assert [(note.text, note.y, note.yanchor) for note in figure.layout.annotations] == [
        ("a", "a", "bottom"),
        ("b", "b", "bottom"),
    ]
    assert figure.layout.yaxis.showticklabels is False
    taller = labels_above(go.Figure(bar), ["a", "b", "c"], top=20)
    assert taller.layout.height > figure.layout.height + 20
