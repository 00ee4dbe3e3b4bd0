"""The Training tab as a visitor uses it: a link to a view, other settings, files of it."""

import csv
import io

import pytest
from playwright.sync_api import Page, expect

from sauda.records.store import load
from tests.support.page import DRAWN, settle

STACK = "training-curves"  # id of the stack of panels


def opened(open_page, query: str, **window) -> Page:
    """The page at a link to Training, its curves drawn."""
    page = open_page(query=f"tab=training&{query}", **window)
    expect(page.locator(f"#{STACK} .main-svg").first).to_be_visible(timeout=DRAWN)
    settle(page)
    return page


def axis_title(page: Page) -> str:
    return page.locator(f"#{STACK} .xtitle").text_content()


def line(page: Page) -> str:
    """The path of the first averaged curve."""
    return page.locator(f"#{STACK} .js-line").first.get_attribute("d")


@pytest.mark.journey
def test_a_link_opens_the_tab_at_its_view_and_other_settings_redraw_it(open_page):
    page = opened(open_page, "run=sft&over=time&smoothing=0.9&log=1")
    expect(page.get_by_role("tab", name="Training")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#training-over").get_by_label("time")).to_be_checked()
    expect(page.get_by_label("logarithmic")).to_be_checked()
    assert axis_title(page) == "minutes of SFT, mini"
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0.9)")

    before, slider = line(page), page.locator("#training-smoothing input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0)")
    settle(page)
    assert line(page) != before
    page.locator("#training-link a").click()
    page.wait_for_url("**smoothing=0&**")
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0)", timeout=DRAWN)
    open_page.assert_no_trouble()


def test_the_shown_log_downloads_as_csv_and_as_a_picture(open_page):
    page = opened(open_page, "run=sft")
    panel = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    with page.expect_download() as download:
        panel.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "sauda-sft.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    log = load("training/sft.json").data.log
    assert [float(row["loss"]) for row in rows] == [row.loss for row in log]
    with page.expect_download() as download:
        panel.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "sauda-sft.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    open_page.assert_no_trouble()
