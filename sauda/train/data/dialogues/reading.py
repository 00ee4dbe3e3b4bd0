"""Rows of dialogues, with everything that is not used named by file, line and reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sauda.language.acts.types import Dialogue

FEWEST_TURNS = 2  # with words, in a dialogue that is used


class MalformedRow(ValueError):
    """A row that is no dialogue: `reason` is what it lacks, `detail` where."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


@dataclass(frozen=True)
class LeftOut:
    """A row that is not used."""

    file: str
    line: int  # from 1; the number of the row where a data set has no lines
    reason: str  # few, so that they are counted
    text: str  # the reason with its details
    is_malformed: bool  # no dialogue at all; otherwise a filter left it out

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Loaded:
    """The dialogues of a source that are used, and every row that is not."""

    dialogues: tuple[Dialogue, ...]
    left_out: tuple[LeftOut, ...]

    def counts(self) -> dict[str, int]:
        """How many rows are used, and how many are left out for each reason."""
        return {"used": len(self.dialogues), **Counter(row.reason for row in self.left_out)}


Row = tuple[int, Any]  # its line, and its columns or the MalformedRow that stands for it


def lines_of(path: Path, decode: Callable[[str], Any]) -> Iterator[Row]:
    """The rows of a text file in UTF-8, one a line, each made by `decode`.

    A line that is not UTF-8, or that `decode` refuses with MalformedRow, is that error. Raises
    ValueError where there is no file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"cannot read {path}: {error.strerror}; name a file of dialogues"
        ) from None
    if not content.strip():
        yield 1, MalformedRow("empty file")
    for number, line in enumerate(content.splitlines() if content.strip() else (), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            yield number, decode(text) if text else MalformedRow("empty line")
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1} of the line is 0x{line[error.start]:02x}"
            yield number, MalformedRow("not UTF-8", place)
        except MalformedRow as error:
            yield number, error


def validated(model: type, columns: Any) -> Any:
    """`columns` as an object of the pydantic `model`; MalformedRow names the first bad place."""
    try:
        return model.model_validate(columns)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the row"
        reasons = {"missing": "missing column", "extra_forbidden": "unknown column"}
        reason = reasons.get(first["type"], "wrong type")
        raise MalformedRow(reason, f"{place}: {first['msg'].lower()}") from None


def loaded(
    file: str, rows: Iterable[Row], dialogue_of: Callable[[Any, str], Dialogue], source: str
) -> Loaded:
    """The dialogues that `dialogue_of` makes of rows and their ids, once each.

    `file` is the name that reports and ids carry. A dialogue that was there before, or that has
    too few turns with words, is left out by a filter.
    """
    dialogues: dict[object, Dialogue] = {}
    first_lines: dict[object, int] = {}
    left_out: list[LeftOut] = []
    for line, columns in rows:
        try:
            if isinstance(columns, MalformedRow):
                raise columns
            dialogue = dialogue_of(columns, f"{source}/{file}/{line}")
        except MalformedRow as error:
            left_out.append(LeftOut(file, line, error.reason, str(error), True))
            continue
        content = (dialogue.group, _frozen(dialogue.values), dialogue.turns)
        if content in dialogues:
            text = f"the dialogue of line {first_lines[content]} again"
            left_out.append(LeftOut(file, line, "duplicate", text, False))
        elif sum(bool(turn.text) for turn in dialogue.turns) < FEWEST_TURNS:
            text = f"fewer than {FEWEST_TURNS} turns with words"
            left_out.append(LeftOut(file, line, text, text, False))
        else:
            dialogues[content], first_lines[content] = dialogue, line
    return Loaded(tuple(dialogues.values()), tuple(left_out))


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return tuple((key, _frozen(part)) for key, part in sorted(value.items()))
    return value
