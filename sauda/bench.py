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
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import ARENA_TASKS, MARKETS, Task, draw_games, play_batch, rollout, task
from sauda.artifact import load
from sauda.evaluate import Config, evaluate
from sauda.policies import BUYERS, policy
from sauda.policies.batch import BATCH
from sauda.reproduce import table
from sauda.running import REPOSITORY, running_app
from sauda.visitors import THINKING, VISITORS, replies

REPETITIONS = 5
EPISODES = 2000  # a repetition, as in the published measurement
BATCH_EPISODES = 20_000  # a repetition, in one batch
TABLE_EPISODES = 1000  # a policy and task, as in the recorded evaluation
TABLE_CORES = 2
SINGLE, OPEN = "classic/single_deal", "bazaar/open"
PUBLISHED = "reference-throughput"
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
IMPORT = """
import sys, time
start = time.perf_counter()
import app
print(time.perf_counter() - start, "torch" in sys.modules)
"""


def bench(only_model: bool = False) -> dict[str, Any]:
    """The data of the bench artifact: the machine, a figure a measurement, what was left out."""
    spoken, left_out = language_model()
    if only_model:
        return {"machine": machine(), "figures": spoken, "left_out": left_out}
    figures = [
        episodes_a_second("rule_based"),
        episodes_a_second("expert"),
        episodes_a_second("rule_based", OPEN),
        episodes_a_second("linear", OPEN),
        *batch_episodes_a_second("rule_based", SINGLE),
        *batch_episodes_a_second("rule_based", OPEN),
        *batch_episodes_a_second("linear", OPEN),
        full_table(),
        *arena_speeds(),
        import_of_app(),
    ]
    with running_app() as address:
        if obstacle := no_browser():
            left_out.append(f"“first figure visible” is left out: {obstacle}.")
        else:
            figures.append(first_figure(address))
        figures.append(scripted_reply(address))
    return {"machine": machine(), "figures": figures + spoken, "left_out": left_out}


def language_model() -> tuple[list[dict[str, Any]], list[str]]:
    """The language model's figures; none, and a sentence why, where its weights are not here."""
    from sauda.bench_model import model_figures
    from sauda.policies.weights import NoWeights

    try:
        return model_figures(), []
    except NoWeights as error:
        return [], [f"The language model's speed is left out: {error}."]


def medians(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same data with every n, median and 95th percentile computed from the samples."""
    return {
        **data,
        "figures": [{**f, **summarised(f["samples"], "p95" in f)} for f in data["figures"]],
    }


def figure(
    name: str, unit: str, samples: Sequence[float], p95: bool = False, **more: Any
) -> dict[str, Any]:
    """One measurement; the samples, in `unit`, come last and to four significant digits."""
    rounded = [float(f"{sample:.4g}") for sample in samples]
    return {"name": name, "unit": unit, **summarised(rounded, p95), **more, "samples": rounded}


def summarised(samples: Sequence[float], p95: bool) -> dict[str, Any]:
    """How many samples, their median, and the 95th percentile where it is wanted."""
    found = {"n": len(samples), "median": _rounded(np.median(samples))}
    return found | ({"p95": _rounded(np.percentile(samples, 95))} if p95 else {})


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


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


def episodes_a_second(name: str, task_name: str = SINGLE) -> dict[str, Any]:
    """Whole episodes of one task on one core; beside `rule_based` the published game's speed."""
    here = task(task_name)
    learner = policy(here, name)
    samples = []
    for repetition in tqdm(range(REPETITIONS), desc=f"playing {name}", leave=False):
        seeds = range(repetition * EPISODES, (repetition + 1) * EPISODES)
        start = time.perf_counter()
        for seed in seeds:
            rollout(here, learner, seed)
        samples.append(EPISODES / (time.perf_counter() - start))
    more = {"task": here.name, "episodes": EPISODES, "cores": 1}
    if task_name != SINGLE:
        return figure(f"episodes a second, {name} on {task_name}", "episodes/s", samples, **more)
    if name == "rule_based":
        more["published"] = published_speed()
    return figure(f"episodes a second, {name}", "episodes/s", samples, **more)


def batch_episodes_a_second(
    name: str, task_name: str, episodes: int = BATCH_EPISODES
) -> list[dict[str, Any]]:
    """The same through the batch engine, one batch a repetition, in two figures.

    The first counts the drawing of the games, by `draw_games`, and their play; the second the play
    alone.
    """
    whole, alone = [], []
    for repetition in range(REPETITIONS):
        start = time.perf_counter()
        games = draw_games(task_name, episodes, np.random.default_rng(repetition))
        drawn = time.perf_counter()
        play_batch(games, BATCH[name])
        end = time.perf_counter()
        whole.append(episodes / (end - start))
        alone.append(episodes / (end - drawn))
    title = f"batch episodes a second, {name} on {task_name}"
    more = {"task": task_name, "episodes": episodes, "cores": 1}
    return [
        figure(title, "episodes/s", whole, **more),
        figure(f"{title}, games drawn before", "episodes/s", alone, **more),
    ]


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


def published_speed() -> dict[str, Any]:
    """The same measurement on the published game, with its source."""
    published = load("published.json")
    speed = next(row for row in table(published, PUBLISHED) if row["path"] == "gym wrapper")
    source = next(f["source"] for f in published.data["figures"] if f["id"] == PUBLISHED)
    return {"median": speed["episodes_per_s"], "figure": PUBLISHED, "source": source}


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


ARENA_EPISODES = 200  # a repetition
ARENA_PUBLISHED = "arena-reference-speed"


def arena_speeds(name: str = "rule_based_expert") -> list[dict[str, Any]]:
    """Episodes and steps a second on one core, the published arena's beside, a task each.

    A step is an action of the learner with all that the other labs do until its next. The published
    source says only "steps"; that it counts them so is our reading.
    """
    return [figure for here in ARENA_TASKS.values() for figure in _arena_speed(here, name)]


def _arena_speed(here: Task, name: str) -> list[dict[str, Any]]:
    learner = policy(here, name)
    episodes, steps, taken, actions = [], [], 0, 0
    for repetition in tqdm(range(REPETITIONS), desc=f"playing {here.name}", leave=False):
        seeds = range(repetition * ARENA_EPISODES, (repetition + 1) * ARENA_EPISODES)
        start = time.perf_counter()
        played = [rollout(here, learner, seed).turns for seed in seeds]
        seconds = time.perf_counter() - start
        own = sum(turn.agent == here.learner for turns in played for turn in turns)
        episodes.append(ARENA_EPISODES / seconds)
        steps.append(own / seconds)
        taken += own
        actions += sum(map(len, played))
    more = {"task": here.name, "episodes": ARENA_EPISODES, "cores": 1}
    more["steps_an_episode"] = _rounded(taken / (REPETITIONS * ARENA_EPISODES))
    more["actions_of_all_labs_an_episode"] = _rounded(actions / (REPETITIONS * ARENA_EPISODES))
    return [
        figure(
            f"{unit} a second, {name}, {here.name}",
            f"{unit}/s",
            samples,
            **more,
            published=published_arena_speed(here.name, unit),
        )
        for unit, samples in (("episodes", episodes), ("steps", steps))
    ]


def published_arena_speed(task_name: str, unit: str) -> dict[str, Any]:
    """The speed of the published arena on the task of the same name, with its source."""
    published = load("published.json")
    name = task_name.removeprefix("arena/")
    speed = next(row for row in table(published, ARENA_PUBLISHED) if row["task"] == name)
    source = next(f["source"] for f in published.data["figures"] if f["id"] == ARENA_PUBLISHED)
    return {"median": speed[f"{unit}_per_s"], "figure": ARENA_PUBLISHED, "source": source}
