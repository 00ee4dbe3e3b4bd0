"""How tests run: what a machine may lack, how many cases are tried, commands and coroutines."""

import asyncio
import os
import subprocess
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import settings

Result = TypeVar("Result")
# The same cases at each run. `make quick` tries fewer of them (--hypothesis-profile quick).
FULL = settings(derandomize=True, database=None, deadline=None, max_examples=120)
QUICK = settings(FULL, max_examples=20)


def unavailable(reason: str) -> NoReturn:
    """Skip the test with the reason in words; fail it on CI, where nothing may be lacking."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def output_of(*command: object, **options: Any) -> str:
    """What a command prints; it fails the test where it ends with a fault."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run(coroutine: Coroutine[None, None, Result]) -> Result:
    """What the coroutine returns, run by a loop in a thread of its own.

    Playwright's synchronous interface leaves its own loop running in the main thread, where
    asyncio.run then refuses to start a second one.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
