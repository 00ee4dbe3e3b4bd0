"""Replies for visitors: a fair line, a time limit, cancellation, and recovery from crashes.

It holds no game, so a reply that failed or was cancelled can be requested again. A crash ends all
replies at once, since loading takes longer than a visitor waits; the models are loaded again after
a pause that grows with every crash, for as long as the page lives.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sauda.llm.backends.decoding import ReplyRequest
from sauda.llm.serving.events import (
    Begin,
    Broken,
    Cancel,
    Ended,
    Engine,
    Event,
    Failed,
    Load,
    Loading,
    Piece,
    Ready,
    Report,
    Stage,
)  # fmt: skip
from sauda.llm.serving.line import LIMITS, FairLine, Limits, LineFull, Visitor
from sauda.llm.types import NotReady, Reply, ReplyError, ReplyRefused, ReplyTimeout

REPLY_LIMIT = 20.0  # seconds that a reply may take once it is begun
POLL = 0.5  # seconds between two looks at deadlines and at the line
CRASH_WINDOW = 600.0  # seconds for which a crash counts
LONGEST_PAUSE = 60.0  # seconds before the models are loaded again


@dataclass(frozen=True)
class Waiting:
    """The request is in line; `place` 1 is next, and begins in about `seconds`."""

    place: int
    seconds: float


Update = Waiting | Reply | ReplyError
Deliver = Callable[[Update], None]
Later = Callable[[float, Callable[[], None]], None]


def in_thread(seconds: float, call: Callable[[], None]) -> None:
    """Call after so many seconds, in a thread that keeps no process alive."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


def pause_after(crashes: int) -> float:
    """Seconds before the models are loaded again after so many recent crashes: 0, 1, 3, 7, …"""
    return min(LONGEST_PAUSE, 2.0 ** (crashes - 1) - 1)


def word_for(stage: Stage) -> str:
    """A stage in one word: loading, recovering (loading after a crash), ready or failed."""
    is_again = isinstance(stage, Loading) and stage.again
    return "recovering" if is_again else type(stage).__name__.lower()


@dataclass
class Ticket:
    """A request from its arrival to its last piece."""

    key: int
    name: str
    request: ReplyRequest
    deliver: Deliver
    deadline: float = 0.0  # time.monotonic, once it runs
    began: float = 0.0


class ReplyService:
    """Lets visitors take turns at the models of one engine. Thread-safe."""

    def __init__(
        self,
        engine: Callable[[Report], Engine],
        limits: Limits = LIMITS,
        reply_limit: float = REPLY_LIMIT,
        clock: Callable[[], float] = time.monotonic,
        later: Later = in_thread,
    ) -> None:
        self.reply_limit, self._clock, self._later = reply_limit, clock, later
        self.line = FairLine(limits)
        self.stages: dict[str, Stage] = {}
        self.crashes: deque[float] = deque(maxlen=16)  # those in CRASH_WINDOW, the newest last
        self._crash_number = 0
        self._tickets: dict[int, Ticket] = {}
        self._keys = 0
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._watching = False
        self._sign_of_life = self._clock()  # of the engine
        self.engine = engine(self._on_event)

    def start(self, name: str, again: bool = False) -> Stage:
        """The stage of a model; begins to load it, after a failure if `again`."""
        with self._lock:
            stage = self.stages.get(name)
            if stage is None or (again and isinstance(stage, Failed)):
                stage = self.stages[name] = Loading(name, self._clock())
                self.engine.send(Load(name))
            return stage

    def wait(self, name: str, seconds: float) -> Stage:
        """Wait until the model is no longer loading, at most `seconds`; returns its stage."""
        self.start(name)
        with self._changed:
            self._changed.wait_for(lambda: not isinstance(self.stages[name], Loading), seconds)
            return self.stages[name]

    def submit(self, name: str, request: ReplyRequest, visitor: Visitor, deliver: Deliver) -> int:
        """Put a request in line; returns its key.

        `deliver` is called from other threads, with places in line, then with the growing reply,
        and last with a finished reply or an error. Raises NotReady before the model is loaded and
        ReplyRefused where the line is full.
        """
        with self._lock:
            stage = self.start(name)
            if isinstance(stage, Failed):
                raise NotReady(f"{name} cannot reply: {stage.reason}")
            if isinstance(stage, Loading):
                raise NotReady(f"{name} cannot reply yet; it is still loading")
            self._keys += 1
            key = self._keys
            try:
                self.line.enter(key, visitor)
            except LineFull as full:
                raise ReplyRefused(
                    f"{len(self.line.waiting)} visitors are waiting for the language model already;"
                    f" it is free in about {full.seconds:.0f} s",
                    full.seconds,
                ) from None
            self._tickets[key] = Ticket(key, name, request, deliver)
            self._start_next()
            self._tell_places()
            self._watch()
        return key

    def cancel(self, key: int) -> None:
        """Forget a request; nothing more is delivered. Keys that are gone are ignored."""
        with self._lock:
            if key in self._tickets:
                self.engine.send(Cancel(key))
                self._end(key)

    def health(self) -> dict[str, object]:
        """The stage of each model, and how many replies run, wait and were cut by a crash."""
        with self._lock:
            return {
                "models": {name: word_for(stage) for name, stage in self.stages.items()},
                "running": len(self.line.running),
                "waiting": len(self.line.waiting),
                "seconds_per_reply": round(self.line.reply_seconds, 2),
                "recent_crashes": self._recent_crashes(),
            }

    def trouble(self) -> str:
        """Which models failed to load or recover from a crash, in half a sentence; "" if none."""
        down = [f"{name} is {word}" for name, word in self.health()["models"].items()
                if word in ("failed", "recovering")]  # fmt: skip
        return ", ".join(down)

    def _end(self, key: int, update: Update | None = None) -> None:
        """Deliver the last update of a request, and let the next one begin."""
        ticket = self._tickets.pop(key)
        self.line.leave(key)
        if update is not None:
            ticket.deliver(update)
        self._start_next()

    def _start_next(self) -> None:
        while (key := self.line.start_next()) is not None:
            self._begin(self._tickets[key])

    def _begin(self, ticket: Ticket) -> None:
        ticket.began = self._clock()
        ticket.deadline = ticket.began + self.reply_limit
        self.engine.send(Begin(ticket.key, ticket.name, ticket.request))

    def _tell_places(self) -> None:
        for key in list(self.line.waiting):
            self._tickets[key].deliver(Waiting(*self.line.place(key)))

    # Events of the engine

    def _on_event(self, event: Event) -> None:
        with self._changed:
            self._sign_of_life = self._clock()
            if isinstance(event, Piece):
                self._on_piece(event)
            elif isinstance(event, Broken):
                if event.key in self._tickets:
                    source = self._source(self._tickets[event.key].name)
                    self._end(event.key, ReplyError(f"{source} broke off: {event.reason}"))
            elif isinstance(event, Ended):
                self._on_crash(event)
            else:
                self.stages[event.name] = event
            self._changed.notify_all()

    def _on_piece(self, event: Piece) -> None:
        ticket = self._tickets.get(event.key)
        if ticket is None:  # cancelled, and the engine did not know yet
            return
        if not event.reply.finish:
            ticket.deliver(event.reply)
            return
        self.line.timed(self._clock() - ticket.began)
        self._end(event.key, event.reply)
        self._tell_places()

    def _on_crash(self, event: Ended) -> None:
        """End all replies, and load the models again after a pause."""
        now = self._clock()
        self.crashes.append(now)
        for name, stage in self.stages.items():
            if not isinstance(stage, Failed):
                self.stages[name] = Loading(name, now, again=True)
        told = f"{event.reason}; it is started again, and the game is as it was"
        for key in list(self._tickets):
            ticket = self._tickets.pop(key)
            self.line.leave(key)
            ticket.deliver(NotReady(told))
        self._crash_number += 1
        again = partial(self._load_again, self._crash_number)
        self._later(pause_after(self._recent_crashes()), again)

    def _recent_crashes(self) -> int:
        while self.crashes and self._clock() - self.crashes[0] >= CRASH_WINDOW:
            self.crashes.popleft()
        return len(self.crashes)

    def _load_again(self, crash_number: int) -> None:
        """Load the models again; a later crash has a pause of its own."""
        with self._lock:
            if crash_number != self._crash_number:
                return
            for name, stage in self.stages.items():
                if isinstance(stage, Loading) and stage.again:
                    self.engine.send(Load(name))

    def _source(self, name: str) -> str:
        stage = self.stages[name]
        return stage.source if isinstance(stage, Ready) else name

    # Deadlines

    def _watch(self) -> None:
        """Look after deadlines and places from now on, while there are requests."""
        if not self._watching:
            self._watching = True
            threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            time.sleep(min(POLL, self.reply_limit / 4))
            with self._lock:
                if not self._tickets:
                    self._watching = False
                    return
                self._expire(self._clock())
                self._tell_places()

    def _expire(self, now: float) -> None:
        """End the replies that took too long; restart an engine that gives no sign of life."""
        for key in list(self.line.running):
            ticket = self._tickets.get(key)
            if ticket is None or now < ticket.deadline:
                continue
            self.engine.send(Cancel(key))
            source = self._source(ticket.name)
            late = f"{source} gave no whole reply within {self.reply_limit:g} s"
            self._end(key, ReplyTimeout(f"{late}; the game is as it was, try again"))
            if now - self._sign_of_life > self.reply_limit:
                self.engine.restart()
