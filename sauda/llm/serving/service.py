"""Replies for visitors: a fair line, a time limit, cancellation, and recovery from a crash.

It holds no game, so a reply that failed or was cancelled can be requested again.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

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
RELOAD = 60.0  # seconds more for a reply whose model has to be loaded again
CRASHES, CRASH_WINDOW = 3, 300.0  # more crashes in so many seconds: the models count as failed


@dataclass(frozen=True)
class Waiting:
    """The request is in line; `place` 1 is next, and begins in about `seconds`."""

    place: int
    seconds: float


Update = Waiting | Reply | ReplyError
Deliver = Callable[[Update], None]


@dataclass
class Ticket:
    """A request from its arrival to its last piece."""

    key: int
    name: str
    request: ReplyRequest
    deliver: Deliver
    deadline: float = 0.0  # time.monotonic, once it runs
    began: float = 0.0
    again: bool = False  # begun once more after a crash


class ReplyService:
    """Lets visitors take turns at the models of one engine. Thread-safe."""

    def __init__(
        self,
        engine: Callable[[Report], Engine],
        limits: Limits = LIMITS,
        reply_limit: float = REPLY_LIMIT,
    ) -> None:
        self.reply_limit = reply_limit
        self.line = FairLine(limits)
        self.stages: dict[str, Stage] = {}
        self.crashes: deque[float] = deque(maxlen=CRASHES + 1)
        self._tickets: dict[int, Ticket] = {}
        self._keys = 0
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._watching = False
        self._sign_of_life = time.monotonic()  # of the engine
        self.engine = engine(self._on_event)

    def start(self, name: str, again: bool = False) -> Stage:
        """The stage of a model; begins to load it, after a failure if `again`."""
        with self._lock:
            stage = self.stages.get(name)
            if stage is None or (again and isinstance(stage, Failed)):
                stage = self.stages[name] = Loading(name, time.monotonic())
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
            if isinstance(stage, Loading) and not stage.again:
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
                "models": {
                    name: type(stage).__name__.lower() for name, stage in self.stages.items()
                },
                "running": len(self.line.running),
                "waiting": len(self.line.waiting),
                "seconds_per_reply": round(self.line.reply_seconds, 2),
                "recent_crashes": len(self.crashes),
            }

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
        ticket.began = time.monotonic()
        ticket.deadline = ticket.began + self.reply_limit
        self.engine.send(Begin(ticket.key, ticket.name, ticket.request))

    def _tell_places(self) -> None:
        for key in list(self.line.waiting):
            self._tickets[key].deliver(Waiting(*self.line.place(key)))

    # Events of the engine

    def _on_event(self, event: Event) -> None:
        with self._changed:
            self._sign_of_life = time.monotonic()
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
                self._on_loaded(event)
            self._changed.notify_all()

    def _on_piece(self, event: Piece) -> None:
        ticket = self._tickets.get(event.key)
        if ticket is None:  # cancelled, and the engine did not know yet
            return
        if not event.reply.finish:
            ticket.deliver(event.reply)
            return
        self.line.timed(time.monotonic() - ticket.began)
        self._end(event.key, event.reply)
        self._tell_places()

    def _on_loaded(self, event: Ready | Failed) -> None:
        """Replies that were begun again have their whole time from now on, or end."""
        for key in [key for key in self.line.running if self._tickets[key].name == event.name]:
            if isinstance(event, Failed):
                self._end(key, NotReady(f"{event.name} cannot reply: {event.reason}"))
            else:
                self._tickets[key].deadline = time.monotonic() + self.reply_limit

    def _on_crash(self, event: Ended) -> None:
        """Load every model again and begin each reply once more; give up after many crashes."""
        now = time.monotonic()
        self.crashes.append(now)
        often = len(self.crashes) > CRASHES and now - self.crashes[0] < CRASH_WINDOW
        for name in self.stages:
            if often:
                self.stages[name] = Failed(name, f"{event.reason}, {len(self.crashes)} times")
            else:
                self.stages[name] = Loading(name, now, again=True)
                self.engine.send(Load(name))
        for ticket in [self._tickets[key] for key in self.line.running]:
            if often or ticket.again:
                self._end(ticket.key, ReplyError(f"{event.reason}; the game is as it was"))
            else:
                ticket.again = True
                self._begin(ticket)
                ticket.deadline += RELOAD

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
                self._expire(time.monotonic())
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
