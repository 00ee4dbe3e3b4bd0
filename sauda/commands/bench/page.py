"""Speed of the page: import, first figure in a browser, replies to many visitors at once.

The page runs as it does for a visitor, in a process of its own.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tqdm import tqdm

from sauda.commands.loadtest.mixes import SCRIPT_PLAYERS, Size
from sauda.commands.loadtest.page_process import RunningPage
from sauda.commands.loadtest.run import ALL, played
from sauda.commands.loadtest.visits import SCRIPTED, THINKING
from sauda.evaluation.speed import figure
from sauda.records.provenance import REPOSITORY

REPETITIONS = 5
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# The page opens on the Tour's race, a table, at first as plain HTML and then as a component.
FIGURE = ":is(.sauda-race, .sauda-offers, .js-plotly-plot .main-svg):visible"
TABS = ".sauda-tabs [role=tab]:visible"  # of the page itself, which can be used then
IMPORT = """
import sys, time
start = time.perf_counter()
import app
print(time.perf_counter() - start, "torch" in sys.modules)
"""


def import_of_app() -> dict[str, Any]:
    """Seconds for `import app` in a fresh interpreter; ValueError where that imports torch."""
    samples = []
    for _ in tqdm(range(REPETITIONS), desc="importing app", leave=False):
        seconds, torch = _python(IMPORT).split()
        if torch != "False":
            raise ValueError("importing app imports torch; the page must open without it")
        samples.append(float(seconds))
    return figure("import of app", "s", samples)


def _python(code: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )
    if run.returncode:
        raise ValueError(f"app cannot be imported: {run.stderr.strip()}")
    return run.stdout


def no_browser() -> str:
    """The reason why the page cannot be opened in a browser on this machine; empty where it can."""
    try:
        version("playwright")
    except PackageNotFoundError:
        return "playwright is not installed here (it comes with the dev extra)"
    return "" if shutil.which("chromium") else "there is no chromium on this machine"


def opening(address: str) -> list[dict[str, Any]]:
    """Seconds from navigation to the first figure and to the tabs, each in a fresh context."""
    from playwright.sync_api import sync_playwright

    seen: dict[str, list[float]] = {"first figure visible": [], "tabs visible": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        for _ in tqdm(range(REPETITIONS), desc="opening the page", leave=False):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            for selector, samples in zip((FIGURE, TABS), seen.values(), strict=True):
                page.locator(selector).first.wait_for()
                samples.append(time.perf_counter() - start)
            context.close()
        chromium = browser.version
        browser.close()
    return [figure(name, "s", samples, chromium=chromium) for name, samples in seen.items()]


def scripted_reply(address: str, seconds: float = 40.0) -> dict[str, Any]:
    """Seconds from sending a move to its answer while many visitors play at once.

    Raises ValueError where the page gave a visitor no answer.
    """
    players = replace(ALL["20 players"], part=1.0)
    mix = played(players, Size(seconds=seconds), RunningPage(address, None))
    for row in mix["rows"]:
        if row["failures"]:
            raise ValueError(f"{row['what']} failed: {row['reasons']}")
    (replies,) = (row for row in mix["rows"] if row["what"] == SCRIPTED)
    samples = [milliseconds / 1000 for milliseconds in replies["samples_ms"]]
    more = {"visitors": SCRIPT_PLAYERS, "thinking_s": list(THINKING)}
    return figure("scripted reply", "s", samples, p95=True, **more)
