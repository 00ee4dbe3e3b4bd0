"""The page as a visitor's browser draws it: readable, fitting a phone, from one host."""

import pytest

from panels import PANELS
from tests.support.page import overflow, settle, show_tab, violations

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
        assert overflow(page) <= 0, title
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
