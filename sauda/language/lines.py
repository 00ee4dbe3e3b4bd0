"""The lines of both sides, by language and seat: `lines.csv` and `answers.csv` have one per row.

`LINES[language][seat][situation]` go with moves, and # stands for the price of the move.
`CHAT_LINES` are these and the lines that the chat alone says. `CLAIMS[language][kind]` is a claim
in a sentence of its own. `ANSWERS[language][seat][kind]` answer small talk; the answers under
"both" are those of either seat, with facts such as {item} in braces.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

ENGLISH, HINGLISH, HINDI = "en", "hinglish", "hi"
SituationLines = Mapping[str, tuple[str, ...]]
Lines = Mapping[str, Mapping[str, SituationLines]]
Row = Mapping[str, str]


def _rows(file: str) -> list[Row]:
    with Path(__file__).with_name(file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _by_seat(rows: Sequence[Row], language: str) -> Mapping[str, SituationLines]:
    """The lines in a language by seat and kind, in the order of the rows."""
    seats: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows:
        kinds = seats.setdefault(row["seat"], {})
        kinds[row["kind"]] = (*kinds.get(row["kind"], ()), row[language])
    return seats


def _by_language(rows: Sequence[Row]) -> Lines:
    return MappingProxyType({name: _by_seat(rows, name) for name in (ENGLISH, HINGLISH, HINDI)})


_LINES = _rows("lines.csv")
LINES = _by_language([row for row in _LINES if row["table"] == "move"])
CHAT_LINES = _by_language([row for row in _LINES if row["table"] in ("move", "chat")])
CLAIMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        name: {row["kind"]: row[name] for row in _LINES if row["table"] == "claim"}
        for name in (ENGLISH, HINGLISH, HINDI)
    }
)
ANSWERS = _by_language(_rows("answers.csv"))
