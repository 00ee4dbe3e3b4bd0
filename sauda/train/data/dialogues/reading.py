"""Rows of dialogues, with everything that is not used named by file, line and reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sauda.language.acts import Dialogue
from sauda.train.data.dialogues.filters import NotUsed, check

SHOWN_ROWS = 20  # that are named one by one in a report; all are counted
SHOWN_CHARACTERS = 200  # of a row's reason


class MalformedRow(NotUsed):
    """A row that is no dialogue: `reason` is what it lacks, `detail` where."""


@dataclass(frozen=True)
class LeftOut:
    """A row that is not used."""

    file: str
    line: int  # from 1; the number of the row where a data set has no lines
    reason: str  # few, so that they are counted
    text: str  # the reason with its details
    is_malformed: bool  # no dialogue at all; otherwise a filter left it out

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {shown(self.text)}"


@dataclass(frozen=True)
class Loaded:
    """The dialogues of a source that are used, and every row that is not."""

    dialogues: tuple[Dialogue, ...]
    left_out: tuple[LeftOut, ...]

    def counts(self) -> dict[str, int]:
        """How many rows are used, and how many are left out for each reason."""
        return {"used": len(self.dialogues), **Counter(row.reason for row in self.left_out)}

    def report(self) -> Iterator[str]:
        """Lines that name what is left out, malformed rows first, and then count all rows."""
        rows = sorted(self.left_out, key=lambda row: not row.is_malformed)
        yield from map(str, rows[:SHOWN_ROWS])
        if len(rows) > SHOWN_ROWS:
            yield f"and {len(rows) - SHOWN_ROWS:,} more that are left out"
        for reason, n in self.counts().items():
            yield f"dialogues, {reason}: {n:,}"


def reported(loaded: Loaded) -> tuple[Dialogue, ...]:
    """The dialogues that are used, after the report is printed; ValueError where there is none."""
    print("\n".join(loaded.report()), flush=True)
    if not loaded.dialogues:
        first = loaded.left_out[0] if loaded.left_out else "there is no row"
        raise ValueError(f"no dialogue can be used: {first}")
    return loaded.dialogues


def shown(text: str) -> str:
    """The beginning of `text`, with escapes for what cannot be printed."""
    cut = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} …"
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut
    )


Row = tuple[int, Any]  # its line, and its columns or the MalformedRow that stands for it


def lines_of(path: Path, decode: Callable[[str], Any], form: str) -> list[Row]:
    """The rows of a text file in UTF-8, one a line, each made by `decode`.

    A line that is not UTF-8, or that `decode` refuses with MalformedRow, is that error. Raises
    ValueError where there is no file, where it is empty, and where no line holds the `form`, such
    as "a JSON object", that `decode` takes.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"cannot read {path}: {error.strerror}; name a file of dialogues"
        ) from None
    if not content.strip():
        raise ValueError(f"{path} is empty; name a file of dialogues")
    rows = list(enumerate(_decoded(content.splitlines(), decode), 1))
    if all(isinstance(row, MalformedRow) for _, row in rows):
        first = shown(str(rows[0][1]))
        raise ValueError(f"no line of {path} holds {form}; line 1 is left out, {first}")
    return rows


def _decoded(lines: Iterable[bytes], decode: Callable[[str], Any]) -> Iterator[Any]:
    """The columns of each line, or the MalformedRow that stands for it."""
    encoding = "utf-8-sig"  # a byte order mark stands before the first line alone
    for line in lines:
        try:
            text = line.decode(encoding).strip()
            yield decode(text) if text else MalformedRow("empty line")
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1} of the line is 0x{line[error.start]:02x}"
            yield MalformedRow("not UTF-8", place)
        except MalformedRow as error:
            yield error
        encoding = "utf-8"


def validated(model: type, columns: Any) -> Any:
    """`columns` as an object of the pydantic `model`; MalformedRow names the first bad place."""
    try:
        return model.model_validate(columns)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the row"
        reasons = {
            "missing": "missing column",
            "extra_forbidden": "unknown column",
            "string_unicode": "damaged text",
        }
        reason = reasons.get(first["type"], "wrong type")
        raise MalformedRow(reason, f"{place}: {first['msg'].lower()}") from None


def loaded(
    file: str,
    rows: Iterable[Row],
    dialogue_of: Callable[[Any, str], Dialogue],
    source: str,
    one_sided: bool = False,
) -> Loaded:
    """The dialogues that `dialogue_of` makes of rows and their ids, once each.

    `file` is the name that reports and ids carry. A dialogue that was there before, or that
    `filters.check` refuses, is left out by a filter; see there for `one_sided`.
    """
    dialogues: dict[object, Dialogue] = {}
    first_lines: dict[object, int] = {}
    left_out: list[LeftOut] = []
    for line, columns in rows:
        try:
            if isinstance(columns, MalformedRow):
                raise columns
            dialogue = dialogue_of(columns, f"{source}/{file}/{line}")
            check(dialogue, one_sided)
            content = (dialogue.group, _frozen(dialogue.values), dialogue.turns)
            if content in dialogues:
                raise NotUsed("duplicate", f"the dialogue of line {first_lines[content]} again")
            dialogues[content], first_lines[content] = dialogue, line
        except NotUsed as error:
            is_malformed = isinstance(error, MalformedRow)
            left_out.append(LeftOut(file, line, error.reason, str(error), is_malformed))
    return Loaded(tuple(dialogues.values()), tuple(left_out))


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return tuple((key, _frozen(part)) for key, part in sorted(value.items()))
    return value
