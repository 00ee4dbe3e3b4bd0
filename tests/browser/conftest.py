"""The ground of the browser tests: one server and one Chromium for all of them."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sauda.commands.bench.page import CHROMIUM_FLAGS
from sauda.commands.bench.page_process import running_app

HERE = Path(__file__).parent
DRAWN = 20_000  # milliseconds: Results has a dozen plots, and tests share the cores
SETTLED = """([quiet, limit]) => new Promise(done => {
    let timer = setTimeout(still, quiet);
    const last = setTimeout(finish, limit);
    const watch = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(still, quiet);
    });
    watch.observe(document.body, {subtree: true, childList: true, attributes: true});
    function still() {  // an answer on its way counts its seconds, and a busy machine skips some
        if (document.querySelector(".progress-text")) timer = setTimeout(still, quiet);
        else finish();
    }
    function finish() {
        clearTimeout(timer);
        clearTimeout(last);
        watch.disconnect();
        document.fonts.ready.then(() => done());
    }
})"""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep every browser test on one worker, so that one server and one browser serve them."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a running `app.py`, which has said itself that it answers."""
    with running_app() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; skips where there is none, but fails on CI."""
    chromium = shutil.which("chromium")
    if chromium is None:
        message = "no chromium on this machine, so the page was not opened in a browser"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@dataclass
class PageOpener:
    """Opens the page in fresh contexts and writes down what went wrong in any of them."""

    browser: Browser
    address: str
    console_errors: list[str] = field(default_factory=list)
    failed_requests: list[str] = field(default_factory=list)
    other_hosts: list[str] = field(default_factory=list)

    def __call__(
        self,
        width: int = 1280,
        dark: bool = False,
        tab: str | None = None,
        height: int = 800,
        query: str = "",
    ) -> Page:
        """The page `width` px wide, settled, on the tab titled `tab` (the first by default).

        `query` is what a link adds to the address: "tab=training&over=time".
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, has_touch=width < 700
        )
        page = context.new_page()
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        page.on("requestfailed", self._note_failure)
        page.on("response", self._note_status)
        page.on("request", self._note_host)
        page.goto(f"{self.address}/?__theme={'dark' if dark else 'light'}&{query}")
        page.locator(".sauda-tabs [role=tab]").first.wait_for()
        settle(page)
        if tab is not None:
            show_tab(page, tab)
        return page

    def assert_no_trouble(self) -> None:
        """Fail where a console error, a failed request or a request to another host was seen."""
        seen = (self.console_errors, self.failed_requests, self.other_hosts)
        assert seen == ([], [], []), "console errors, failed requests, other hosts: " + repr(seen)

    def _note_console(self, message) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)

    def _note_failure(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself ended it, as on closing
            self.failed_requests.append(f"{request.url}: {request.failure}")

    def _note_status(self, response) -> None:
        if response.status >= 400:
            self.failed_requests.append(f"{response.url}: {response.status}")

    def _note_host(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.address).netloc:
            self.other_hosts.append(request.url)


@pytest.fixture
def open_page(browser: Browser, server: str) -> Iterator[PageOpener]:
    """`open_page(width=1280, dark=False, tab=None)`; contexts are closed after the test."""
    before = set(browser.contexts)
    yield PageOpener(browser, server)
    for context in set(browser.contexts) - before:
        context.close()


@pytest.fixture
def screenshot(tmp_path: Path) -> Callable[..., Path]:
    """`screenshot(page, name)` writes the whole page under the test's `tmp_path`."""

    def take(page: Page, name: str = "page") -> Path:
        path = tmp_path / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        return path

    return take


def settle(page: Page, quiet: int = 300, limit: int = 8000) -> None:
    """Wait until the page has not changed for `quiet` ms (at most `limit` ms) and fonts are in."""
    page.evaluate(SETTLED, [quiet, limit])


def show_tab(page: Page, title: str) -> None:
    """Go to the tab titled `title`."""
    page.locator(".sauda-tabs").first.get_by_role("tab", name=title, exact=True).click()
    panel = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    panel.locator(":scope .block:visible, :scope button:visible").first.wait_for()
    plots = panel.locator(":scope .empty.large:visible")
    expect(plots).to_have_count(0, timeout=DRAWN)  # every plot is drawn
    settle(page)
