"""Many visitors of the page at once: `python -m benchmarks.load --save`.

Run by hand. Mixes of readers, players of scripts and players of the language model visit a page in
a process of its own, by Gradio's protocol over HTTP; `/config` says which events there are.
Gradio's client library would not do: it refuses events that are no part of the page's API, names no
pressed button, and sends through the queue what a browser asks for directly. A visitor names its
network address in `X-Forwarded-For`, so the page has to trust this machine as a proxy. Scripts,
fonts and styles that browsers keep are not requested.
"""

import argparse
import asyncio
import html
import json
import math
import re
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import numpy as np
import psutil

from benchmarks.page import TRUSTED, running_app
from env import CATALOGUE
from sauda.records import lines, rows_in
from sauda.records.schemas.speeds import latency, memory_growth
from sauda.records.store import machine, provenance, save

FILE = "load.json"
ITEMS = tuple(dict.fromkeys(item.name for item in CATALOGUE))  # that a visitor can sell
SECONDS = 600.0  # of the longest mixes
SAMPLES = 20  # of memory
MODEL_PROCESS = "sauda.llm.process"  # the module that a page's model process runs
PATIENCE, MODEL_PATIENCE = 30, 120  # seconds for an answer, and for an event of the queue
KEPT_OPEN = 2.0  # seconds of a connection without requests: below the 5 after which uvicorn ends it
LOADS_WITHIN = 300  # seconds until the model must be ready
THINKING, READING = (0.5, 1.5), (2.0, 6.0)  # seconds between moves, and between figures; uniform
READS = 3  # figures that a reader opens in one visit
PRICE, TAG = re.compile(r"₹[\d,.]+"), re.compile(r"<[^>]*>")
MOVE = re.compile(r'<button[^>]* data-id="(\w+)[^>]*>([^<]*)<')
QUICK = ("offer", "accept", "walk")
PROBLEM = re.compile(r'<div id="haggle-problem">(.*?)</div>', re.DOTALL)
READY, FAILED = "ready after", "cannot play"  # in the words of the model's badge
QUEUE_IS_FULL = "waiting for the language model"  # a refusal that offers a script instead
# What a piece of a stream changes of the chat's last line; what stands there before the reply.
STREAMED = re.compile(r'\["(replace|append)", \[\d+, "content", 0, "text"\], "')
NO_WORD = re.compile(r"is thinking|is busy with others")
PICKERS = {"dropdown", "radio", "slider", "checkboxgroup"}
PAGE, OPENING, FIGURE = "page load", "opening events", "another figure"
START, SCRIPTED, MODEL = "start of a game", "scripted reply", "model reply"
FIRST_WORD = "first word of a model"
REVIEW = "review of a game"
POLITE, GREEDY = "polite visitor's model reply", "greedy client's model reply"


class Failure(Exception):
    """The page gave no answer, or none that a visitor can use."""


class RefusedByPage(Exception):
    """The page said in words that it cannot do this now, and holds nothing against the visitor."""


class Missed(Exception):
    """An action failed or was refused, and was counted; the visit cannot go on."""


# The page's own description of itself


class Script:
    """The events of a page, and the parts of its Haggle tab, by their numbers."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.parts = {part["id"]: part for part in config["components"]}
        self.events = {event["id"]: event for event in config["dependencies"]}
        ids = {part["props"].get("elem_id"): number for number, part in self.parts.items()}
        labels = {part["props"].get("value"): number for number, part in self.parts.items()
                  if part["type"] == "button"}  # fmt: skip
        names = ("price", "moves", "chat", "given", "other", "market")
        self.box, self.moves, self.chat, self.brief, self.opponent, self.market = (
            ids[f"haggle-{name}"] for name in names
        )
        self.begin = self._event_of(labels["New game"], "click")
        self.reply = self._event_of(self.box, "submit")
        self.again = self._event_of(self.moves, "click")
        callable_ = [event for event in self.events.values() if event["backend_fn"]]
        self.on_load = [e["id"] for e in callable_ if any(n == "load" for _, n in e["targets"])]
        self.reads = [event["id"] for event in callable_ if self._is_read(event)]
        # Events of the queue that start as these parts change.
        asked, after = (ids[f"haggle-{name}"] for name in ("asked", "after"))
        self.by_part = {part: self._event_of(part, "change") for part in (asked, after)}
        self.model_reply = self.by_part[asked]

    def _event_of(self, part: int, name: str) -> int:
        return next(e["id"] for e in self.events.values() if [part, name] in e["targets"])

    def _is_read(self, event: Mapping[str, Any]) -> bool:
        """Whether a picker starts it, its inputs are in sight, and the answer comes at once."""
        started = {self.parts[part]["type"] for part, _ in event["targets"] if part in self.parts}
        taken = {self.parts[part]["type"] for part in event["inputs"]}
        return not event["queue"] and "state" not in taken and bool(started) and started <= PICKERS


def value_of(output: Any) -> Any:
    """The value of a component, which Gradio returns bare or inside an update."""
    return output.get("value") if isinstance(output, dict) else output


def is_same(new: Any) -> bool:
    """Whether an event leaves the component of this output alone."""
    return new is None or (isinstance(new, dict) and new.keys() <= {"__type__", "props"})


# What visitors do


@dataclass
class Crowd:
    """What the visitors of one mix share: the page, the clock, and what was counted."""

    http: httpx.AsyncClient
    script: Script
    deadline: float  # time.monotonic when the last visits begin their last action
    addresses: float = math.inf  # the last one is that of all further visitors
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: Counter[str] = field(default_factory=Counter)
    reasons: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    done: int = 0  # games or sessions

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    async def pause(self, rng: np.random.Generator, seconds: tuple[float, float]) -> None:
        """Wait as a person would, and not beyond the deadline."""
        left = max(self.deadline - time.monotonic(), 0)
        await asyncio.sleep(min(rng.uniform(*seconds), left))

    @contextmanager
    def time(self, what: str) -> Iterator[None]:
        """Context: times one action; raises Missed where it does not succeed."""
        began = time.perf_counter()
        self.seconds[what]  # an action that never succeeds has its row too
        try:
            yield
        except RefusedByPage as refusal:
            self.refused[what] += 1
            raise Missed from refusal
        except (Failure, httpx.HTTPError, TimeoutError) as error:
            late = isinstance(error, TimeoutError | httpx.TimeoutException)
            broken = f"connection broken ({type(error).__name__})"
            reason = str(error) if isinstance(error, Failure) else broken
            self.reasons[what]["no answer in time" if late else reason] += 1
            raise Missed from error
        self.seconds[what].append(time.perf_counter() - began)

    def rows(self) -> list[dict[str, Any]]:
        """One row per action, as the artifact has it."""
        return [
            latency(what, seconds, self.refused[what], self.reasons[what])
            for what, seconds in self.seconds.items()
        ]

    @asynccontextmanager
    async def visit(self, number: int) -> AsyncIterator["Tab"]:
        """Context: a browser tab of visitor `number`, which keeps a connection open."""
        number = int(min(number, self.addresses))
        tab = Tab(self, f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")
        beat = f"/gradio_api/heartbeat/{tab.session}"
        async with self.http.stream("GET", beat, headers=tab.headers):
            yield tab


class Tab:
    """A session with the page, and what stands in each of its parts."""

    def __init__(self, crowd: Crowd, address: str) -> None:
        self.crowd, self.script = crowd, crowd.script
        self.session, self.headers = uuid.uuid4().hex, {"X-Forwarded-For": address}
        parts = self.script.parts.items()
        self.values = {number: part["props"].get("value") for number, part in parts}
        self.due: list[int] = []  # events that start because their part changed
        self.asked = 0.0  # time.perf_counter at the question whose answer has no word yet, or 0

    async def open_page(self) -> None:
        """Request what makes the page, and start what a browser starts when it has loaded."""
        with self.crowd.time(PAGE):
            for path in ("/", "/config", "/theme.css"):
                check_status(await self.crowd.http.get(path, headers=self.headers))
        with self.crowd.time(OPENING):
            await asyncio.gather(*(self.fire(event) for event in self.script.on_load))
            await self.hear_model()

    async def fire(self, event: int) -> None:
        """Send an event and take over its outputs; raises Failure or RefusedByPage."""
        wiring = self.script.events[event]
        body = {
            "data": [self.values[part] for part in wiring["inputs"]],
            "event_data": {"id": "ask_again"} if event == self.script.again else None,
            "fn_index": event,
            "session_hash": self.session,
            "trigger_id": self.script.box if event == self.script.reply else None,
        }
        queued = wiring["queue"]
        path = "/gradio_api/queue/join" if queued else "/gradio_api/run/predict"
        answer = await self.crowd.http.post(path, json=body, headers=self.headers)
        content = check_status(answer).json()
        outputs = await self._await_outputs(content["event_id"]) if queued else content["data"]
        for part, output in zip(wiring["outputs"], outputs, strict=False):
            if is_same(output):
                continue
            before, self.values[part] = self.values[part], value_of(output)
            if part in self.script.by_part and (before or "") != self.values[part]:
                self.due.append(self.script.by_part[part])

    async def _await_outputs(self, event_id: str) -> list[Any]:
        """Read the stream of the session until its one event of the queue has ended."""
        output = None
        query = {"session_hash": self.session}
        stream = self.crowd.http.stream(
            "GET", "/gradio_api/queue/data", params=query, headers=self.headers
        )
        async with asyncio.timeout(MODEL_PATIENCE), stream as response:
            check_status(response)
            async for line in response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                message = json.loads(line.removeprefix("data:"))
                if message["msg"] == "process_generating" and self.asked:
                    self._time_first_word(message["output"]["data"])
                if message["msg"] == "unexpected_error":
                    raise Failure("the stream broke off")
                if message["msg"] == "process_completed" and message["event_id"] == event_id:
                    if not message["success"]:
                        raise Failure(f"the event failed: {message['output'].get('error')}")
                    output = message["output"]["data"]
                if message["msg"] == "close_stream":
                    break
        if output is None:
            raise Failure("the stream ended without the event's outputs")
        return output

    def _time_first_word(self, changes: list[Any]) -> None:
        """Count the time since the model was asked, if `changes` bring words of it to the chat."""
        lines = json.dumps([change for change in changes if change], ensure_ascii=False)
        if STREAMED.search(lines) and not NO_WORD.search(lines):
            self.crowd.seconds[FIRST_WORD].append(time.perf_counter() - self.asked)
            self.asked = 0.0

    async def hear_model(self) -> None:
        """Wait for the reply of the model, where an event has asked for one."""
        while self.script.model_reply in self.due:
            self.due.remove(self.script.model_reply)
            await self.fire(self.script.model_reply)

    async def begin(self, number: int, model: bool) -> None:
        """Start a game of the item of this number; the page's first opponent is the model."""
        self.values[self.script.market] = ITEMS[number % len(ITEMS)]
        if not model:
            self.values[self.script.opponent] = "hidden"  # the scripted opponent
        await self.fire(self.script.begin)
        await self.hear_model()

    def buttons(self, *moves: str) -> list[str]:
        """The labels of the buttons that make one of these moves."""
        buttons = MOVE.findall(html.unescape(str(self.values[self.script.moves])))
        return [label for name, label in buttons if name in moves]

    @property
    def is_open(self) -> bool:
        """Whether the game still runs: there is a move to make."""
        return bool(self.buttons(*QUICK))

    def choose(self) -> str:
        """The visitor's next message: the first price on a button, else an acceptance."""
        labels = self.buttons(*QUICK)
        accepts = any(label.startswith("Accept") for label in labels)
        prices = [PRICE.search(label) for label in labels if not label.startswith("Accept")]
        last = "deal" if accepts else "walk away"  # "ok" is a nod, and takes nothing
        return next((f"{price[0]} mein de do" for price in prices if price), last)

    def texts(self) -> list[str]:
        """What the chat shows."""
        lines = self.values[self.script.chat] or []
        return [part["text"] for line in lines for part in line["content"]]

    def check(self, before: list[str], text: str) -> None:
        """Raise RefusedByPage where the page offers a script instead, Failure without an answer.

        `before` is what the chat showed before `text` was said.
        """
        waits, now = bool(self.buttons("ask_again")), self.texts()
        # Up to two notes of the page may follow the answer, and one may be the answer.
        spoken = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")  # "deal" is in "ideal", too
        is_shown = now != before and any(map(spoken.search, now[-4:]))
        if is_shown and not waits and (not spoken.search(now[-1]) or not self.is_open):
            return
        sentence = PROBLEM.search(str(self.values[self.script.moves]))
        problem = " ".join(TAG.sub(" ", sentence[1] if sentence else "").split())
        if QUEUE_IS_FULL in problem:
            raise RefusedByPage(problem)
        # Equal reasons are counted together, so N stands for their numbers.
        fault = "the game waits for an answer" if waits else "the chat holds no answer"
        raise Failure(re.sub(r"\d[\d,.]*", "N", problem) or fault)

    async def play_game(
        self, number: int, rng: np.random.Generator, what: str, thinking: tuple[float, float]
    ) -> None:
        """One game to its end; raises Missed where a reply failed. `what` names the reply's row."""
        crowd, model = self.crowd, what != SCRIPTED
        with crowd.time(START):
            await self.begin(number, model)
            if model and READY not in str(self.values[self.script.brief]):
                raise Failure("the model was not ready")
        while self.due:  # the review of the former game gives way
            with crowd.time(REVIEW):
                await self.fire(self.due.pop())
        while self.is_open and not crowd.is_over:
            await crowd.pause(rng, thinking)
            await self.say(self.choose(), rng, what)
        while self.due:
            with crowd.time(REVIEW):
                await self.fire(self.due.pop())
        crowd.done += 1

    async def say(self, text: str, rng: np.random.Generator, what: str) -> None:
        """Say a text and wait for the whole reply; whom the model refuses waits and asks again."""
        event, before, model = self.script.reply, self.texts(), what != SCRIPTED
        self.values[self.script.box] = text
        while True:
            try:
                with self.crowd.time(what):
                    self.asked = time.perf_counter() if model else 0.0
                    await self.fire(event)
                    await self.hear_model()
                    self.check(before, text)
                return
            except Missed as missed:
                refused = model and isinstance(missed.__cause__, RefusedByPage)
                if not refused or self.crowd.is_over:
                    raise
                event = self.script.again
                await self.crowd.pause(rng, READING)


def check_status(response: httpx.Response) -> httpx.Response:
    """The response where its status is 200; raises RefusedByPage or Failure elsewhere."""
    if response.status_code != 200:
        kind = RefusedByPage if response.status_code in (429, 503) else Failure
        raise kind(f"the page answered {response.status_code}")
    return response


Visit = Callable[[Tab, int, np.random.Generator], Coroutine[None, None, None]]
Role = Callable[[Crowd, int, np.random.Generator], Coroutine[None, None, None]]


def visits(visit: Visit, begins: float, anew: bool = False) -> Role:
    """Visit after visit, the first within `begins` seconds; `anew` by another visitor each time."""

    async def play(crowd: Crowd, number: int, rng: np.random.Generator) -> None:
        await crowd.pause(rng, (0, begins))  # nobody comes at the same instant
        while not crowd.is_over:
            number += 1000 * anew
            try:
                async with crowd.visit(number) as tab:
                    await visit(tab, number, rng)
            except (Missed, httpx.HTTPError):  # counted
                await crowd.pause(rng, (0, 0) if anew else READING)

    return play


async def read_pages(tab: Tab, number: int, rng: np.random.Generator) -> None:
    """Open the page and look at figures."""
    await tab.open_page()
    for event in rng.choice(tab.script.reads, READS):
        await tab.crowd.pause(rng, READING)
        if tab.crowd.is_over:
            return
        with tab.crowd.time(FIGURE):
            await tab.fire(int(event))


def haggle(what: str, thinking: tuple[float, float] = THINKING) -> Role:
    """Play game after game in one tab; `what` names the row of the replies."""

    async def play(tab: Tab, number: int, rng: np.random.Generator) -> None:
        for game in count(number):
            if tab.crowd.is_over:
                return
            await tab.play_game(game, rng, what, thinking)

    return visits(play, thinking[1])


async def come_and_go(tab: Tab, number: int, rng: np.random.Generator) -> None:
    """Open the page, start a game and leave."""
    await tab.open_page()
    with tab.crowd.time(START):
        await tab.begin(number, model=False)
    tab.crowd.done += 1


@dataclass(frozen=True)
class Mix:
    """Who visits at once; `part` is the share of the seconds, `unit` what memory is counted by."""

    about: str
    roles: tuple[tuple[int, Role], ...]
    part: float = 1.0
    addresses: float = math.inf  # at most; the last one is that of all further visitors
    unit: str = "second"


READ = visits(read_pages, READING[1])
MIXES = {
    "50 visitors": Mix(
        "30 read, 15 play scripts, 5 play the language model",
        ((30, READ), (15, haggle(SCRIPTED)), (5, haggle(MODEL))),
    ),
    "30 behind one address": Mix(
        "18 read, 9 play scripts, 3 play the language model",
        ((18, READ), (9, haggle(SCRIPTED)), (3, haggle(MODEL))),
        part=0.3,
        addresses=1,
    ),
    "5 players of the model": Mix(
        "5 visitors play the language model", ((5, haggle(MODEL)),), part=0.2
    ),
    "20 players": Mix("20 visitors play scripts", ((20, haggle(SCRIPTED)),), part=0.2),
    "greedy client": Mix(
        "one client opens 30 games with the model, one polite visitor plays beside it",
        ((1, haggle(POLITE)), (30, haggle(GREEDY))),
        part=0.2,
        addresses=2,
    ),
    "games in a row": Mix(
        "scripted games without a pause, in one session",
        ((1, haggle(SCRIPTED, (0, 0))),),
        part=0.05,
        unit="game",
    ),
    "sessions": Mix(
        "visitors open the page, start a game and leave",
        ((4, visits(come_and_go, 0, anew=True)),),
        part=0.3,  # more than the page keeps, after which memory has to stay
        unit="session",
    ),
}


# The run


async def wait_for_model(crowd: Crowd) -> None:
    """Return once the page's model can reply; ValueError where it cannot."""
    async with crowd.visit(0) as tab:
        for _ in range(LOADS_WITHIN):
            await tab.begin(0, model=True)
            badge = str(tab.values[crowd.script.brief])
            if READY in badge:
                return
            if FAILED in badge:
                raise ValueError(" ".join(TAG.sub(" ", badge).split()))
            await asyncio.sleep(1)
    raise ValueError(f"the language model was not ready within {LOADS_WITHIN} s")


def measure_memory(pid: int) -> tuple[float, float | None]:
    """Resident MiB of a page and of its model process; None where it has no such process."""
    page = psutil.Process(pid)
    models = [c for c in page.children(recursive=True) if MODEL_PROCESS in c.cmdline()]
    resident = [process.memory_info().rss / 2**20 for process in models]
    return page.memory_info().rss / 2**20, sum(resident) if resident else None


async def play_mix(
    name: str, seconds: float, address: str, pid: int | None = None
) -> dict[str, Any]:
    """Play a mix on the page at `address`; memory is sampled where its process id is known."""
    mix, points = MIXES[name], []
    limits = httpx.Limits(
        max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEPT_OPEN
    )
    async with httpx.AsyncClient(
        base_url=address, timeout=PATIENCE, limits=limits, trust_env=False
    ) as http:
        script = Script((await http.get("/config")).raise_for_status().json())
        crowd = Crowd(http, script, float("inf"))
        await wait_for_model(crowd)  # loading takes both cores, so all wait for it
        began = time.monotonic()
        crowd.deadline, crowd.addresses = began + seconds, mix.addresses

        async def watch() -> None:
            while True:
                done = round(time.monotonic() - began) if mix.unit == "second" else crowd.done
                if pid is not None and (not points or done > points[-1][0]):
                    points.append((done, *measure_memory(pid)))
                await asyncio.sleep(seconds / SAMPLES)

        watching = asyncio.create_task(watch())
        roles = [role for count, role in mix.roles for _ in range(count)]
        streams = np.random.default_rng(0).spawn(len(roles))
        pairs = enumerate(zip(roles, streams, strict=True), 1)
        await asyncio.gather(*(role(crowd, number, rng) for number, (role, rng) in pairs))
        watching.cancel()
    memory = []
    if len(points) > 1:
        done, page, model = (list(column) for column in zip(*points, strict=True))
        memory = [memory_growth(mix.unit, done, page, None if None in model else model)]
    spent = round(time.monotonic() - began, 1)
    return {"name": name, "about": mix.about, "seconds": spent, "rows": crowd.rows(),
            "memory": memory}  # fmt: skip


def main() -> None:
    """Play the mixes, print each, and save them where the options say so."""
    parser = argparse.ArgumentParser(description="Many visitors of the page at once.")
    parser.add_argument("--mix", nargs="+", choices=MIXES, default=list(MIXES))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the longest mixes")
    parser.add_argument("--save", action="store_true", help=f"write artifacts/{FILE}")
    options = parser.parse_args()
    mixes: list[dict[str, Any]] = []
    for name in options.mix:
        seconds = options.seconds * MIXES[name].part
        with running_app(environment=TRUSTED) as page:
            mix = asyncio.run(play_mix(name, seconds, page.address, page.pid))
        mixes.append({"state": "now", "commit": provenance()["commit"], **mix})
        print(f"{name}, {mix['seconds']:g} s: {mix['about']}", *lines(rows_in(mix)), sep="\n")
    if options.save:
        config = {"seconds": options.seconds, "mixes": options.mix}
        save(FILE, config, {"machine": machine(), "mixes": mixes})


if __name__ == "__main__":
    main()
