"""The model process and the service before it: loading, the queue, time limits, crashes, hangs."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from sauda.fairness import Visitor
from sauda.games.adapter import Request
from sauda.llm.backends import serve_in_threads
from sauda.llm.engine import DEFAULT_SAMPLING, Decoder, Sampling
from sauda.llm.model import CannotLoad, Model
from sauda.llm.process import ProcessEngine
from sauda.llm.server import (
    CRASH_WINDOW,
    LONGEST_PAUSE,
    Begin,
    Ended,
    Failed,
    Load,
    Loading,
    ModelWorker,
    Ready,
    ReplyService,
    Waiting,
)
from sauda.llm.types import NotReady, Reply, ReplyError, ReplyRefused, ReplyTimeout
from tests.support.models import tiny_network
from tests.support.toy_process import HANG, NO_NETWORK, SLOW

# The service before an engine ---------------------------------------------------------------------

REQUEST = Request([{"role": "user", "content": "60?"}], 7, None, DEFAULT_SAMPLING)


class Process:
    """An engine whose events the test reports, under a clock that the test sets."""

    def __init__(self) -> None:
        self.orders, self.pauses, self.now = [], [], 0.0
        self.service = ReplyService(self.make, clock=lambda: self.now, later=self.later)

    def make(self, report):
        self.report = report
        return self

    def send(self, order):
        self.orders.append(order)

    def later(self, seconds, call):
        self.pauses.append(seconds)
        self.resume = call

    def load(self):
        """Load what was ordered to be loaded."""
        loads = [order.name for order in self.orders if isinstance(order, Load)]
        self.orders.clear()
        for name in loads:
            self.report(Ready(name, "toy", 1.0))


@pytest.fixture
def process() -> Process:
    process = Process()
    process.service.start("mini")
    process.load()
    return process


def test_a_crash_ends_every_reply_at_once_and_the_next_visitor_is_served_after_it(process):
    updates = []
    for number in range(8):  # more than run at a time
        visitor = Visitor(f"s{number}", f"a{number}")
        process.service.submit("mini", REQUEST, visitor, updates.append)
    updates.clear()
    process.report(Ended("the model process ended with the code -9"))
    assert [type(update) for update in updates] == [NotReady] * 8
    assert process.service.health()["running"] == process.service.health()["waiting"] == 0
    process.resume()
    process.load()
    process.service.submit("mini", REQUEST, Visitor("s"), print)
    assert [type(order) for order in process.orders] == [Begin]


def test_it_recovers_after_every_crash_with_a_pause_that_grows_up_to_a_limit(process):
    for _ in range(30):
        process.now += 1
        process.report(Ended("killed"))
        assert process.service.trouble() == "mini is recovering"
        with pytest.raises(NotReady):
            process.service.submit("mini", REQUEST, Visitor("s"), print)
        process.now += process.pauses[-1]
        process.resume()
        process.load()
        assert process.service.trouble() == ""
    assert process.pauses == sorted(process.pauses)
    assert (process.pauses[0], process.pauses[-1]) == (0, LONGEST_PAUSE)
    process.now += CRASH_WINDOW
    process.report(Ended("killed"))
    assert process.pauses[-1] == 0  # the earlier crashes count no more


def test_an_engine_that_ends_as_a_reply_is_cancelled_has_ended_it(process):
    updates = []
    key = process.service.submit("mini", REQUEST, Visitor("s"), updates.append)
    process.send = lambda order: process.report(Ended("no memory is left for a process"))
    process.service.cancel(key)
    assert [type(update) for update in updates][-1] is NotReady
    assert process.service.health()["running"] == 0


class Slow:
    """A model that hangs, breaks, or writes one letter each `pause` seconds."""

    source = "slow"

    def __init__(self, pause=0.0, broken_at=None):
        self.pause, self.broken_at, self.written = pause, broken_at, 0
        self.running = self.most = 0

    def stream(self, messages, seed, schema=None):
        self.running += 1
        self.most = max(self.most, self.running)
        for i in range(1, 6):
            time.sleep(self.pause)
            if i == self.broken_at:
                raise RuntimeError("out of memory")
            self.written = i
            self.running -= i == 5
            yield Reply(f"{seed}" * i, self.source, i, "stop" if i == 5 else "")


def ready(model: Slow, **more) -> ModelWorker:
    worker = serve_in_threads("slow", lambda: model, **more)
    assert isinstance(worker.wait(5), Ready)
    return worker


def visit(worker: ModelWorker, number: int):
    return worker.for_visitor(Visitor(f"s{number}", f"a{number}")).stream([], number)


def test_loading_is_seen_and_a_failure_says_why_and_may_be_tried_again():
    gate, tries = threading.Event(), []

    def load():
        gate.wait(5)
        tries.append(1)
        if len(tries) == 1:
            raise CannotLoad("no memory")
        return Slow()

    worker = serve_in_threads("slow", load)
    assert isinstance(worker.stage, Loading)
    with pytest.raises(NotReady, match="still loading"):
        next(worker.stream([], 0))
    gate.set()
    assert worker.wait(5) == Failed("slow", "CannotLoad: no memory")
    with pytest.raises(NotReady, match="no memory"):
        worker([], 0)
    worker.start(again=True)
    assert isinstance(worker.wait(5), Ready)
    assert worker([], 1).text == "11111"


def test_a_hanging_reply_ends_in_time_and_the_next_one_works():
    hanging = Slow(pause=1.0)
    worker = ready(hanging, reply_limit=0.2)
    with pytest.raises(ReplyTimeout, match="try again"):
        worker([], 0)
    assert hanging.written == 0  # the visitor did not wait for it
    hanging.pause = 0.0
    assert worker([], 0).finish == "stop"


def test_a_broken_reply_says_what_broke_and_closing_one_stops_the_model():
    with pytest.raises(ReplyError, match="out of memory"):
        ready(Slow(broken_at=3))([], 0)
    slow = Slow(pause=0.05)
    reply = ready(slow).stream([], 0)
    next(reply)
    reply.close()
    time.sleep(0.4)
    assert slow.written < 4


def test_visitors_wait_in_turn_are_told_their_place_and_get_their_own_reply():
    slow = Slow(pause=0.01)
    worker = ready(slow)
    with ThreadPoolExecutor(9) as pool:
        updates = list(pool.map(lambda number: list(visit(worker, number)), range(9)))
    assert [pieces[-1].text for pieces in updates] == [f"{number}" * 5 for number in range(9)]
    places = [[p.place for p in pieces if isinstance(p, Waiting)] for pieces in updates]
    assert all(of_one == sorted(of_one, reverse=True) for of_one in places)
    assert max(max(of_one, default=0) for of_one in places) > 4
    assert slow.most == 1


def test_a_full_queue_refuses_and_says_for_how_long():
    worker = ready(Slow(pause=0.2))
    most = worker.service.queue.limits.waiting
    streams = [visit(worker, number) for number in range(1 + most)]
    for stream in streams:
        next(stream)
    with pytest.raises(ReplyRefused, match=f"{most} visitors are waiting") as refused:
        next(visit(worker, 99))
    assert refused.value.seconds > 1
    health = worker.service.health()
    assert (health["models"], health["running"], health["waiting"]) == ({"slow": "ready"}, 1, most)
    for stream in streams:
        stream.close()
    health = worker.service.health()
    assert (health["running"], health["waiting"]) == (0, 0)
    assert worker([], 0).finish == "stop"


def test_on_a_space_replies_are_written_in_calls_of_zero_gpu(monkeypatch):
    """The decorator is applied before the page is launched, once, and streams each reply."""
    durations, calls = [], []

    def decorator(duration):
        durations.append(duration)

        def decorate(function):
            def call(*arguments):
                calls.append(arguments[0])
                yield from function(*arguments)

            return call

        return decorate

    monkeypatch.setattr("spaces.GPU", decorator)
    worker = serve_in_threads("slow", Slow)
    assert len(durations) == 1
    worker.wait(5)
    assert [worker([], number).text for number in (1, 2)] == ["11111", "22222"]
    assert calls == ["slow", "slow"]


# The process of a model ---------------------------------------------------------------------------

COMMAND = (sys.executable, "-m", "tests.support.toy_process")
LIGHT = (*COMMAND, NO_NETWORK)  # starts at once: for what ends or hangs as a process
GREEDY = Sampling(temperature=0.0, max_new_tokens=30)


def service(command: Sequence[str] = LIGHT, **more) -> ReplyService:
    return ReplyService(lambda report: ProcessEngine(report, command), **more)


@pytest.fixture(scope="module")
def worker() -> Iterator[ModelWorker]:
    """A model in a process of its own, shared by the tests that leave it as it was."""
    shared = ModelWorker("toy", service(COMMAND), "toy", GREEDY)
    assert isinstance(shared.wait(300), Ready)
    yield shared
    shared.service.engine.restart()


def chat(words: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Bargain."}, {"role": "user", "content": words}]


@pytest.mark.slow
def test_replies_of_the_process_are_those_of_the_model_in_this_one(worker):
    network, tokenizer = tiny_network()
    local = Model(Decoder(network, tokenizer, GREEDY), "toy", "fp32", "here", "0")
    words = ["sixty", "I say seventy, and not a rupee more than that", "no", "done"]
    alone = [local(chat(one), 7).text for one in words]
    workers = [worker.for_visitor(Visitor(f"s{n}", f"a{n}")) for n in range(len(words))]
    with ThreadPoolExecutor(len(words)) as pool:
        replies = list(pool.map(lambda own, one: own(chat(one), 7), workers, words))
    assert [reply.text for reply in replies] == alone
    assert [worker(chat(one), 7).text for one in words] == alone  # and again, from the cache


@pytest.mark.slow
def test_a_killed_process_ends_its_reply_at_once_and_replies_again(worker):
    pid = worker.service.engine.pid
    stream = worker.stream(chat(SLOW), 7)
    next(stream)
    psutil.Process(pid).kill()
    with pytest.raises(NotReady, match="ended with the code -9"):
        list(stream)
    assert isinstance(worker.wait(300), Ready)
    assert worker.service.engine.pid != pid
    assert worker(chat("after that"), 7).finish
    worker.service.engine.restart()


@pytest.mark.nightly
@pytest.mark.slow
def test_a_process_that_hangs_is_started_again():
    worker = ModelWorker("toy", service(reply_limit=3.0), "toy", GREEDY)
    worker.wait(300)
    pid = worker.service.engine.pid
    with pytest.raises(ReplyTimeout, match="within 3 s"):
        worker(chat(HANG), 7)
    worker.wait(300)
    deadline = time.monotonic() + 30
    while worker.service.engine.pid in (pid, None) and time.monotonic() < deadline:
        time.sleep(0.1)
    worker.wait(300)
    assert worker(chat("hello"), 7).finish
    worker.service.engine.restart()


PAGE = """
import sys, time
from sauda.llm.process import ProcessEngine
from sauda.llm.server import ReplyService
service = ReplyService(lambda report: ProcessEngine(report, sys.argv[1:]))
service.wait("toy", 300)
print(service.engine.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_when_the_page_is_killed_the_model_process_ends_too():
    command = [sys.executable, "-c", PAGE, *LIGHT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        process = psutil.Process(int(page.stdout.readline()))
        page.kill()
        process.wait(20)  # raises TimeoutExpired where it lives on
