"""Speed of the games, the page and the language model: `python -m benchmarks.speed --save`.

Run by hand. Every figure keeps its samples; the machine stands beside them. What cannot be measured
on a machine is left out, with the reason in a sentence.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import count, islice, product
from typing import Any

from benchmarks.page import running_app
from benchmarks.screenshots import chromium, no_browser
from env import ARENA_TASKS, IllegalAction, Observation, Task, get_task, rollout
from sauda.games import BAZAAR
from sauda.games.adapter import Request
from sauda.llm.engine import Decoder, DecodingBatch, Guesses, Sampling
from sauda.llm.model import Model, NoWeights, load
from sauda.played import play_model
from sauda.players import BASE, SERVED, TUNED, get_policy, player_spec
from sauda.policies.bazaar import linear
from sauda.records import lines
from sauda.records.schemas.speeds import figure
from sauda.records.store import REPOSITORY, machine, save

Figures = list[dict[str, Any]]

REPETITIONS = 5
GAMES = (  # policy, task, episodes per repetition, which are 2,000 in the published measurement
    ("rule_based", "classic/single_deal", 2000),
    ("expert", "classic/single_deal", 2000),
    ("linear", "bazaar/open-3", 2000),
    ("listener", "bazaar/open-3", 20),  # it weighs thousands of sellers at each move
)
LAB, ARENA_EPISODES = "rule_based_expert", 200  # per repetition
IMPORT = """
import sys, time
start = time.perf_counter()
import app
print(time.perf_counter() - start, "torch" in sys.modules)
"""
# The page opens on the Tour's race, a table, at first as plain HTML and then as a component.
FIGURE = ":is(.sauda-race, .sauda-offers, .js-plotly-plot .main-svg):visible"
TABS = ".sauda-tabs [role=tab]:visible"  # of the page itself, which can be used then
PRECISIONS = ("fp32", "bf16", "int8")
TASK = "bazaar/people"  # that the language model plays
GREEDY, MOVES = Sampling(temperature=0.0), 20  # timed in each precision
ROUNDS, ROWS = 3, 16  # of its games: repetitions, and games side by side
REPLIES = 100  # to a script's positions, each with guesses and without


def main() -> None:
    """Measure, print the figures, and save them if the options say so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--save", action="store_true", help="write artifacts/bench.json")
    options = parser.parse_args()
    data = measure()
    shown = ("n", "median", "p95", "unit", "name")
    print(*lines({name: row.get(name) for name in shown} for row in data["figures"]), sep="\n")
    print(*data["left_out"], sep="\n")
    if options.save:
        save("bench.json", {}, data)


def measure() -> dict[str, Any]:
    """The data of the bench artifact: the machine, figures, what was left out."""
    figures, left_out = [play_bazaar(*game) for game in GAMES], []
    for task in ARENA_TASKS.values():
        figures += play_arena(task)
    figures.append(import_app())
    if obstacle := no_browser():
        left_out.append(f"the page in a browser is left out: {obstacle}.")
    else:
        with running_app() as app:
            figures += open_page(app.address)
    try:
        figures += make_moves()
        figures += play_in_step()
        figures += write_replies()
    except NoWeights as error:
        left_out.append(f"The language model's speed is left out: {error}.")
    about = machine() | {"gradio": version("gradio")}
    return {"machine": about, "figures": figures, "left_out": left_out}


def play_bazaar(policy: str, task: str, episodes: int) -> dict[str, Any]:
    """Episodes per second of a policy on one core. Drawing the games counts."""
    learner = get_policy(get_task(task), policy)

    def play(repetition: int) -> int:
        for seed in range(repetition * episodes, (repetition + 1) * episodes):
            rollout(get_task(task), learner, seed)
        return episodes

    name = f"episodes a second, {policy} on {task}"
    return figure(name, "episodes/s", repeat(play), task=task, episodes=episodes, cores=1)


def repeat(
    work: Callable[[int], int],
    repetitions: int = REPETITIONS,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Work per second of `clock`, one sample per repetition.

    `work` is given the number of the repetition, from 0, and returns how much it did. A first
    repetition, with the last one's work, warms up.
    """
    samples = []
    for repetition in range(-1, repetitions):
        start = clock()
        done = work(repetition % repetitions)
        if repetition >= 0:
            samples.append(done / (clock() - start))
    return samples


def play_arena(task: Task) -> Figures:
    """Episodes and steps per second of a task of the arena on one core.

    A step is an action of the learner with all that the other labs do until its next.
    """
    learner = get_policy(task, LAB)
    speeds: dict[str, list[float]] = {"episodes": [], "steps": []}
    for repetition in range(REPETITIONS):
        seeds = range(repetition * ARENA_EPISODES, (repetition + 1) * ARENA_EPISODES)
        start = time.perf_counter()
        played = [rollout(task, learner, seed).turns for seed in seeds]
        seconds = time.perf_counter() - start
        steps = sum(turn.agent == task.learner for turns in played for turn in turns)
        speeds["episodes"].append(ARENA_EPISODES / seconds)
        speeds["steps"].append(steps / seconds)
    more = {"task": task.name, "episodes": ARENA_EPISODES, "cores": 1}
    return [
        figure(f"{unit} a second, {LAB}, {task.name}", f"{unit}/s", samples, **more)
        for unit, samples in speeds.items()
    ]


def import_app() -> dict[str, Any]:
    """Seconds for `import app` in a fresh interpreter; ValueError where that imports torch."""
    samples = []
    for _ in range(REPETITIONS):
        command = [sys.executable, "-c", IMPORT]
        run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        if run.returncode:
            raise ValueError(f"app cannot be imported: {run.stderr.strip()}")
        seconds, torch = run.stdout.split()
        if torch != "False":
            raise ValueError("importing app imports torch; the page must open without it")
        samples.append(float(seconds))
    return figure("import of app", "s", samples)


def open_page(address: str) -> Figures:
    """Seconds from navigation to the first figure and to the tabs, each in a fresh context."""
    seen: dict[str, list[float]] = {"first figure visible": [], "tabs visible": []}
    with chromium() as browser:
        for _ in range(REPETITIONS):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            for selector, samples in zip((FIGURE, TABS), seen.values(), strict=True):
                page.locator(selector).first.wait_for()
                samples.append(time.perf_counter() - start)
            context.close()
        used = {"chromium": browser.version}
    return [figure(name, "s", samples, **used) for name, samples in seen.items()]


def make_moves() -> Figures:
    """The time of a real move in each precision: replies decoded under the grammar of legal moves.

    Each precision also says how often it makes the move that fp32 makes, so that speed is not
    bought with another player.
    """
    games = (rollout(get_task(TASK), linear, seed) for seed in count())
    turns = (turn for game in games for turn in game.trajectory("buyer"))
    seen = [turn.observation for turn in islice(turns, MOVES)]
    figures, moved = [], {}
    for precision, prefix in product(PRECISIONS, (True, False)):
        model = load(BASE, precision, "cpu", GREEDY)
        model.decoder.reuses_prefix = prefix
        timed = [time_move(model, obs) for obs in [seen[0], *seen]][1:]  # the first warms up
        mark = {"precision": precision, "prefix_cache": prefix, "model": BASE}
        if prefix:
            moved[precision] = [move for *_, move in timed]
            same = sum(a == b for a, b in zip(moved[precision], moved["fp32"], strict=True))
            mark["moves_as_fp32"] = same / len(seen)
        label = f"{BASE}, {precision}, prefix cache {'on' if prefix else 'off'}"
        firsts, wholes, speeds, _ = zip(*timed, strict=True)
        figures += [
            figure(f"first words, {label}", "s", firsts, p95=True, **mark),
            figure(f"whole move, {label}", "s", wholes, p95=True, **mark),
            figure(f"decoding, {label}", "tokens/s", speeds, **mark),
        ]
    return figures


def time_move(model: Model, obs: Observation) -> tuple[float, float, float, str]:
    """Seconds to the first token and to the last, tokens per second between, and the move made."""
    start = time.perf_counter()
    at, text = [], ""
    for reply in model.stream(BAZAAR.prompt.render(obs), 0, BAZAAR.prompt.schema(obs)):
        at.append(time.perf_counter() - start)
        text = reply.text
    try:
        move = repr(BAZAAR.prompt.parse(text, obs)).split(", message")[0]
    except IllegalAction:
        move = "none"
    return at[0], at[-1], (len(at) - 1) / max(at[-1] - at[0], 1e-9), move


def play_in_step() -> Figures:
    """Whole games of the model per CPU minute, training seeds, bare, prompts read alone."""
    player = player_spec(SERVED)

    def play(number: int) -> int:
        play_model(get_task(TASK), player, range(number * ROWS, (number + 1) * ROWS))
        return ROWS

    rates = repeat(play, ROUNDS, time.process_time)
    name = f"games, {SERVED}, {ROWS} in step"
    return [figure(name, "games/CPU min", [60.0 * rate for rate in rates], task=TASK)]


def write_replies() -> Figures:
    """CPU seconds of a reply in words of its own, as visitors get it: with and without guesses."""
    script = get_policy(get_task(TASK), TUNED)
    games = (rollout(get_task(TASK), script, seed) for seed in count())
    turns = (turn for game in games for turn in game.trajectory("buyer"))
    chats = [BAZAAR.prompt.render(turn.observation) for turn in islice(turns, REPLIES)]
    decoder, figures = load(SERVED, device="cpu").decoder, []
    for guesses in (False, True):
        decoder.guesses = Guesses()  # what was written before is not known
        asked = (Request(chat, n, None, decoder.sampling, guesses) for n, chat in enumerate(chats))
        name = f"whole reply, {SERVED}, guesses {'on' if guesses else 'off'}"
        samples = [write_reply(decoder, request) for request in asked]
        figures.append(figure(name, "CPU s", samples, p95=True, task=TASK))
    return figures


def write_reply(decoder: Decoder, request: Request) -> float:
    """CPU seconds of a reply that shares its passes with no other."""
    start, batch = time.process_time(), DecodingBatch(decoder)
    batch.join({0: request})
    while batch.rows:
        batch.sample()
        batch.advance()
    return time.process_time() - start


if __name__ == "__main__":
    main()
