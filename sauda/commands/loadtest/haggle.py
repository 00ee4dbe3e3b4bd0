"""The Haggle tab in the page's own description of itself, and a visitor's moves in it.

Only what the page says is used: `/config` names its components and events.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PRICE = re.compile(r"₹[\d,.]+")
TAG = re.compile(r"<[^>]*>")
SCRIPT = "hidden"  # the scripted opponent in the picker of opponents
READY, FAILED = "sauda-state-good", "sauda-state-bad"  # classes of the model's badge
LINE_IS_FULL = "waiting for the language model"  # a refusal that offers a script instead
PICKERS = ("dropdown", "radio", "slider", "checkboxgroup")


@dataclass(frozen=True)
class Event:
    """One event of the page."""

    id: int
    queued: bool
    defaults: tuple[Any, ...]  # of its inputs, as a browser has them at first
    followers: tuple[int, ...]  # events that start when this one has ended


@dataclass(frozen=True)
class Script:
    """Indices of the page's events, and of their inputs and outputs."""

    events: Mapping[int, Event]
    begin: int  # the event that starts a game
    reply: int  # the event that says something
    again: int  # the event that requests the model's reply once more
    trigger: int
    opponent: int  # where the opponent stands in what `begin` takes
    market: int  # where the market, or the ware, stands in it
    markets: tuple[str, ...]
    text: int  # index of the text among the inputs of the replying event
    chat: int  # indices among the outputs
    problem: int
    badge: int
    ask_again: int
    buttons: tuple[int, ...]
    on_load: tuple[int, ...] = ()  # events of a page that opens
    reads: tuple[int, ...] = ()  # events that show another figure or game
    by_state: Mapping[int, int] = field(
        default_factory=dict
    )  # events by the state that starts them
    api: Mapping[str, int] | None = None  # public events by name


def script(config: Mapping[str, Any]) -> Script:
    """The Haggle tab's events; raises ValueError where the page has none of them."""
    parts, raw = config["components"], config["dependencies"]
    props = {part["id"]: part["props"] for part in parts}
    types = {part["id"]: part["type"] for part in parts}
    named = {p.get("elem_id"): i for i, p in props.items()}
    box = _first([i for i, p in props.items() if p.get("elem_id") == "haggle-price"], "price box")
    chat = _first([i for i, p in props.items() if p.get("elem_id") == "haggle-chat"], "chat")
    new = _first([i for i, p in props.items() if p.get("value") == "New game"], "new game")
    retry = _first([i for i, p in props.items() if p.get("value") == "Ask again"], "ask again")
    begin = _first([e for e in raw if [new, "click"] in e["targets"]], "start")
    reply = _first([e for e in raw if [box, "submit"] in e["targets"]], "reply")
    again = _first([e for e in raw if [retry, "click"] in e["targets"]], "event to ask again")
    pickers = [props[part].get("elem_id") for part in begin["inputs"]]
    market = pickers.index("haggle-market")
    shown = reply["outputs"]
    small = {i for i, p in props.items() if p.get("size") == "sm"}
    return Script(
        events={event["id"]: _event(event, raw, props) for event in raw},
        begin=begin["id"],
        reply=reply["id"],
        again=again["id"],
        trigger=box,
        opponent=pickers.index("haggle-other"),
        market=market,
        markets=tuple(value for _, value in props[begin["inputs"][market]]["choices"]),
        text=reply["inputs"].index(box),
        chat=shown.index(chat),
        problem=shown.index(named["haggle-problem"]),
        badge=shown.index(named["haggle-badge"]),
        ask_again=shown.index(retry),
        buttons=tuple(place for place, part in enumerate(shown) if part in small),
        on_load=tuple(
            e["id"]
            for e in raw
            if e["backend_fn"] and any(name == "load" for _, name in e["targets"])
        ),
        reads=tuple(e["id"] for e in raw if _reads(e, {part["id"]: part for part in parts})),
        by_state={
            part: e["id"]
            for e in raw
            for part, name in e["targets"]
            if e["backend_fn"] and e["queue"] and name == "change" and types.get(part) == "state"
        },
        api={e["api_name"]: e["id"] for e in raw if e.get("api_visibility") == "public"},
    )


def _first(components: Sequence[Any], what: str) -> Any:
    if not components:
        raise ValueError(f"the Haggle tab has no {what}: update {__name__} to match the page")
    return components[0]


def _event(event: Mapping[str, Any], raw: Sequence[Mapping], props: Mapping[int, Any]) -> Event:
    followers = [
        other["id"]
        for other in raw
        if other["backend_fn"] and other.get("trigger_after") == event["id"]
    ]
    defaults = [props[part].get("value") for part in event["inputs"]]
    return Event(event["id"], bool(event["queue"]), tuple(defaults), tuple(followers))


def _reads(event: Mapping[str, Any], parts: Mapping[int, Any]) -> bool:
    """Whether a picker starts it, all that it takes is in sight, and the answer comes at once."""
    started = [parts[part]["type"] for part, _ in event["targets"] if part in parts]
    taken = [parts[part]["type"] for part in event["inputs"]]
    visible = "state" not in taken and event["backend_fn"] and not event["queue"]
    return bool(started) and visible and all(kind in PICKERS for kind in started)


def start(plan: Script, number: int, model: bool = False) -> list[Any]:
    """What `begin` takes: the market of this number; the page's first opponent is the model."""
    data = list(plan.events[plan.begin].defaults)
    data[plan.market] = plan.markets[number % len(plan.markets)]
    if not model:
        data[plan.opponent] = SCRIPT
    return data


def words(plan: Script, text: str) -> list[Any]:
    """What `reply` takes, with `text` in the price box."""
    data = list(plan.events[plan.reply].defaults)
    data[plan.text] = text
    return data


def is_open(seen: Sequence[Any], plan: Script) -> bool:
    """Whether the game is still running: at least one button is interactive."""
    return any(seen[place].get("interactive") for place in plan.buttons)


def move(seen: Sequence[Any], plan: Script) -> str:
    """The visitor's next message: the first price on a button, else an acceptance of the ask."""
    able = [seen[place] for place in plan.buttons if seen[place].get("interactive")]
    labels = [value(button) for button in able]
    prices = [PRICE.search(label) for label in labels if not label.startswith("Accept")]
    payable = any(label.startswith("Accept") for label in labels)
    last = "ok" if payable else "walk away"
    return next((f"{price[0]} mein de do" for price in prices if price), last)


def fault(before: Sequence[Any], after: Sequence[Any], text: str, plan: Script) -> str:
    """Why `after` does not hold `text` and an answer to it; empty where it does.

    A game that is over needs no answer; one that waits for the model offers to ask it again.
    """
    again = after[plan.ask_again]
    if isinstance(again, dict) and again.get("visible"):
        return "the game waits for an answer"
    new = value(after[plan.chat])[len(value(before[plan.chat]) or []) :]
    texts = [part["text"] for message in new for part in message["content"]]
    if any(text in one for one in texts) and (len(texts) >= 2 or not is_open(after, plan)):
        return ""
    return f"the chat holds no answer to {text!r}"


def merged(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """The outputs after a second event of the same components, which may set more after them.

    Those that it leaves alone stay.
    """
    pairs = zip(before, after, strict=False)
    return [old if new is None or _unchanged(new) else new for old, new in pairs]


def _unchanged(output: Any) -> bool:
    return isinstance(output, dict) and output.keys() <= {"__type__", "props"}


def value(output: Any) -> Any:
    """The value of a component, which Gradio returns bare or inside an update."""
    return output.get("value") if isinstance(output, dict) else output


def plain(html: Any) -> str:
    """The words of a piece of HTML."""
    return " ".join(TAG.sub(" ", str(html or "")).split())


def without_numbers(text: str) -> str:
    """`text` with N for its numbers, so that equal reasons are counted together."""
    return re.sub(r"\d[\d,.]*", "N", text)
