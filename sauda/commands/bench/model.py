"""Speed of the language model: first words, a whole move, tokens and episodes a second.

Each precision also says how often it makes the move that fp32 makes, so that speed is not bought
with another player. Replies are decoded under the grammar of legal moves: the time of a real move,
also for a base that is not trained to make one.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
from tqdm import tqdm

from env import IllegalAction, Observation, get_task, rollout
from sauda.evaluation.models.comparison import play_model
from sauda.evaluation.speed import figure
from sauda.games import BAZAAR
from sauda.llm.backends.decoding import Sampling
from sauda.llm.backends.model import Model, load
from sauda.llm.registry import PlayerSpec
from sauda.llm.serving.line import Limits, Visitor
from sauda.llm.serving.process import ProcessEngine
from sauda.llm.serving.service import ReplyService
from sauda.llm.serving.worker import ModelWorker
from sauda.policies.bazaar import linear

PRECISIONS = ("fp32", "bf16", "int8")
TASK = "bazaar/open"
SHORT = "bazaar/rushed"  # few moves a game
LONG = 120.0  # seconds a reply may take: a bench waits for it on a busy machine
GREEDY = Sampling(temperature=0.0)
ONE_ADDRESS = Limits(waiting=64, waiting_of_address=64)  # its visitors have none


def model_figures(name: str = "mini", moves: int = 20, games: int = 32) -> list[dict[str, Any]]:
    """Every measurement of the model `name` on a CPU; a figure each, with its samples."""
    seen = list(positions(moves))
    figures, moved = [], {}
    for precision in tqdm(PRECISIONS, desc="measuring the model", leave=False):
        for prefix in (True, False):
            model = load(name, precision, "cpu", GREEDY)
            model.decoder.reuses_prefix = prefix
            timed = [timed_move(model, obs) for obs in [seen[0], *seen]][1:]  # the first warms up
            mark = {"precision": precision, "prefix_cache": prefix, "model": name}
            if prefix:
                moved[precision] = [move for *_, move in timed]
                same = sum(a == b for a, b in zip(moved[precision], moved["fp32"], strict=True))
                mark["moves_as_fp32"] = same / len(seen)
            label = f"{name}, {precision}, prefix cache {'on' if prefix else 'off'}"
            firsts, wholes, speeds, _ = zip(*timed, strict=True)
            figures += [
                figure(f"first words, {label}", "s", firsts, p95=True, **mark),
                figure(f"whole move, {label}", "s", wholes, p95=True, **mark),
                figure(f"decoding, {label}", "tokens/s", speeds, **mark),
            ]
    model = load(name, device="cpu")
    return figures + batch_figures(model, name, games) + visitor_figures(name)


def positions(count: int) -> Iterator[Observation]:
    """The first `count` positions that a buyer met, over training seeds."""
    seed = 0
    while count > 0:
        for turn in rollout(get_task(TASK), linear, seed).trajectory("buyer")[:count]:
            yield turn.observation
            count -= 1
        seed += 1


def timed_move(model: Model, obs: Observation) -> tuple[float, float, float, str]:
    """Seconds to the first token and to the last, tokens a second between, and the move made."""
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


def batch_figures(model: Model, name: str, games: int) -> list[dict[str, Any]]:
    """Episodes a second: one game at a time and `games` in one batch, constrained, same seeds."""
    player = PlayerSpec(model, constrained=True)
    mark = {"precision": model.precision, "model": name, "task": TASK}
    play_model(get_task(TASK), player, [0])  # warms up
    alone = rate(player, [[seed] for seed in range(games // 4)])
    together = rate(player, [range(games)])
    return [
        figure(f"episodes a second, {name}, one at a time", "episodes/s", alone, **mark),
        figure(f"episodes a second, {name}, {games} in step", "episodes/s", together, **mark),
    ]


def rate(player: PlayerSpec, batches: Sequence[Sequence[int]]) -> list[float]:
    """Episodes a second of playing all of `batches`, one sample."""
    start = time.perf_counter()
    for seeds in batches:
        play_model(get_task(TASK), player, seeds)
    return [sum(map(len, batches)) / (time.perf_counter() - start)]


def visitor_figures(name: str, games: int = 200, visitors: int = 20) -> list[dict[str, Any]]:
    """Memory of the model process after each game, while many visitors play.

    The second half beside the first: conversations are remembered up to a limit, which the first
    half reaches.
    """
    service = ReplyService(ProcessEngine, ONE_ADDRESS, reply_limit=LONG)
    worker = ModelWorker(name, service, name, GREEDY)
    worker.wait(LONG)
    task, process = get_task(SHORT), psutil.Process(service.engine.pid)

    def play(seed: int) -> float:
        seat = PlayerSpec(worker.for_visitor(Visitor(f"visitor {seed}")), constrained=True)
        rollout(task, seat.policy(BAZAAR), seed)
        return process.memory_info().rss / 2**20

    with ThreadPoolExecutor(visitors) as pool:
        sizes = list(tqdm(pool.map(play, range(games)), total=games, desc="visiting", leave=False))
    service.engine.restart()
    mark = {"model": name, "visitors": visitors, "task": SHORT}
    halves = sizes[: games // 2], sizes[games // 2 :]
    return [
        figure(
            f"memory of the model process, {visitors} visitors, games {label}", "MiB", half, **mark
        )
        for label, half in zip((f"1 to {games // 2}", f"to {games}"), halves, strict=True)
    ]
