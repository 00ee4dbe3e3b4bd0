"""Visitors who haggle on a running page, many at once, over the calls its browser side makes.

A visitor is a thread with a session of its own: it names prices until its game is over, then
starts the next market. Only what the page says of itself is used: `/config` names the events.
"""

import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from tqdm import tqdm

VISITORS = 20
REPLIES = 500  # timed, of all visitors together
THINKING = (0.5, 1.5)  # seconds between an answer and the next move, uniform
PATIENCE = 30  # seconds for one answer
PRICE = re.compile(r"₹[\d,.]+")


@dataclass(frozen=True)
class Script:
    """Where the page's events and outputs stand; indices are those of one answer's data."""

    begin: int  # the event that starts a game
    reply: int  # the event that says something
    trigger: int
    start: tuple[Any, ...]  # what the event that begins takes, at first
    market: int  # where the market, or the ware, stands in it
    markets: tuple[str, ...]
    said: int  # where the words stand in what the replying event takes
    rest: tuple[Any, ...]  # all that it takes, at first
    chat: int
    buttons: tuple[int, ...]


def replies(address: str) -> list[float]:
    """Seconds each of REPLIES answers took while VISITORS play at once, in order of arrival.

    Raises ValueError where the page refuses a move or an answer does not lengthen the chat.
    """
    plan = script(_get(address, "/config"))
    streams = np.random.default_rng(0).spawn(VISITORS)
    times: list[float] = []
    with (
        ThreadPoolExecutor(VISITORS) as pool,
        tqdm(total=REPLIES, desc="haggling", unit="reply", leave=False) as bar,
    ):

        def visit(number: int) -> None:
            for seconds in played(address, plan, number, streams[number]):
                if len(times) >= REPLIES:  # nobody leaves before, so all play until the end
                    return
                times.append(seconds)
                bar.update()

        list(pool.map(visit, range(VISITORS)))
    return times[:REPLIES]


def script(config: Mapping[str, Any]) -> Script:
    """The Haggle tab's events, found in the page's own description of itself."""
    parts, events = config["components"], config["dependencies"]
    props = {part["id"]: part["props"] for part in parts}
    box = _first([i for i, p in props.items() if p.get("elem_id") == "haggle-price"], "price box")
    chat = _first([i for i, p in props.items() if p.get("elem_id") == "haggle-chat"], "chat")
    again = _first([i for i, p in props.items() if p.get("value") == "New game"], "new game")
    begin = _first([e for e in events if [again, "click"] in e["targets"]], "start")
    reply = _first([e for e in events if [box, "submit"] in e["targets"]], "reply")
    pickers = [props[part] for part in begin["inputs"]]
    start = [picker.get("value") for picker in pickers]
    names = [picker.get("elem_id") for picker in pickers]
    market, other = names.index("haggle-market"), names.index("haggle-other")
    start[other] = "hidden"  # a script answers: what a language model takes is timed on its own
    shown = reply["outputs"]
    quick = {i for i, p in props.items() if p.get("size") == "sm"}
    return Script(
        begin=begin["id"],
        reply=reply["id"],
        trigger=box,
        start=tuple(start),
        market=market,
        markets=tuple(value for _, value in pickers[market]["choices"]),
        said=reply["inputs"].index(box),
        rest=tuple(props[part].get("value") for part in reply["inputs"]),
        chat=shown.index(chat),
        buttons=tuple(place for place, part in enumerate(shown) if part in quick),
    )


def _first(found: list[Any], what: str) -> Any:
    if not found:
        raise ValueError(f"the Haggle tab has no {what}: update {__name__} to match the page")
    return found[0]


def played(address: str, plan: Script, number: int, rng: np.random.Generator) -> Iterator[float]:
    """Seconds of one visitor's answers, without end: market after market, one move at a time."""
    page = Page(address)
    time.sleep(rng.uniform(0, THINKING[1]))  # nobody comes at the same instant
    while True:
        start, words = list(plan.start), list(plan.rest)
        start[plan.market] = plan.markets[number % len(plan.markets)]
        seen = page.call(plan.begin, start)
        while _open(seen, plan):
            time.sleep(rng.uniform(*THINKING))
            words[plan.said] = said = move(seen, plan)
            start = time.perf_counter()
            after = page.call(plan.reply, words, plan.trigger)
            yield time.perf_counter() - start
            check(seen, after, said, plan)
            seen = after
        number += 1


def _open(seen: list[Any], plan: Script) -> bool:
    """Whether the game runs: while it does, a button can be pressed."""
    return any(seen[place].get("interactive") for place in plan.buttons)


def move(seen: list[Any], plan: Script) -> str:
    """What the visitor says: the first price that a button would bid, else yes to the ask."""
    able = [seen[place] for place in plan.buttons if seen[place].get("interactive")]
    labels = [_value(button) for button in able]
    prices = [PRICE.search(label) for label in labels if not label.startswith("Accept")]
    payable = any(label.startswith("Accept") for label in labels)
    last = "ok" if payable else "walk away"
    return next((f"{price[0]} mein de do" for price in prices if price), last)


def check(before: list[Any], after: list[Any], said: str, plan: Script) -> None:
    """Raise ValueError unless `after` is a real answer to what was said."""
    new = _value(after[plan.chat])[len(_value(before[plan.chat])) :]
    heard = [part["text"] for message in new for part in message["content"]]
    if said not in heard or (len(heard) < 2 and _open(after, plan)):
        raise ValueError(f"the page gave no answer to {said!r}; the chat grew by {heard}")


def _value(output: Any) -> Any:
    """What a part of the page shows: bare, or within an update of its settings."""
    return output["value"] if isinstance(output, dict) else output


class Page:
    """One session: a connection for its calls, and the heartbeat that a browser keeps open."""

    def __init__(self, address: str) -> None:
        self.session = uuid.uuid4().hex
        self.connection = _connect(address)
        self.heartbeat = _connect(address)
        self.heartbeat.request("GET", f"/gradio_api/heartbeat/{self.session}")
        self.heartbeat.getresponse()

    def call(self, event: int, data: list[Any], trigger: int | None = None) -> list[Any]:
        """What one event answers; ValueError where it fails."""
        body = {"data": data, "fn_index": event, "session_hash": self.session}
        body |= {"trigger_id": trigger, "event_data": None}
        self.connection.request(
            "POST",
            "/gradio_api/run/predict",
            json.dumps(body),
            {"Content-Type": "application/json"},
        )
        return _read(self.connection)["data"]


def _connect(address: str) -> HTTPConnection:
    return HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)


def _get(address: str, path: str) -> Any:
    connection = _connect(address)
    connection.request("GET", path)
    return _read(connection)


def _read(connection: HTTPConnection) -> Any:
    response = connection.getresponse()
    text = response.read()
    if response.status != 200:
        raise ValueError(f"the page answered {response.status}: {text[:200]!r}")
    return json.loads(text)
