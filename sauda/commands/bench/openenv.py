"""Speed of the OpenEnv environment: steps over `/ws` beside the same steps in this process.

Every session plays `bazaar/open` with the lowest bid until the game ends, so that a step is one bid
and the seller's answer. A reset is no step, but its time counts.
"""

import asyncio
import json
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from tqdm import tqdm

from sauda.evaluation.speed import figure, rounded
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.environment import SaudaEnvironment

SESSIONS = (1, 16, 64)
REPETITIONS = 3
SECONDS = 5.0  # of one repetition
TASK = "bazaar/open"
BID = {"action_type": "offer", "price": 1}
TIMED = 500  # steps whose latency is taken


def openenv_figures(address: str, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Steps a second in this process and with 1, 16 and 64 sessions; what the socket adds."""
    mark = {"task": TASK}
    figures = [figure("OpenEnv steps a second, in process", "steps/s",
                      [steps_in_process(seconds) for _ in range(REPETITIONS)], **mark)]  # fmt: skip
    for sessions in tqdm(SESSIONS, desc="stepping over /ws", leave=False):
        samples = [
            asyncio.run(steps_over_sockets(address, sessions, seconds)) for _ in range(REPETITIONS)
        ]
        name = f"OpenEnv steps a second over /ws, {sessions} at once"
        figures.append(figure(name, "steps/s", samples, visitors=sessions, **mark))
    alone = latencies_in_process()
    over = asyncio.run(latencies_over_socket(address))
    added = [1000 * (sample - float(np.median(alone))) for sample in over]
    figures.append(figure("added by /ws to an OpenEnv step", "ms", added, p95=True, **mark))
    return figures


def steps_in_process(seconds: float) -> float:
    """Steps a second of one environment in this process."""
    environment, action = SaudaEnvironment(), SaudaAction(**BID)
    steps, began = 0, time.perf_counter()
    for seed in count():
        done = environment.reset(task=TASK, seed=seed).done
        while not done:
            done = environment.step(action).done
            steps += 1
        if (past := time.perf_counter() - began) > seconds:
            return rounded(steps / past)


async def steps_over_sockets(address: str, sessions: int, seconds: float) -> float:
    """Steps a second of so many sessions together."""
    began = time.perf_counter()

    async def play(first: int) -> int:
        from websockets.asyncio.client import connect

        steps = 0
        async with connect(socket_address(address)) as socket:
            for seed in count(first):
                steps += await played(socket, seed)
                if time.perf_counter() - began > seconds:
                    return steps

    steps = sum(await asyncio.gather(*(play(1_000 * one) for one in range(sessions))))
    return rounded(steps / (time.perf_counter() - began))


async def played(socket: Any, seed: int, timed: Callable[[float], None] | None = None) -> int:
    """Plays one episode over a socket; its number of steps."""
    steps, answer = 0, await told(socket, "reset", {"task": TASK, "seed": seed})
    while not answer["done"]:
        before = time.perf_counter()
        answer = await told(socket, "step", BID)
        steps += 1
        if timed is not None:
            timed(time.perf_counter() - before)
    return steps


async def told(socket: Any, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """The answer's data; ValueError where the server answers with an error."""
    await socket.send(json.dumps({"type": kind, "data": data}))
    answer = json.loads(await socket.recv())
    if answer["type"] == "error":
        raise ValueError(f"the page refused a message: {answer['data']['message']}")
    return answer["data"]


def latencies_in_process() -> list[float]:
    """Seconds of single steps in this process."""
    environment, action, samples = SaudaEnvironment(), SaudaAction(**BID), []
    for seed in count():
        done = environment.reset(task=TASK, seed=seed).done
        while not done:
            before = time.perf_counter()
            done = environment.step(action).done
            samples.append(time.perf_counter() - before)
        if len(samples) >= TIMED:
            return samples


async def latencies_over_socket(address: str) -> list[float]:
    """Seconds from sending a step to its answer, one session alone."""
    from websockets.asyncio.client import connect

    samples: list[float] = []
    async with connect(socket_address(address)) as socket:
        for seed in count():
            await played(socket, seed, samples.append)
            if len(samples) >= TIMED:
                return samples


def socket_address(address: str) -> str:
    """Where the page at `address` takes sessions."""
    return address.replace("http", "ws", 1) + "/ws"
