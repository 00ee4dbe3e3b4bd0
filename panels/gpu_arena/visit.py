"""A visit to the arena as one value, and what a browser sends of it.

The browser holds what is typed and picked, and sends all of it with each press. The server writes
the defaults of the fields, which the browser takes where the key of a part changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from markupsafe import Markup

from panels.gpu_arena.players import TASK
from panels.gpu_arena.words import EXPERT
from sauda.sessions.arena import ArenaGame

PAY, ASK = "pay", "ask for"  # the two ways of the money in an offer


@dataclass(frozen=True)
class Fields:
    """What a browser sends with a press: what was pressed, and what the fields of the tab hold.

    Fields are called by their names in the HTML.
    """

    value: str = ""  # what the button holds: a job, a block, an offer, an action as JSON, a player
    blocks: tuple[str, ...] = ()  # those that are pressed on the calendar
    search: str = ""  # the query string of the page's address
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


def read(sent: object) -> Fields:
    """What a browser sent; any client can send anything, and what is no text counts as missing."""
    found, known = sent if isinstance(sent, Mapping) else {}, {}
    for field in fields(Fields):
        value = found.get(field.name)
        if isinstance(field.default, tuple):
            each = value if isinstance(value, list) else ()
            known[field.name] = tuple(one for one in each if isinstance(one, str))
        elif isinstance(value, str):
            known[field.name] = value
    return Fields(**known)


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
