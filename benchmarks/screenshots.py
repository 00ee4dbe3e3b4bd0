"""The README's picture, taken from the page by hand: `python -m benchmarks.screenshots`."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from benchmarks.page import running_app
from sauda.records.store import ROOT, write_bytes

PICTURE = ROOT / "pictures" / "page.png"
CHROMIUM_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
WINDOW = {"width": 1280, "height": 900}  # CSS pixels; two pixels of the picture for each
LONG = 300_000  # milliseconds


def main() -> None:
    """Take the picture of a game in the Haggle tab and write it to PICTURE."""
    if obstacle := no_browser():
        raise SystemExit(f"no picture can be taken: {obstacle}")
    with running_app() as app, chromium() as browser:
        page = browser.new_page(viewport=WINDOW, device_scale_factor=2, reduced_motion="reduce")
        page.set_default_timeout(LONG)
        page.goto(f"{app.address}/?__theme=light")
        _haggle(page)
        write_bytes(PICTURE, page.screenshot())
    print(f"wrote {PICTURE}")


@contextmanager
def chromium() -> Iterator[Any]:
    """Context: this machine's Chromium as a browser of Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        yield browser
        browser.close()


def no_browser() -> str:
    """The reason why the page cannot be opened in a browser on this machine; empty where it can."""
    if find_spec("playwright") is None:
        return "playwright is not installed here (it comes with the dev extra)"
    return "" if shutil.which("chromium") else "there is no chromium on this machine"


def _haggle(page: Any) -> None:
    """Open the Haggle tab and make three bids to the plain seller of the classic game."""
    page.get_by_role("tab", name="Haggle", exact=True).click()
    page.locator("#haggle-seat").get_by_text("I buy", exact=True).click()
    bubbles = page.locator("#haggle-chat :is([data-testid=user], [data-testid=bot])")
    bubbles.first.wait_for()
    page.get_by_label("Market").click()
    page.get_by_role("option", name="A plain seller").click()
    bubbles.first.get_by_text(re.compile(r"₹60\b")).wait_for()  # the classic seller’s first ask
    for n, price in enumerate(("₹25", "₹30", "₹36"), 1):
        box = page.locator("#haggle-price :is(input, textarea)")
        box.fill(price)
        box.press("Enter")
        bubbles.nth(2 * n).wait_for()
    page.locator("#haggle-badge", has_text="loading").wait_for(state="hidden")


if __name__ == "__main__":
    main()
