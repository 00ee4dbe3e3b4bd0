"""The palette is readable on both papers, and the HTML parts escape what they are given."""

import plotly.graph_objects as go
import pytest

from panels.ui import look
from panels.ui.look import PALETTE, SERIES

MODES = {"light": 0, "dark": 1}
TEXT_ON = {  # text role: the roles it may stand on
    "ink": ("paper", "surface", "indigo-soft", "marigold-soft"),
    "subdued": ("paper", "surface", "indigo-soft"),
    "indigo": ("paper", "surface", "indigo-soft"),
    "marigold": ("paper", "surface"),
    "good": ("paper", "surface"),
    "bad": ("paper", "surface"),
    "on-indigo": ("indigo", "indigo-strong"),
}


def luminance(colour: str) -> float:
    """Relative luminance of `#RRGGBB` (WCAG 2.1)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_contrast_the_standard_gives_it():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


@pytest.mark.parametrize("mode", MODES)
def test_every_text_colour_is_readable_where_it_stands(mode):
    ratios = {
        (text, ground): contrast(PALETTE[text][MODES[mode]], PALETTE[ground][MODES[mode]])
        for text, grounds in TEXT_ON.items()
        for ground in grounds
    }
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("mode", MODES)
def test_every_chart_colour_and_every_edge_stands_out_on_paper_and_surface(mode):
    colours = {role: (s.light, s.dark)[MODES[mode]] for role, s in SERIES.items()}
    colours["edge"] = PALETTE["edge"][MODES[mode]]
    ratios = {
        (role, ground): contrast(colour, PALETTE[ground][MODES[mode]])
        for role, colour in colours.items()
        for ground in ("paper", "surface")
    }
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 3} == {}


def test_no_two_series_look_alike_to_an_eye_without_colour():
    signs = [(s.dash, s.marker) for role, s in SERIES.items() if role not in ("buyer", "seller")]
    assert len(set(signs)) == len(signs)


def test_a_light_colour_of_a_figure_has_one_dark_counterpart():
    pairs = [*PALETTE.values(), *((s.light, s.dark) for s in SERIES.values())]
    assert len({light for light, _ in pairs}) == len(set(pairs))


def test_styled_leaves_the_given_figure_alone_and_takes_its_title_away():
    given = go.Figure(layout={"title": "T"}).add_bar(x=["a"], y=[1], **look.bar_style("grpo"))
    figure = look.styled(given, height=200)
    assert (given.layout.title.text, given.layout.height) == ("T", None)
    assert (figure.layout.title.text, figure.layout.height) == (None, 200)
    assert figure.data[0].marker.color == SERIES["grpo"].light


def test_published_figures_are_hollow_and_hatched():
    assert look.line_style("base", published=True)["marker"]["symbol"] == "square-open"
    assert look.bar_style("base", published=True)["marker"]["pattern"]["shape"] == "/"


@pytest.mark.parametrize(
    "part",
    [
        look.stat("<b>", "<b>", "<b>", "<b>"),
        look.note("<b>"),
        look.empty("<b>", "<b>"),
        look.heading("<b>", "<b>"),
        look.table(["<b>"], [["<b>"]], caption='<b> "'),
    ],
)
def test_html_parts_escape_what_they_are_given(part):
    assert "<b>" not in part
    assert "&lt;b&gt;" in part


def test_parts_inside_parts_are_not_escaped_twice():
    assert look.badge("measured") in look.table(["from"], [[look.badge("measured")]])
    assert look.stat("1", "n") in look.strip(look.stat("1", "n"), look.stat("2", "n"))
    assert "&lt;i&gt;" in look.strip("<i>")


def test_numbers_stand_right_and_rows_have_a_head():
    html = look.table(["policy", "n"], [["linear", 200]], caption="Games")
    assert '<th class="sauda-l" scope="row">linear</th><td class="sauda-r">200</td>' in html
    assert "<caption>Games</caption>" in html


def test_a_wrong_origin_or_alignment_is_refused():
    with pytest.raises(ValueError, match="measured"):
        look.badge("estimated")
    with pytest.raises(ValueError, match="2 letters"):
        look.table(["a", "b"], [], align="lrr")
    with pytest.raises(ValueError, match="2 cells"):
        look.table(["a", "b"], [["only one"]])


def test_a_sentence_for_a_visitor_runs_from_capital_to_full_stop():
    assert ">This is wrong.<" in look.trouble(ValueError("this is wrong"))


def test_only_hyphens_before_negative_numbers_become_minus_signs():
    told = look.with_minus_signs("a self-play run, 2024-11-01: -0.1 [-0.2, +0.3]")
    assert told == "a self-play run, 2024-11-01: −0.1 [−0.2, +0.3]"
