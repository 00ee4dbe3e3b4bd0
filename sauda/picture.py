"""The README's picture: the arena's calendar at the end of a real episode, taken from the page."""

import shutil

from sauda.artifact import ROOT, write_bytes
from sauda.bench import CHROMIUM_FLAGS, no_browser
from sauda.running import running_app

PICTURE = ROOT / "pictures" / "arena.png"
WIDTH, HEIGHT = 1280, 900  # of the window, in CSS pixels; two pixels of the picture for each


def picture() -> None:
    """Let the rule expert play the tab's first world to its end, and keep its calendar.

    Raises ValueError where there is no browser.
    """
    if obstacle := no_browser():
        raise ValueError(f"no picture can be taken: {obstacle}")
    from playwright.sync_api import sync_playwright

    with running_app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=2,
            reduced_motion="reduce",
        )
        page.goto(f"{address}/?__theme=light")
        page.get_by_role("tab", name="GPU arena").click()
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator("#arena-end .sauda-stat").first.wait_for(timeout=120_000)
        write_bytes(PICTURE, page.locator("#arena-board").screenshot())
        browser.close()
