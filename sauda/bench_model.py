"""Speed of the language model: first words, a whole move, tokens and episodes a second.

Each precision also says how often it makes the move that fp32 makes, so that speed is not bought
with another player. Replies are decoded under the grammar of legal moves: the time of a real move,
also for a base that is not trained to make one.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from tqdm import tqdm

from env import IllegalAction, Observation, rollout, task
from sauda.bench import figure
from sauda.ladder import play_model
from sauda.policies.bazaar import linear
from sauda.policies.decoding import Sampling
from sauda.policies.lineup import Contestant
from sauda.policies.llm import parse, render, schema
from sauda.policies.model import Model, load

PRECISIONS = ("fp32", "bf16", "int8")
TASK = "bazaar/open"
GREEDY = Sampling(temperature=0.0)


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
    return figures + batch_figures(load(name, device="cpu"), name, games)


def positions(count: int) -> Iterator[Observation]:
    """The first `count` positions that a buyer met, over training seeds."""
    seed = 0
    while count > 0:
        for turn in rollout(task(TASK), linear, seed).trajectory("buyer")[:count]:
            yield turn.observation
            count -= 1
        seed += 1


def timed_move(model: Model, obs: Observation) -> tuple[float, float, float, str]:
    """Seconds to the first token and to the last, tokens a second between, and the move made."""
    start = time.perf_counter()
    at, text = [], ""
    for reply in model.stream(render(obs), 0, schema(obs)):
        at.append(time.perf_counter() - start)
        text = reply.text
    try:
        move = repr(parse(text, obs)).split(", message")[0]
    except IllegalAction:
        move = "none"
    return at[0], at[-1], (len(at) - 1) / max(at[-1] - at[0], 1e-9), move


def batch_figures(model: Model, name: str, games: int) -> list[dict[str, Any]]:
    """Episodes a second one at a time and `games` in step, constrained, on the same seeds."""
    player = Contestant(model, constrained=True)
    mark = {"precision": model.precision, "model": name, "task": TASK}
    play_model(task(TASK), player, [0])  # warms up
    alone = rate(player, [[seed] for seed in range(games // 4)])
    together = rate(player, [range(games)])
    return [
        figure(f"episodes a second, {name}, one at a time", "episodes/s", alone, **mark),
        figure(f"episodes a second, {name}, {games} in step", "episodes/s", together, **mark),
    ]


def rate(player: Contestant, batches: Sequence[Sequence[int]]) -> list[float]:
    """Episodes a second of playing all of `batches`, one sample."""
    start = time.perf_counter()
    for seeds in batches:
        play_model(task(TASK), player, seeds)
    return [sum(map(len, batches)) / (time.perf_counter() - start)]
