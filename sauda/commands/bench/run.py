"""Speed of the games and of the page: every sample, its median and the machine it was taken on.

The page runs as it does for a visitor, in a process of its own. What cannot be measured on a
machine is left out and said in a sentence.
"""

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tqdm import tqdm

from env import MARKETS
from sauda.commands.bench.games import REPETITIONS, arena_speeds, game_speeds, published_speeds
from sauda.commands.bench.timing import figure
from sauda.commands.load_test import THINKING, VISITORS, replies
from sauda.commands.page_process import REPOSITORY, running_app
from sauda.evaluation.evaluate import Config, evaluate
from sauda.policies import BUYERS

TABLE_EPISODES = 1000  # a policy and task, as in the recorded evaluation
TABLE_CORES = 2
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FIGURE = ":is(.sauda-offers, .js-plotly-plot .main-svg):visible"
NO_MODEL = "The language model's speed is left out: the run was asked for without it."
IMPORT = """
import sys, time
start = time.perf_counter()
import app
print(time.perf_counter() - start, "torch" in sys.modules)
"""


def bench(only_model: bool = False, without_model: bool = False) -> dict[str, Any]:
    """The data of the bench artifact: the machine, figures, their ratios, what was left out."""
    spoken, left_out = ([], [NO_MODEL]) if without_model else language_model()
    if only_model:
        return {"machine": machine(), "figures": spoken, "ratios": [], "left_out": left_out}
    figures, ratios = game_speeds()
    figures += [full_table(), *arena_speeds(), import_of_app()]
    with running_app() as address:
        if obstacle := no_browser():
            left_out.append(f"“first figure visible” is left out: {obstacle}.")
        else:
            figures.append(first_figure(address))
        figures.append(scripted_reply(address))
    figures += spoken
    return {"machine": machine(), "figures": figures, "ratios": ratios, "left_out": left_out}


def report(data: Mapping[str, Any]) -> Iterator[str]:
    """A bench's data as lines of text; the published speeds stand apart."""
    width = max(len(row["name"]) for row in data["figures"])
    for row in data["figures"]:
        p95 = f", 95 % within {row['p95']:.4g}" if "p95" in row else ""
        yield f"{row['name']:{width}} {row['median']:10.4g} {row['unit']}{p95}, n {row['n']}"
    for row in data["ratios"]:
        yield f"{row['of']}: {row['median']:.4g} times {row['to']}, n {row['n']}"
    yield from data["left_out"]
    yield "As published, on other machines; not timed in this run, so no ratio is given:"
    for row in published_speeds():
        yield f"{row['title']}, {row['name']}: {row['median']:,} ({row['source']})"


def language_model() -> tuple[list[dict[str, Any]], list[str]]:
    """The language model's figures; none, and a sentence why, where its weights are not here."""
    from sauda.commands.bench.model import model_figures
    from sauda.llm.backends.weights import NoWeights

    try:
        return model_figures(), []
    except NoWeights as error:
        return [], [f"The language model's speed is left out: {error}."]


def machine() -> dict[str, Any]:
    """What the samples depend on: processor, cores, versions."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "gradio": version("gradio"),
    }


def processor() -> str:
    """The processor's name where the system tells it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def full_table(episodes: int = TABLE_EPISODES, repetitions: int = REPETITIONS) -> dict[str, Any]:
    """Seconds for the open market's whole table: every task and scripted buyer, with intervals."""
    tasks = tuple(f"bazaar/{market}" for market in MARKETS)
    config, samples = Config(tasks, tuple(BUYERS), episodes=episodes), []
    for _ in tqdm(range(repetitions), desc="playing the table", leave=False):
        start = time.perf_counter()
        evaluate(config, workers=TABLE_CORES)
        samples.append(time.perf_counter() - start)
    more = {"tasks": len(tasks), "policies": len(BUYERS), "episodes": episodes}
    name = "full table of scripted policies, all bazaar tasks"
    return figure(name, "s", samples, **more, cores=TABLE_CORES)


def import_of_app() -> dict[str, Any]:
    """Seconds for `import app` in a fresh interpreter; ValueError where it brings torch along."""
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
    """Why the page cannot be opened in a browser here; empty where it can."""
    try:
        version("playwright")
    except PackageNotFoundError:
        return "playwright is not installed here (it comes with the dev extra)"
    return "" if shutil.which("chromium") else "there is no chromium on this machine"


def first_figure(address: str) -> dict[str, Any]:
    """Seconds from navigation to the first figure that can be seen, each in a fresh context."""
    from playwright.sync_api import sync_playwright

    samples = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        for _ in tqdm(range(REPETITIONS), desc="opening the page", leave=False):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.locator(FIGURE).first.wait_for()
            samples.append(time.perf_counter() - start)
            context.close()
        chromium = browser.version
        browser.close()
    return figure("first figure visible", "s", samples, chromium=chromium)


def scripted_reply(address: str) -> dict[str, Any]:
    """Seconds from sending a move to its answer while many visitors play at once."""
    samples = replies(address)
    more = {"visitors": VISITORS, "thinking_s": list(THINKING)}
    return figure("scripted reply", "s", samples, p95=True, **more)
