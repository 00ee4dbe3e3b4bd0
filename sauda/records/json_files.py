"""Reads JSON that another process may have torn: the file and the place of the damage are named."""

import json
from pathlib import Path
from typing import Any


class DamagedFile(ValueError):
    """A file does not hold what its name promises; the message says where."""

    def __init__(self, file: Path, place: str) -> None:
        super().__init__(f"{file} is damaged: {place}")


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in `file`; raises DamagedFile, which names file and place."""
    return _object(_text(file), file, 1)


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The JSON objects in the complete lines of `file`; none where it does not exist.

    Raises DamagedFile, naming the file and the line of the damage.
    """
    if not file.exists():
        return []
    text = _text(file)
    complete = text[: text.rfind("\n") + 1].split("\n")[:-1]
    return [_object(line, file, number) for number, line in enumerate(complete, 1)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFile(file, f"byte {error.start} is not UTF-8") from None


def _object(text: str, file: Path, first_line: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise DamagedFile(file, f"line {line}, column {error.colno}: {error.msg}") from None
    if not isinstance(value, dict):
        raise DamagedFile(file, f"line {first_line} holds no JSON object")
    return value
