"""The README's pictures, taken from the page: the arena's calendar, the climb of the model."""

import shutil
from typing import Any

from sauda.commands.bench.run import CHROMIUM_FLAGS, no_browser
from sauda.commands.page_process import running_app
from sauda.records.store import ROOT, write_bytes

PICTURES = ROOT / "pictures"
WIDTH, HEIGHT = 1280, 900  # of the window, in CSS pixels; two pixels of the picture for each


def pictures() -> None:
    """Take both pictures.

    Raises ValueError where there is no browser.
    """
    if obstacle := no_browser():
        raise ValueError(f"no picture can be taken: {obstacle}")
    from playwright.sync_api import sync_playwright

    with running_app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        for name, taken in (("arena", _arena), ("climb", _climb)):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                device_scale_factor=2,
                reduced_motion="reduce",
            )
            page.goto(f"{address}/?__theme=light")
            write_bytes(PICTURES / f"{name}.png", taken(page).screenshot())
        browser.close()


def _arena(page: Any) -> Any:
    """The calendar after the rule expert played the tab's first world to its end."""
    page.get_by_role("tab", name="GPU arena").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#arena-end .sauda-stat").first.wait_for(timeout=120_000)
    return page.locator("#arena-board")


def _climb(page: Any) -> Any:
    """The bare model's grade after each stage of training, on the first task of the ladder."""
    page.get_by_role("tab", name="Results").click()
    plot = page.locator("#results-climb")
    plot.locator(".js-plotly-plot .scatterlayer").first.wait_for(timeout=120_000)
    return plot
