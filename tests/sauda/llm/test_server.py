"""The service before an engine that crashes: what is told, and when it is loaded again."""

import pytest

from sauda.fairness import Visitor
from sauda.llm.engine import DEFAULT_SAMPLING, ReplyRequest
from sauda.llm.server import (
    CRASH_WINDOW,
    LONGEST_PAUSE,
    Begin,
    Ended,
    Failed,
    Load,
    Ready,
    ReplyService,
)
from sauda.llm.types import NotReady

REQUEST = ReplyRequest([{"role": "user", "content": "60?"}], 7, None, DEFAULT_SAMPLING)


class Process:
    """An engine whose events the test reports, under a clock that the test sets."""

    def __init__(self) -> None:
        self.orders, self.pauses, self.now = [], [], 0.0
        self.service = ReplyService(self.made, clock=lambda: self.now, later=self.later)

    def made(self, report):
        self.report = report
        return self

    def send(self, order):
        self.orders.append(order)

    def restart(self):
        self.report(Ended("killed"))

    def later(self, seconds, call):
        self.pauses.append(seconds)
        self.resume = call

    def load(self):
        """What was ordered to be loaded is."""
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


def test_a_crash_ends_every_reply_at_once_those_in_line_too(process):
    told = []
    for number in range(8):  # more than run at a time
        visitor = Visitor(f"s{number}", f"a{number}")
        process.service.submit("mini", REQUEST, visitor, told.append)
    told.clear()
    process.report(Ended("the model process ended with the code -9"))
    assert [type(update) for update in told] == [NotReady] * 8
    assert process.service.health()["running"] == process.service.health()["waiting"] == 0


def test_it_recovers_after_every_crash_with_a_pause_that_grows_up_to_a_limit(process):
    for _ in range(30):
        process.now += 1
        process.report(Ended("killed"))
        assert process.service.health()["models"] == {"mini": "recovering"}
        assert process.service.trouble() == "mini is recovering"
        with pytest.raises(NotReady):
            process.service.submit("mini", REQUEST, Visitor("s"), print)
        process.now += process.pauses[-1]
        process.resume()
        process.load()
        assert process.service.health()["models"] == {"mini": "ready"}
    assert process.service.trouble() == ""
    assert process.pauses == sorted(process.pauses)
    assert (process.pauses[0], process.pauses[-1]) == (0, LONGEST_PAUSE)
    process.now += CRASH_WINDOW
    process.report(Ended("killed"))
    assert process.pauses[-1] == 0  # the earlier crashes count no more


def test_a_model_that_cannot_be_loaded_is_told_and_not_tried_again_after_a_crash(process):
    process.service.start("other")
    process.report(Failed("other", "no such file"))
    assert process.service.trouble() == "other is failed"
    process.orders.clear()
    process.report(Ended("killed"))
    process.resume()
    assert process.orders == [Load("mini")]


def test_the_next_visitor_is_served_after_a_recovery(process):
    process.service.submit("mini", REQUEST, Visitor("s"), print)
    process.report(Ended("killed"))
    process.resume()
    process.load()
    process.service.submit("mini", REQUEST, Visitor("s"), print)
    assert [type(order) for order in process.orders] == [Begin]


def test_models_are_loaded_once_where_two_crashes_follow_each_other(process):
    process.report(Ended("killed"))
    first = process.resume
    process.report(Ended("killed"))
    first()
    assert process.orders == []
    process.resume()
    assert process.orders == [Load("mini")]
