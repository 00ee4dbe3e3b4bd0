"""Replies for visitors: a fair queue, a time limit, cancellation, and recovery from crashes.

`ReplyService` lets visitors take turns at an engine, which may run elsewhere: they send each other
the orders and events below. `ModelWorker` is one of its models as a seat or a tab uses it. Neither
holds a game, so a reply that failed or was cancelled can be requested again. A crash ends all
replies at once, since loading takes longer than a visitor waits; the models are loaded again after
a pause that grows with every crash, for as long as the page lives.
"""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from sauda.fairness import PAGE, FairQueue, Limits, QueueFull, Visitor
from sauda.games.adapter import Request
from sauda.llm.engine import DEFAULT_SAMPLING, Sampling
from sauda.llm.types import (
    Messages,
    NotReady,
    Reply,
    ReplyError,
    ReplyRefused,
    ReplyTimeout,
    Schema,
)

# Of the replies of one engine: each that runs slows down the others.
LIMITS = Limits(
    running=6, running_of_address=4, waiting_of_address=8, waiting=16, running_beside_others=2,
    of_session=1,
)  # fmt: skip
REPLY_LIMIT = 20.0  # seconds that a reply may take once it is begun
POLL = 0.5  # seconds between two looks at deadlines and at the queue
CRASH_WINDOW = 600.0  # seconds for which a crash counts
LONGEST_PAUSE = 60.0  # seconds before the models are loaded again


class Loading(NamedTuple):
    """The model is being loaded."""

    name: str
    since: float  # time.monotonic
    again: bool = False  # after a crash


class Ready(NamedTuple):
    """The model can reply; `source` names the model, its precision and its device."""

    name: str
    source: str
    seconds: float  # it took to load


class Failed(NamedTuple):
    """The model could not be loaded; `reason` is a sentence."""

    name: str
    reason: str


class Load(NamedTuple):
    """Load the model called `name`."""

    name: str


class Begin(NamedTuple):
    """Decode a reply of the model called `name`."""

    key: int
    name: str
    request: Request


class Cancel(NamedTuple):
    """The reply is no longer needed."""

    key: int


class Piece(NamedTuple):
    """A reply after one more of its tokens."""

    key: int
    reply: Reply


class Broken(NamedTuple):
    """A reply that ended in an error."""

    key: int
    reason: str


class Ended(NamedTuple):
    """The engine's process ended, and with it all models and replies."""

    reason: str


Stage = Loading | Ready | Failed
Order = Load | Begin | Cancel
Event = Ready | Failed | Piece | Broken | Ended
Report = Callable[[Event], None]


def load_model(load: Callable[[str], Any], name: str, models: dict[str, Any]) -> Ready | Failed:
    """Load the model called `name` into `models`; an error of any kind is what the page shows."""
    began = time.monotonic()
    try:
        model = models[name] = load(name)
    except Exception as error:  # torch, the Hub and a server's owner raise what they like
        return Failed(name, f"{type(error).__name__}: {error}")
    return Ready(name, model.source, time.monotonic() - began)


class Waiting(NamedTuple):
    """The request is in the queue; `place` 1 is next, and begins in about `seconds`."""

    place: int
    seconds: float


Update = Waiting | Reply | ReplyError
Deliver = Callable[[Update], None]


@dataclass
class Ticket:
    """A request from its arrival to its last piece."""

    name: str
    request: Request
    deliver: Deliver
    began: float = 0.0  # time.monotonic


def call_later(seconds: float, call: Callable[[], None]) -> None:
    """Call after so many seconds, in a thread that keeps no process alive."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


class ReplyService:
    """Lets visitors take turns at the models of one engine. Thread-safe.

    An engine decodes replies and reports events from its own threads. `send` gives it an order and
    returns at once; `restart` ends everything that runs, and it reports Ended.
    """

    def __init__(
        self,
        engine: Callable[[Report], Any],
        limits: Limits = LIMITS,
        reply_limit: float = REPLY_LIMIT,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], None] = call_later,
    ) -> None:
        self.reply_limit, self._clock, self._later = reply_limit, clock, later
        self.queue = FairQueue(limits)
        self.stages: dict[str, Stage] = {}
        self.crashes: deque[float] = deque(maxlen=16)  # those in CRASH_WINDOW, the newest last
        self._crash_number = 0
        self._tickets: dict[int, Ticket] = {}
        self._keys = 0
        self._changed = threading.Condition(threading.RLock())
        self._is_watching = False
        self._sign_of_life = self._clock()  # of the engine
        self.engine = engine(self._on_event)

    def start(self, name: str, again: bool = False) -> Stage:
        """The stage of a model; begins to load it, after a failure if `again`."""
        with self._changed:
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

    def submit(self, name: str, request: Request, visitor: Visitor, deliver: Deliver) -> int:
        """Put a request in the queue; returns its key.

        `deliver` is called from other threads, with places in the queue, then with the growing
        reply, and last with a finished reply or an error. Raises NotReady before the model is
        loaded and ReplyRefused where the queue is full.
        """
        with self._changed:
            stage = self.start(name)
            if isinstance(stage, Failed):
                raise NotReady(f"{name} cannot reply: {stage.reason}")
            if isinstance(stage, Loading):
                raise NotReady(f"{name} cannot reply yet; it is still loading")
            self._keys += 1
            key = self._keys
            try:
                self.queue.enter(key, visitor)
            except QueueFull as full:
                waiting = f"{len(self.queue.waiting)} visitors are waiting for the language model"
                sentence = f"{waiting} already; it is free in about {full.seconds:.0f} s"
                raise ReplyRefused(sentence, full.seconds) from None
            self._tickets[key] = Ticket(name, request, deliver)
            self._start_next()
            self._tell_places()
            if not self._is_watching:
                self._is_watching = True
                threading.Thread(target=self._watch, daemon=True).start()
        return key

    def cancel(self, key: int) -> None:
        """Forget a request; nothing more is delivered. Keys that are gone are ignored."""
        with self._changed:
            if key in self._tickets:
                self.engine.send(Cancel(key))
                self._end(key)

    def health(self) -> dict[str, object]:
        """The stage of each model, and how many replies run, wait and were cut by a crash."""

        def word(stage: Stage) -> str:
            is_again = isinstance(stage, Loading) and stage.again
            return "recovering" if is_again else type(stage).__name__.lower()

        with self._changed:
            return {
                "models": {name: word(stage) for name, stage in self.stages.items()},
                "running": len(self.queue.running),
                "waiting": len(self.queue.waiting),
                "seconds_per_reply": round(self.queue.seconds_per_request, 2),
                "recent_crashes": self._count_crashes(),
            }

    def trouble(self) -> str:
        """Which models failed to load or recover from a crash, in half a sentence; "" if none."""
        down = [f"{name} is {word}" for name, word in self.health()["models"].items()
                if word in ("failed", "recovering")]  # fmt: skip
        return ", ".join(down)

    def _start_next(self) -> None:
        while (key := self.queue.start_next()) is not None:
            ticket = self._tickets[key]
            ticket.began = self._clock()
            self.engine.send(Begin(key, ticket.name, ticket.request))

    def _tell_places(self) -> None:
        for key in list(self.queue.waiting):
            self._tickets[key].deliver(Waiting(*self.queue.place(key)))

    def _end(self, key: int, update: Update | None = None) -> None:
        """Deliver the last update of a request, and let the next one begin."""
        ticket = self._tickets.pop(key, None)
        if ticket is None:  # the engine ended as it was told of the end
            return
        self.queue.leave(key)
        if update is not None:
            ticket.deliver(update)
        self._start_next()

    def _source(self, name: str) -> str:
        stage = self.stages[name]
        return stage.source if isinstance(stage, Ready) else name

    def _on_event(self, event: Event) -> None:
        with self._changed:
            self._sign_of_life = self._clock()
            if isinstance(event, Piece | Broken):
                if ticket := self._tickets.get(event.key):  # else the engine does not know yet
                    self._on_reply(ticket, event)
            elif isinstance(event, Ended):
                self._on_crash(event)
            else:
                self.stages[event.name] = event
            self._changed.notify_all()

    def _on_reply(self, ticket: Ticket, event: Piece | Broken) -> None:
        if isinstance(event, Broken):
            why = f"{self._source(ticket.name)} broke off: {event.reason}"
            self._end(event.key, ReplyError(why))
        elif not event.reply.finish:
            ticket.deliver(event.reply)
        else:
            self.queue.learn_time(self._clock() - ticket.began)
            self._end(event.key, event.reply)
            self._tell_places()

    def _on_crash(self, event: Ended) -> None:
        """End all replies, and load the models again after a pause: 0, 1, 3, 7, … seconds."""
        now = self._clock()
        self.crashes.append(now)
        for name, stage in self.stages.items():
            if not isinstance(stage, Failed):
                self.stages[name] = Loading(name, now, again=True)
        sentence = f"{event.reason}; it is started again, and the game is as it was"
        for key in list(self._tickets):
            ticket = self._tickets.pop(key)
            self.queue.leave(key)
            ticket.deliver(NotReady(sentence))
        self._crash_number += 1
        pause = min(LONGEST_PAUSE, 2.0 ** (self._count_crashes() - 1) - 1)
        self._later(pause, partial(self._load_again, self._crash_number))

    def _count_crashes(self) -> int:
        while self.crashes and self._clock() - self.crashes[0] >= CRASH_WINDOW:
            self.crashes.popleft()
        return len(self.crashes)

    def _load_again(self, crash_number: int) -> None:
        """Load the models again; a later crash has a pause of its own."""
        with self._changed:
            if crash_number != self._crash_number:
                return
            for name, stage in self.stages.items():
                if isinstance(stage, Loading) and stage.again:
                    self.engine.send(Load(name))

    def _watch(self) -> None:
        """Look after deadlines and places while there are requests."""
        while True:
            time.sleep(min(POLL, self.reply_limit / 4))
            with self._changed:
                if not self._tickets:
                    self._is_watching = False
                    return
                self._expire(self._clock())
                self._tell_places()

    def _expire(self, now: float) -> None:
        """End the replies that took too long; restart an engine that gives no sign of life."""
        for key in list(self.queue.running):
            ticket = self._tickets.get(key)
            if ticket is None or now < ticket.began + self.reply_limit:
                continue
            self.engine.send(Cancel(key))
            late = f"{self._source(ticket.name)} gave no whole reply within {self.reply_limit:g} s"
            self._end(key, ReplyTimeout(f"{late}; the game is as it was, try again"))
            if now - self._sign_of_life > self.reply_limit:
                self.engine.restart()


@dataclass(frozen=True)
class ModelWorker:
    """A model called `model` of a service, under the name that its picker shows."""

    name: str
    service: ReplyService = field(repr=False)
    model: str
    sampling: Sampling = DEFAULT_SAMPLING
    visitor: Visitor = PAGE
    guesses: bool = False  # see Request

    @property
    def stage(self) -> Stage:
        """Loading, Ready or Failed; the first access starts the loading."""
        return self.service.start(self.model)

    @property
    def source(self) -> str:
        """Which model replies, in which precision and where; its name until it is loaded."""
        stage = self.stage
        return stage.source if isinstance(stage, Ready) else self.model

    def start(self, again: bool = False) -> None:
        """Load in the background, once more after a failure if `again`. Returns immediately."""
        self.service.start(self.model, again)

    def wait(self, seconds: float = 120.0) -> Stage:
        """Wait until the stage is no longer Loading, at most `seconds`; returns the stage."""
        return self.service.wait(self.model, seconds)

    def for_visitor(self, visitor: Visitor, guesses: bool = False) -> "ModelWorker":
        """The same model, its requests in the queue as those of `visitor`."""
        return replace(self, visitor=visitor, guesses=guesses)

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Waiting | Reply]:
        """Yields places in the queue, then the reply while it grows.

        Closing the iterator stops the model at its next token, or leaves the queue. Raises NotReady
        before the model is loaded, ReplyRefused where the queue is full, ReplyTimeout where a
        started reply takes longer than the limit, even if the model hangs, and ReplyError where the
        model fails.
        """
        updates: queue.SimpleQueue[Update] = queue.SimpleQueue()
        key = self._submit(messages, seed, schema, updates.put)
        try:
            while not _is_last(update := updates.get()):
                yield update
            yield _finish_reply(update)
        finally:
            self.service.cancel(key)

    async def stream_async(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> AsyncIterator[Waiting | Reply]:
        """`stream` for an event loop: waiting holds no thread."""
        loop, updates = asyncio.get_running_loop(), asyncio.Queue()
        deliver = partial(loop.call_soon_threadsafe, updates.put_nowait)
        key = self._submit(messages, seed, schema, deliver)
        try:
            while not _is_last(update := await updates.get()):
                yield update
            yield _finish_reply(update)
        finally:
            self.service.cancel(key)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The whole reply; the same errors as `stream`."""
        *_, reply = self.stream(messages, seed, schema)
        return reply

    def _submit(
        self, messages: Messages, seed: int, schema: Schema | None, deliver: Deliver
    ) -> int:
        request = Request(messages, seed, schema, self.sampling, self.guesses)
        return self.service.submit(self.model, request, self.visitor, deliver)


def _is_last(update: Update) -> bool:
    return isinstance(update, Exception) or (isinstance(update, Reply) and bool(update.finish))


def _finish_reply(update: Update) -> Reply:
    """The finished reply; raises the error that a service delivered instead."""
    if isinstance(update, Exception):
        raise update
    return update
