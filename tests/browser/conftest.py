"""The ground of the browser tests: one server and one Chromium for all of them."""

import shutil
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.page import TRUSTED, running_app
from benchmarks.screenshots import CHROMIUM_FLAGS
from sauda.serve.leaderboard import VARIABLE
from tests.support.page import PageOpener
from tests.support.running import unavailable

SHOWN = 20_000  # milliseconds: the model may have to play a whole game on a busy machine
expect.set_options(timeout=SHOWN)


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of a running `app.py`, which has said itself that it answers.

    Told to stop after the last test, it ends in good order, or this raises TimeoutExpired.
    """
    data = {VARIABLE: str(tmp_path_factory.mktemp("data"))}
    with running_app(environment=TRUSTED | data) as app:
        yield app.address
        page = psutil.Process(app.pid)
        page.terminate()
        page.wait(60)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; skips where there is none, but fails on CI."""
    chromium = shutil.which("chromium")
    if chromium is None:
        unavailable("no chromium on this machine, so the page was not opened in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, server: str) -> Iterator[PageOpener]:
    """`open_page(width=1280, dark=False, tab=None)`; contexts are closed after the test."""
    before = set(browser.contexts)
    yield PageOpener(browser, server)
    for context in set(browser.contexts) - before:
        context.close()
