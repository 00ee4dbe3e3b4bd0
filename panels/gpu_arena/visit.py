"""A visit to the arena as one value, and the fields of its HTML.

The browser holds what is typed and picked, and sends all of it with each press. The server writes
the defaults of the fields, which the browser takes where the key of a part changes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup

from panels.gpu_arena.first_world import TASK
from panels.gpu_arena.reasons import EXPERT
from sauda.sessions.arena import ArenaGame

PAY, ASK = "pay", "ask for"  # the two ways of the money in an offer

# Presses that are answered outside the queue, and those of which one runs at a time. All others
# may take seconds: a step that ends the game draws its settlement, which plays every policy.
AT_ONCE = (
    "open", "preview", "bid", "counter", "price", "weigh", "choose_move", "choose_player", "watch",
    "begin", "follow",
)  # fmt: skip
IN_TURN = ("step", "tick")
SCRIPT = f"const AT_ONCE = {json.dumps(AT_ONCE)}, IN_TURN = {json.dumps(IN_TURN)};\n" + Path(
    __file__
).with_name("press.js").read_text(encoding="utf-8")
TO_SENTENCE = {"renews": "arena-hand", "show": "arena-hand"}  # of a press that fills in an offer


@dataclass(frozen=True)
class Fields:
    """What the fields of the tab hold, by their names in the HTML."""

    task: str = TASK
    seed: str = ""
    player: str = EXPERT
    give: tuple[str, ...] = ()  # blocks of the offer
    want: tuple[str, ...] = ()
    way: str = PAY
    credits: str = "0"
    to: str = ""  # a lab; "" for the first one
    say: str = ""
    answered: str = ""  # the open offer that the offer answers
    move: str = ""  # the chosen other move as JSON; "" for the first one
    share: str = ""
    message: str = ""


@dataclass(frozen=True)
class Sent:
    """What a browser sends with a press beside the fields."""

    value: str = ""  # what the button holds: a job, a block, an offer, an action as JSON, a player
    blocks: tuple[str, ...] = ()  # those that are pressed on the calendar
    search: str = ""  # the query string of the page's address


Read = TypeVar("Read", Fields, Sent)


def read(kind: type[Read], sent: object) -> Read:
    """What a browser sent; any client can send anything, and what is no text counts as missing."""
    found, known = sent if isinstance(sent, Mapping) else {}, {}
    for field in fields(kind):
        value = found.get(field.name)
        if isinstance(field.default, tuple):
            known[field.name] = _texts(value)
        elif isinstance(value, str):
            known[field.name] = value
    return kind(**known)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


@dataclass(frozen=True)
class Visit:
    """A visitor's game, which the session keeps, and what the fields of the page hold beside it."""

    game: ArenaGame | None  # None where the page no longer has it
    running: bool = False  # whether the browser asks for steps by itself
    advice: str = ""  # HTML
    fields: Fields = Fields()
    said: str = ""  # HTML about the last press
    place: str = ""  # where that stands: "problem", "hint", "deal" or "purpose"

    @property
    def is_idle(self) -> bool:
        """Whether the game waits for the visitor."""
        return self.game is not None and not (self.running or self.game.over)

    def said_at(self, place: str) -> str:
        """What is said at a place."""
        return self.said if place == self.place else ""

    def say(self, place: str, said: Markup) -> "Visit":
        """This visit with a sentence at a place, under the buttons where it has no game."""
        return replace(self, said=said, place=place if self.game else "problem")

    def fill(self, **typed: Any) -> "Visit":
        """This visit with other values in its fields."""
        return replace(self, fields=replace(self.fields, **typed))

    def show(self, game: ArenaGame, running: bool = False) -> "Visit":
        """A game that has changed; the fields of the offer and of the other moves are empty."""
        now = self.fields
        kept = Fields(task=game.task_name, seed=now.seed, player=now.player)
        return Visit(game, running and not game.over, fields=kept)


def text_field(label: str, name: str, value: str, **attributes: Any) -> Markup:
    """A field to type in, with its label."""
    more = Markup("").join(
        Markup(' {}="{}"').format(key.replace("_", "-"), each) for key, each in attributes.items()
    )
    return Markup(
        '<div class="sauda-entry"><label for="arena-{1}">{0}</label>'
        '<input id="arena-{1}" name="{1}" value="{2}" autocomplete="off"{3}></div>'
    ).format(label, name, value, more)


def checkboxes(
    label: str, name: str, choices: list[tuple[str, str]], chosen: tuple[str, ...]
) -> Markup:
    """The blocks of one side of an offer, in a box that scrolls."""
    box = '<label><input type="checkbox" name="{}" value="{}" data-press="price"{}> {}</label>'
    boxes = Markup("").join(
        Markup(box).format(name, value, Markup(" checked") if value in chosen else "", text)
        for text, value in choices
    )
    return Markup(
        '<fieldset class="sauda-picks"><legend>{}</legend><div>{}</div></fieldset>'
    ).format(label, boxes or "none")
