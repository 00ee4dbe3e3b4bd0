"""Seconds, refusals and failures of what visitors do, and the memory of the page."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psutil

from sauda.experiments.speeds import latency, memory_growth

MODEL_PROCESS = "sauda.llm.process"  # the module that a page's model process runs
MIB = 2**20


class Failure(Exception):
    """The page gave no answer, or none that a visitor can use."""


class Refused(Exception):
    """The page said in words that it cannot do this now, and holds nothing against the visitor."""


class Missed(Exception):
    """An action failed or was refused, and was counted; the visit cannot go on."""


class Tally:
    """What was done, by name: seconds of each success, refusals, and reasons of failures."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        self.reasons: dict[str, Counter[str]] = defaultdict(Counter)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Context: times one action called `what`; raises Missed where it does not succeed."""
        began = time.perf_counter()
        self.seconds[what]  # an action that never succeeds has its row too
        try:
            yield
        except Refused as refusal:
            self.refused[what] += 1
            raise Missed from refusal
        except (Failure, httpx.HTTPError, TimeoutError) as error:
            self.reasons[what][reason(error)] += 1
            raise Missed from error
        self.seconds[what].append(time.perf_counter() - began)

    def rows(self) -> list[dict[str, Any]]:
        """A row an action, as the artifact has it."""
        return [
            latency(what, seconds, self.refused[what], self.reasons[what])
            for what, seconds in self.seconds.items()
        ]


def reason(error: Exception) -> str:
    """Why an action failed, in words that are equal for equal reasons."""
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.HTTPError):
        return f"connection broken ({type(error).__name__})"
    return str(error)


class MemoryTrack:
    """Resident memory of a page and of its model process, as work goes on."""

    def __init__(self, pid: int | None, unit: str) -> None:
        self.pid, self.unit = pid, unit
        self.points: list[tuple[float, float, float | None]] = []

    def note(self, done: float) -> None:
        """Take a sample after `done` units of work; nothing where the page is not ours."""
        if self.pid is not None:
            self.points.append((done, *memory(self.pid)))

    def row(self) -> list[dict[str, Any]]:
        """The track as the artifact has it; no row where no page was watched."""
        if len(self.points) < 2:
            return []
        done, page, model = (list(column) for column in zip(*self.points, strict=True))
        return [memory_growth(self.unit, done, page, None if None in model else model)]


def memory(pid: int) -> tuple[float, float | None]:
    """Resident MiB of a page and of its model process; None where it has no such process."""
    page = psutil.Process(pid)
    models = [c for c in page.children(recursive=True) if MODEL_PROCESS in c.cmdline()]
    resident = [process.memory_info().rss / MIB for process in models]
    return page.memory_info().rss / MIB, sum(resident) if resident else None
