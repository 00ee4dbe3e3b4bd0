"""The page as a visitor's browser draws it: readable, fitting a phone, from one host."""

import pytest

from panels import PANELS
from tests.support.page import settle, show_tab, violations

TITLES = [panel.TITLE for panel in PANELS]
WIDE = 1280
VIEWS = [  # what fits a width does so in both colours
    pytest.param(WIDE, False, id="wide, light", marks=pytest.mark.journey),
    pytest.param(390, True, id="phone, dark"),
]


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_every_tab_keeps_wcag_fits_its_width_and_logs_no_error(open_page, width, dark):
    page = open_page(width=width, dark=dark)
    faults = {}
    for title in TITLES:
        show_tab(page, title)
        faults[title] = violations(page)
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 0, f"{title} is {beyond} px wider than the window"
    assert faults == {title: [] for title in TITLES}
    open_page.assert_no_trouble()


def test_every_part_of_training_judge_and_artifacts_keeps_wcag(open_page):
    page = open_page(dark=True)
    faults = {}
    for title in ("Training", "Judge", "Artifacts & API"):
        show_tab(page, title)
        parts = page.locator(".sauda-subtabs:visible").first.locator(":scope > .tab-wrapper")
        for part in parts.get_by_role("tab").all():
            part.click()
            settle(page)
            faults[part.inner_text()] = violations(page)
    assert faults
    assert not any(faults.values()), faults
    open_page.assert_no_trouble()


def test_the_fonts_come_from_our_own_host(open_page):
    page = open_page()
    loaded = page.evaluate(
        """async () => {
            await Promise.all([
                document.fonts.load('15px Inter', '₹1,20,000 Sauda'),
                document.fonts.load('15px "Noto Sans Devanagari"', 'सौदा'),
                document.fonts.load('15px "JetBrains Mono"', '₹1,20,000'),
            ]);
            return [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family);
        }"""
    )
    assert {name.strip('"') for name in loaded} == {
        "Inter",
        "Noto Sans Devanagari",
        "JetBrains Mono",
    }
    open_page.assert_no_trouble()


def test_a_figure_drawn_in_light_colours_is_repainted_on_a_dark_page(open_page):
    """The style below is how plotly.js writes the buyer's line, an axis label and a grid line."""
    svg = """<div class="js-plotly-plot"><div class="plotly"><svg>
        <path id="line" style="fill: none; stroke: rgb(59, 58, 143); stroke-opacity: 1;"></path>
        <text id="text" style="fill: rgb(29, 27, 38); fill-opacity: 1;">8</text>
        <path id="grid" style="stroke: rgb(227, 221, 208); stroke-opacity: 1;"></path>
    </svg></div></div>"""
    page = open_page(dark=True)
    painted = page.evaluate(
        """svg => {
            document.querySelector('main').insertAdjacentHTML('beforeend', svg);
            const style = id => getComputedStyle(document.getElementById(id));
            return [style('line').stroke, style('text').fill, style('grid').stroke];
        }""",
        svg,
    )
    assert painted == ["rgb(177, 175, 250)", "rgb(239, 235, 226)", "rgb(52, 50, 63)"]
