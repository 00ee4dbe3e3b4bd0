"""Hostile callers: any event with any arguments, many callers of the API, malformed requests.

A reader opens the page beside them all the time: the page must go on answering.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sauda.commands.loadtest import visits
from sauda.commands.loadtest.client import Browser, network_address
from sauda.commands.loadtest.mixes import Mix, Size, timed
from sauda.commands.loadtest.tally import Failure, MemoryTrack, Missed, Refused
from sauda.commands.loadtest.visits import Crowd
from sauda.records.store import REPOSITORY

ANY_EVENT, API, MALFORMED = "any event, any arguments", "the API's /play", "malformed POST"
READER = 0  # number of the visitor who reads beside them
AT_ONCE = 20  # malformed requests
LEAKS = (b"Traceback (most", b"site-packages", str(REPOSITORY).encode())
PATHS = (
    "/gradio_api/run/predict",
    "/gradio_api/queue/join",
    "/gradio_api/call/play",
    "/gradio_api/call/v2/play",
    "/gradio_api/upload",
    "/gradio_api/component_server",
    "/gradio_api/reset",
    "/gradio_api/cancel",
    "/",
)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e308, "", "x" * 10_000, "mini+/etc/passwd", "../../etc/passwd",
    "<script>alert(1)</script>", "₹-5", "\x00", [], {}, [[[[]]]], {"path": "/etc/passwd"},
    {"__type__": "update", "value": "x"}, {"meta": {"_type": "gradio.FileData"}, "path": "/"},
)  # fmt: skip


async def attack(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """Each attack after the other, with a reader beside them."""
    crowd = replace(crowd, deadline=float("inf"))
    reader = asyncio.create_task(_read(crowd))
    try:
        return await timed(crowd, size, pid, _attacks(crowd, size))
    finally:
        reader.cancel()


async def _attacks(crowd: Crowd, size: Size) -> None:
    rng = np.random.default_rng(0)
    callers = iter(range(1, 1 << 20))
    for event in crowd.plan.events.values():
        bodies = [arguments(len(event.defaults), rng) for _ in range(size.at_once)]
        await asyncio.gather(*(call(crowd, ANY_EVENT, event.id, b, next(callers)) for b in bodies))
    play = crowd.plan.api["play"]
    games = [["classic/single_deal", "expert", str(seed)] for seed in range(size.api_callers)]
    await asyncio.gather(*(call(crowd, API, play, game, next(callers)) for game in games))
    todo = malformed(size.malformed, rng)

    async def post() -> None:
        for path, content, kind in todo:
            await _post(crowd, path, content, kind, next(callers))

    await asyncio.gather(*(post() for _ in range(AT_ONCE)))


async def _read(crowd: Crowd) -> None:
    """Open the page again and again, as a polite visitor would."""
    rng = np.random.default_rng(1)
    while True:
        try:
            async with Browser(crowd.http, crowd.plan, READER) as browser:
                await visits.open_page(crowd, browser)
        except Missed:
            pass  # counted
        await crowd.pause(rng, (0.5, 1.5))


def arguments(number: int, rng: np.random.Generator) -> list[Any]:
    """Values that no browser sends, for an event with so many inputs; sometimes too many."""
    wrong = number + int(rng.integers(-1, 2)) if rng.random() < 0.2 else number
    return [VALUES[place] for place in rng.integers(len(VALUES), size=max(wrong, 0))]


async def call(crowd: Crowd, what: str, event: int, data: list[Any], caller: int) -> None:
    """One call of an event from an address of its own. An error in words is an answer."""
    try:
        with crowd.tally.timed(what):
            async with Browser(crowd.http, crowd.plan, caller) as browser:
                await _answered(lambda: browser.fire(event, data))
    except Missed:
        return  # counted


async def _answered(fire: Callable[[], Awaitable[list[Any]]]) -> None:
    """Refused where the page turns the arguments down, in words or by a status of the caller's."""
    try:
        await fire()
    except Failure as failure:
        words = str(failure)
        if words.startswith(("the event failed", "the page answered 4")):
            raise Refused(words) from failure
        raise


def malformed(number: int, rng: np.random.Generator) -> Iterator[tuple[str, bytes, str]]:
    """Paths, bodies and content types of requests that no browser sends."""
    for _ in range(number):
        path = PATHS[rng.integers(len(PATHS))]
        value = VALUES[rng.integers(len(VALUES))]
        names = ("data", "fn_index", "session_hash", "trigger_id", "event_data", "event_id")
        body = {name: VALUES[rng.integers(len(VALUES))] for name in names if rng.random() < 0.7}
        body |= {"extra": value} if rng.random() < 0.3 else {}
        text = json.dumps(body if rng.random() < 0.8 else value).encode()
        if rng.random() < 0.3:  # cut off, or no JSON at all
            text = text[: len(text) // 2] if rng.random() < 0.5 else rng.bytes(64)
        kind = ("application/json", "text/plain", "multipart/form-data", "")[rng.integers(4)]
        yield path, text, kind


async def _post(crowd: Crowd, path: str, content: bytes, kind: str, caller: int) -> None:
    headers = {"X-Forwarded-For": network_address(caller), "Content-Type": kind}
    try:
        with crowd.tally.timed(MALFORMED):
            response = await crowd.http.post(path, content=content, headers=headers)
            if any(leak in response.content for leak in LEAKS):
                raise Failure(f"a path or a traceback of the server in the answer of {path}")
            if response.status_code >= 500:
                raise Failure(f"status {response.status_code} at {path}")
    except Missed:
        return  # counted


HOSTILE = Mix(
    "hostile callers",
    "45 callers of each event with random arguments, 70 of /play, malformed POSTs; one reader",
    attack,
    compared=False,  # it stops an unguarded page, and each of its requests waits for the time limit
)
