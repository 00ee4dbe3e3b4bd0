"""Dialogues of Deal-or-No-Deal (Lewis et al. 2017): two agents divide books, hats and balls.

Nothing is bought here, so the agents are called by who speaks first: "opener" and "responder". The
corpus holds each dialogue twice, once from each side; with these names both rows are one dialogue.
"""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict

from sauda.language.acts import Dialogue, Turn
from sauda.train.data.dialogues.reading import MalformedRow, validated

AGENTS = ("opener", "responder")
KINDS = ("book", "hat", "ball")
SELECTION = "<selection>"  # the control token in place of the last turn's words
WHOLE = 10  # the worth of all items to each player
DIGITS = 4  # of a count or a value, at most: a longer one cannot add up to that
LINE = "<input>, <dialogue>, <output> and <partner_input>, each closed"
SIDES = {"YOU": "input", "THEM": "partner_input"}
_LINE = re.compile(
    r"<input>(?P<input>.*?)</input>\s*<dialogue>(?P<dialogue>.*?)</dialogue>\s*"
    r"<output>(?P<output>.*?)</output>\s*<partner_input>(?P<partner_input>.*?)</partner_input>"
)
_TURN = re.compile(r"(\w+):\s*(.*)", re.DOTALL)


class Side(BaseModel):
    """What there is of each kind, and what one of it is worth to a player."""

    model_config = ConfigDict(strict=True)
    count: list[int]
    value: list[int]


class DivisionRow(BaseModel):
    """The columns of the data set on the Hub."""

    model_config = ConfigDict(strict=True)
    input: Side
    partner_input: Side
    dialogue: str
    output: str


def decoded(line: str) -> dict[str, Any]:
    """A line of the released text files as the columns on the Hub."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise MalformedRow("missing column", f"a line has {LINE}")
    sides = {name: _side(match[name]) for name in SIDES.values()}
    return {**sides, "dialogue": match["dialogue"].strip(), "output": match["output"].strip()}


def _side(text: str) -> dict[str, list[int]]:
    numbers = text.split()
    if len(numbers) != 2 * len(KINDS) or not all(number.isdecimal() for number in numbers):
        raise MalformedRow("wrong type", f"expected six counts and values, got {text.strip()!r}")
    if max(map(len, numbers)) > DIGITS:
        raise MalformedRow("number out of range", f"a count or value has more than {DIGITS} digits")
    whole = list(map(int, numbers))
    return {"count": whole[::2], "value": whole[1::2]}


def dialogue_of(columns: Any, name: str, currency: str) -> Dialogue:
    """The dialogue in `columns`, called `name`; MalformedRow where they hold none."""
    row = validated(DivisionRow, columns)
    for side in (row.input, row.partner_input):
        if not len(side.count) == len(side.value) == len(KINDS):
            raise MalformedRow("wrong type", "a side has other than three kinds of items")
        worth = sum(c * v for c, v in zip(side.count, side.value, strict=True))
        if worth != WHOLE:
            raise MalformedRow("values do not add up", f"all items are worth {worth}, not {WHOLE}")
    if row.input.count != row.partner_input.count:
        counts = f"{row.input.count} and {row.partner_input.count}"
        raise MalformedRow("two players see other items", counts)
    spoken = [_spoken(number, text) for number, text in enumerate(row.dialogue.split("<eos>"), 1)]
    opener = spoken[0][0]
    agents = {side: AGENTS[side != opener] for side in SIDES}
    sides = {"YOU": row.input, "THEM": row.partner_input}
    values = {agents[side]: _worth(sides[side]) for side in SIDES}
    contexts = sorted(str(sorted(own.items())) for own in values.values())
    return Dialogue(
        id=name,
        group=" ".join(contexts),
        scenario="items: "
        + ", ".join(f"{n} {kind}" for n, kind in zip(row.input.count, KINDS, strict=True)),
        values=values,
        turns=tuple(Turn(agents[side], "" if text == SELECTION else text) for side, text in spoken),
        currency=currency,
    )


def _spoken(number: int, turn: str) -> tuple[str, str]:
    """Who speaks in a turn, YOU or THEM, and what."""
    match = _TURN.fullmatch(turn.strip())
    if match is None:
        raise MalformedRow("a turn without a speaker", f"turn {number} is {turn.strip()[:40]!r}")
    if match[1] not in SIDES:
        raise MalformedRow("a third speaker", f"turn {number} is by {match[1]!r}")
    return match[1], match[2].strip()


def _worth(side: Side) -> dict[str, int]:
    return {f"value of a {kind}": n for kind, n in zip(KINDS, side.value, strict=True)}
