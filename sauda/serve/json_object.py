"""Reads JSON that a stranger sends."""

import json
from typing import Any


def json_object(text: str | bytes, what: str) -> dict[str, Any]:
    """The JSON object in `text`, called `what` in the sentence of a ValueError.

    Raises ValueError where `text` holds no object, or one that cannot be written again, because of
    NaN or half a surrogate pair.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ValueError(f"{what} is a JSON object; this one cannot be read.") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what} is a JSON object; this is none.")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
