"""The model process: replies side by side, cancellation, crashes, and what hangs."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from sauda.fairness import Visitor
from sauda.llm.engine import Decoder, Sampling
from sauda.llm.model import Model
from sauda.llm.process import ProcessEngine
from sauda.llm.server import ModelWorker, Ready, ReplyService
from sauda.llm.types import NotReady, ReplyTimeout
from tests.support.models import tiny_network
from tests.support.toy_process import HANG, NO_NETWORK, SLOW

pytestmark = pytest.mark.slow
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


def test_a_process_that_hangs_is_started_again():
    worker = ModelWorker("toy", service(reply_limit=3.0), "toy", GREEDY)
    worker.wait(300)
    pid = worker.service.engine.pid
    with pytest.raises(ReplyTimeout, match="within 3 s"):
        worker(chat(HANG), 7)
    worker.wait(300)
    deadline = time.monotonic() + 30
    while worker.service.engine.pid == pid and time.monotonic() < deadline:
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


def test_when_the_page_is_killed_the_model_process_ends_too():
    command = [sys.executable, "-c", PAGE, *LIGHT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        process = psutil.Process(int(page.stdout.readline()))
        page.kill()
        process.wait(20)  # raises TimeoutExpired where it lives on
