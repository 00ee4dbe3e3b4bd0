"""A service over models in threads: loading, time limits, cancellation, the line."""

import asyncio
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sauda.fairness import Visitor
from sauda.llm.backends import ThreadEngine, threaded
from sauda.llm.model import CannotLoad
from sauda.llm.process import BatchEngine
from sauda.llm.server import Failed, Load, Loading, Ready, Waiting
from sauda.llm.types import NotReady, Reply, ReplyError, ReplyRefused, ReplyTimeout
from tests.support.coroutines import run


class Slow:
    """A model that hangs, breaks, or writes one letter each `pause` seconds."""

    source = "slow"

    def __init__(self, pause=0.0, broken_at=None):
        self.pause, self.broken_at, self.written = pause, broken_at, 0

    def stream(self, messages, seed, schema=None):
        for i in range(1, 6):
            time.sleep(self.pause)
            if i == self.broken_at:
                raise RuntimeError("out of memory")
            self.written = i
            yield Reply("x" * i, self.source, i, "stop" if i == 5 else "")


def test_loading_is_seen_and_a_model_that_is_not_there_yet_says_so():
    gate = threading.Event()
    worker = threaded("slow", lambda: gate.wait(5) and Slow())
    assert isinstance(worker.stage, Loading)
    with pytest.raises(NotReady, match="still loading"):
        next(worker.stream([], 0))
    gate.set()
    assert isinstance(worker.wait(5), Ready)
    assert worker([], 0).text == "xxxxx"


@pytest.mark.parametrize("engine", [BatchEngine, lambda load, report: ThreadEngine(report, load)])
def test_models_are_loaded_one_after_the_other(engine):
    loading, most, reports = [], [], queue.SimpleQueue()

    def load(name):
        loading.append(name)
        most.append(len(loading))
        time.sleep(0.05)
        loading.remove(name)
        raise CannotLoad("tried")

    loads = engine(load, reports.put)
    for name in ("one", "two", "three"):
        (loads.take if isinstance(loads, BatchEngine) else loads.send)(Load(name))
    assert {reports.get(timeout=5).name for _ in range(3)} == {"one", "two", "three"}
    assert max(most) == 1


def test_a_failure_to_load_says_why_and_may_be_tried_again():
    tries = []

    def fails_once():
        tries.append(1)
        if len(tries) == 1:
            raise CannotLoad("no memory")
        return Slow()

    worker = threaded("slow", fails_once)
    assert worker.wait(5) == Failed("slow", "CannotLoad: no memory")
    with pytest.raises(NotReady, match="no memory"):
        worker([], 0)
    worker.start(again=True)
    assert isinstance(worker.wait(5), Ready)


def test_a_hanging_reply_ends_in_time_and_the_next_one_works():
    hanging = Slow(pause=1.0)
    worker = threaded("slow", lambda: hanging, reply_limit=0.2)
    worker.wait(5)
    began = time.monotonic()
    with pytest.raises(ReplyTimeout, match="try again"):
        worker([], 0)
    assert time.monotonic() - began < 0.8
    hanging.pause = 0.0
    assert worker([], 0).finish == "stop"


def test_a_broken_reply_says_what_broke():
    worker = threaded("slow", lambda: Slow(broken_at=3))
    worker.wait(5)
    with pytest.raises(ReplyError, match="out of memory"):
        worker([], 0)


def test_closing_a_reply_stops_the_model():
    slow = Slow(pause=0.05)
    worker = threaded("slow", lambda: slow)
    worker.wait(5)
    reply = worker.stream([], 0)
    next(reply)
    reply.close()
    time.sleep(0.4)
    assert slow.written < 4


class Echo:
    """A model that repeats its request, and counts how many replies it writes at once."""

    source = "echo"

    def __init__(self):
        self.running = self.most = 0

    def stream(self, messages, seed, schema=None):
        self.running += 1
        self.most = max(self.most, self.running)
        for i in range(1, 4):
            time.sleep(0.01)
            if i == 3:
                self.running -= 1
            yield Reply(messages[0]["content"] * i, self.source, i, "stop" if i == 3 else "")


def test_visitors_wait_in_line_are_told_their_place_and_get_their_own_reply():
    echo = Echo()
    worker = threaded("echo", lambda: echo)
    worker.wait(5)

    def visit(number):
        own = worker.for_visitor(Visitor(f"s{number}", f"a{number}"))
        return list(own.stream([{"role": "user", "content": f"<{number}>"}], number))

    with ThreadPoolExecutor(9) as pool:
        updates = list(pool.map(visit, range(9)))
    assert [pieces[-1].text for pieces in updates] == [f"<{i}>" * 3 for i in range(9)]
    places = [[p.place for p in pieces if isinstance(p, Waiting)] for pieces in updates]
    assert all(of_one == sorted(of_one, reverse=True) for of_one in places)
    assert max(max(of_one, default=0) for of_one in places) > 4
    assert echo.most == 1


def test_waiting_for_many_replies_holds_no_thread():
    echo = Echo()
    worker = threaded("echo", lambda: echo)
    worker.wait(5)

    async def visit(number):
        own = worker.for_visitor(Visitor(f"s{number}", f"a{number}"))
        threads, text = 0, ""
        async for update in own.stream_async([{"role": "user", "content": "x"}], number):
            threads = max(threads, threading.active_count())
            text = update.text if isinstance(update, Reply) else ""
        return text, threads

    async def visits():
        return threading.active_count(), await asyncio.gather(*map(visit, range(9)))

    before, visited = run(visits())
    texts, threads = zip(*visited, strict=True)
    assert texts == ("xxx",) * 9
    assert max(threads) <= before + 3  # the one reply that runs, one that just ended, the watch


def test_a_full_line_refuses_and_says_for_how_long():
    worker = threaded("slow", lambda: Slow(pause=0.2))
    worker.wait(5)
    most = worker.service.queue.limits.waiting
    waiting = [worker.for_visitor(Visitor(f"s{n}", f"a{n}")).stream([], 0) for n in range(1 + most)]
    for stream in waiting:
        next(stream)
    with pytest.raises(ReplyRefused, match=f"{most} visitors are waiting") as refused:
        next(worker.for_visitor(Visitor("s", "a")).stream([], 0))
    assert refused.value.seconds > 1
    for stream in waiting:
        stream.close()
    assert worker([], 0).finish == "stop"


def test_whoever_leaves_the_line_lets_the_next_one_in():
    worker = threaded("slow", lambda: Slow(pause=0.05))
    worker.wait(5)
    first, second, third = (
        worker.for_visitor(Visitor(f"s{n}", f"a{n}")).stream([], n) for n in range(3)
    )
    assert isinstance(next(first), Reply)
    assert next(second).place == 1
    assert next(third).place == 2
    second.close()
    first.close()
    updates = list(third)
    assert {update.place for update in updates if isinstance(update, Waiting)} <= {1, 2}
    assert updates[-1].finish == "stop"


def test_the_health_of_a_service_counts_its_replies_and_names_its_models():
    worker = threaded("slow", lambda: Slow(pause=0.2))
    worker.wait(5)
    first, second = (worker.for_visitor(Visitor(s)).stream([], 0) for s in "ab")
    next(first)
    assert isinstance(next(second), Waiting)
    health = worker.service.health()
    assert health["models"] == {"slow": "ready"}
    assert (health["running"], health["waiting"]) == (1, 1)
    second.close()
    first.close()
    health = worker.service.health()
    assert (health["running"], health["waiting"]) == (0, 0)


def test_on_a_space_replies_are_written_in_calls_of_zero_gpu(monkeypatch):
    """The decorator is applied before the page is launched, once, and streams each reply."""
    durations, calls = [], []

    def decorator(duration):
        durations.append(duration)

        def decorated(function):
            def call(*arguments):
                calls.append(arguments[0])
                yield from function(*arguments)

            return call

        return decorated

    monkeypatch.setattr("spaces.GPU", decorator)
    worker = threaded("slow", Slow)
    assert len(durations) == 1
    assert 0 < durations[0] <= 60  # seconds of a GPU that a reply may take
    worker.wait(5)
    assert [reply.text for reply in worker.stream([], 0)][-1] == "xxxxx"
    assert worker([], 1).text == "xxxxx"
    assert calls == ["slow", "slow"]
