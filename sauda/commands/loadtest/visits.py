"""What one visitor does until a deadline: read, haggle with a script, haggle with the model."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from sauda.commands.loadtest import haggle
from sauda.commands.loadtest.client import Browser
from sauda.commands.loadtest.haggle import Script
from sauda.commands.loadtest.tally import Failure, Missed, Refused, Tally

THINKING = (0.5, 1.5)  # seconds between an answer and the next move, uniform
READING = (2.0, 6.0)  # seconds between two figures
READS = 3  # figures that a reader opens in one visit
LOAD_LIMIT = 300  # seconds until the model must be ready
PAGE, OPENING, FIGURE = "page load", "opening events", "another figure"
START, SCRIPTED, MODEL = "start of a game", "scripted reply", "model reply"
REVIEW = "review of a game"


@dataclass
class Crowd:
    """What the visitors of one mix share."""

    http: httpx.AsyncClient
    plan: Script
    tally: Tally
    deadline: float  # time.monotonic when the last visits begin their last action
    has_one_address: bool = False  # all its visitors are behind one router

    def browser(self, visitor: int) -> Browser:
        """A tab of that visitor, which has a network address of its own unless all share one."""
        return Browser(self.http, self.plan, 0 if self.has_one_address else visitor)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    async def pause(self, rng: np.random.Generator, seconds: tuple[float, float]) -> None:
        """Wait as a person would, and not beyond the deadline."""
        left = max(self.deadline - time.monotonic(), 0)
        await asyncio.sleep(min(rng.uniform(*seconds), left))


async def read(crowd: Crowd, visitor: int, rng: np.random.Generator) -> None:
    """Open the page and look at figures, visit after visit."""
    await crowd.pause(rng, (0, READING[1]))  # nobody comes at the same instant
    while not crowd.is_over:
        try:
            async with crowd.browser(visitor) as browser:
                await open_page(crowd, browser)
                for event in rng.choice(crowd.plan.reads, READS):
                    await crowd.pause(rng, READING)
                    if crowd.is_over:
                        return
                    with crowd.tally.timed(FIGURE):
                        await browser.fire(int(event))
        except (Missed, httpx.HTTPError):
            await crowd.pause(rng, READING)


async def open_page(crowd: Crowd, browser: Browser) -> None:
    """Load the page, and start what a browser starts when it has loaded."""
    with crowd.tally.timed(PAGE):
        await browser.open_page()
    with crowd.tally.timed(OPENING):
        await asyncio.gather(*(browser.fire(event) for event in crowd.plan.on_load))
        for event in crowd.plan.on_load:
            await _followers(browser, event, ())


async def haggle_with_script(
    crowd: Crowd, visitor: int, rng: np.random.Generator, thinking: tuple[float, float] = THINKING
) -> None:
    """Play game after game against scripted buyers."""
    await _haggle(crowd, visitor, rng, SCRIPTED, thinking)


async def haggle_with_model(
    crowd: Crowd, visitor: int, rng: np.random.Generator, what: str = MODEL
) -> None:
    """Play game after game against the language model."""
    await _haggle(crowd, visitor, rng, what, THINKING)


async def _haggle(
    crowd: Crowd,
    visitor: int,
    rng: np.random.Generator,
    what: str,
    thinking: tuple[float, float],
) -> None:
    await crowd.pause(rng, (0, thinking[1]))
    game = visitor
    while not crowd.is_over:
        try:
            async with crowd.browser(visitor) as browser:
                while not crowd.is_over:
                    await play_game(crowd, browser, game, rng, what, thinking)
                    game += 1
        except (Missed, httpx.HTTPError):
            await crowd.pause(rng, READING)


async def play_game(
    crowd: Crowd,
    browser: Browser,
    number: int,
    rng: np.random.Generator,
    what: str,
    thinking: tuple[float, float],
) -> None:
    """One game to its end; raises Missed where a reply failed. `what` names the reply's row."""
    plan, model = crowd.plan, what != SCRIPTED
    with crowd.tally.timed(START):
        seen = await _with_followers(browser, plan.begin, haggle.start(plan, number, model))
        if model and haggle.READY not in str(haggle.value(seen[plan.badge])):
            raise Failure("the model was not ready")
    while haggle.is_open(seen, plan) and not crowd.is_over:
        await crowd.pause(rng, thinking)
        text = haggle.move(seen, plan)
        if model:
            seen = await _model_reply(crowd, browser, seen, text, rng, what)
        else:
            seen = await _scripted_reply(crowd, browser, seen, text)
    while browser.due:
        with crowd.tally.timed(REVIEW):
            await browser.fire(browser.due.pop())


async def _scripted_reply(
    crowd: Crowd, browser: Browser, seen: Sequence[Any], text: str
) -> list[Any]:
    """The outputs after a script's reply; what follows in the queue is not timed."""
    plan = crowd.plan
    with crowd.tally.timed(SCRIPTED):
        after = await browser.fire(plan.reply, haggle.words(plan, text))
        _check(seen, after, text, plan)
    with crowd.tally.timed("event after a scripted reply"):
        return await _followers(browser, plan.reply, after)


async def _model_reply(
    crowd: Crowd,
    browser: Browser,
    seen: Sequence[Any],
    text: str,
    rng: np.random.Generator,
    what: str,
) -> list[Any]:
    """The outputs after the model's whole reply. A visitor who is refused waits and asks again."""
    plan = crowd.plan
    event, data = plan.reply, haggle.words(plan, text)
    while True:
        try:
            with crowd.tally.timed(what):
                after = await _with_followers(browser, event, data)
                _check(seen, after, text, plan)
            return after
        except Missed as missed:
            if not isinstance(missed.__cause__, Refused) or crowd.is_over:
                raise
            event, data = plan.again, list(plan.events[plan.again].defaults)
            await crowd.pause(rng, READING)


def _check(seen: Sequence[Any], after: Sequence[Any], text: str, plan: Script) -> None:
    """Raise Refused where the page offers a script instead, Failure where there is no answer."""
    fault = haggle.fault(seen, after, text, plan)
    if not fault:
        return
    problem = haggle.plain(haggle.value(after[plan.problem]))
    if haggle.LINE_IS_FULL in problem:
        raise Refused(problem)
    raise Failure(haggle.without_numbers(problem) or fault)


async def _with_followers(browser: Browser, event: int, data: list[Any]) -> list[Any]:
    """The outputs of an event and of the events that start when it has ended."""
    return await _followers(browser, event, await browser.fire(event, data))


async def _followers(browser: Browser, event: int, outputs: Sequence[Any]) -> list[Any]:
    for follower in browser.plan.events[event].followers:
        after = await browser.fire(follower)
        outputs = haggle.merged(outputs or after, after)
    return list(outputs)


async def model_trouble(http: httpx.AsyncClient, plan: Script) -> str:
    """Why the page's model cannot reply; empty once it can. Waits while the model is loading.

    Loading takes both cores, so visitors of scripts wait for it too.
    """
    deadline = time.monotonic() + LOAD_LIMIT
    async with Browser(http, plan, 0) as browser:
        while time.monotonic() < deadline:
            seen = await browser.fire(plan.begin, haggle.start(plan, 0, model=True))
            badge = str(haggle.value(seen[plan.badge]))
            if haggle.READY in badge:
                return ""
            if haggle.FAILED in badge:
                return haggle.plain(badge)
            await asyncio.sleep(1)
    return f"the language model was not ready within {LOAD_LIMIT} s"
