"""Coroutines run to their end, also in a process whose main thread drives a browser."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def run(coroutine: Coroutine[None, None, Result]) -> Result:
    """What the coroutine returns, run by a loop in a thread of its own.

    Playwright's synchronous interface leaves its own loop running in the main thread, where
    asyncio.run then refuses to start a second one.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
