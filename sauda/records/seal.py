"""Seals: digests of an artifact's content, which the command that makes it writes into `made`.

A seal names the place of an accidental or careless change. It proves no more than that: whoever
changes the file on purpose can compute the digests again. A replay proves more.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

SEAL = "seal"  # the key under `made`
FOLD = 400  # characters of JSON; a smaller part of a file has one digest
DIGITS = 12  # hexadecimal, of each digest
NOTHING = object()


def digest(data: Any) -> str:
    """The SHA-256 of a JSON value, whatever its layout on disk."""
    return hashlib.sha256(_canonical(data).encode()).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """An artifact's whole content with a new seal in `made`."""
    return {**content, "made": {**content["made"], SEAL: seal(content)}}


def seal(content: Mapping[str, Any]) -> Any:
    """The digests of an artifact's whole content, except of its seal."""
    as_read = json.loads(json.dumps(_unsealed(content)))  # lists where a caller has tuples
    return {
        name: {key: digests(value) for key, value in part.items()}
        if isinstance(part, Mapping)
        else digests(part)
        for name, part in as_read.items()
    }


def broken(content: Mapping[str, Any]) -> list[str]:
    """Each place where the content is not what was sealed, one sentence a place.

    Raises ValueError where there is no seal.
    """
    if SEAL not in content["made"]:
        raise ValueError("there is no seal")
    return list(_compared(content["made"][SEAL], seal(content), ""))


def digests(value: Any) -> Any:
    """A tree of digests that follows `value` down to its innermost rows or to FOLD characters."""
    parts = value.values() if isinstance(value, Mapping) else value
    if _plain(value) or all(map(_plain, parts)) or _short(value):
        return digest(value)[:DIGITS]
    if isinstance(value, Mapping):
        return {key: digests(part) for key, part in value.items()}
    return [digests(part) for part in value]


def child(place: str, key: str | int) -> str:
    """The name of the part of `place` under `key`, such as data.log[3]."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key


def _compared(recorded: Any, computed: Any, place: str) -> Iterator[str]:
    """The places at which two trees of digests differ."""
    if isinstance(recorded, Mapping) and isinstance(computed, Mapping):
        for key in sorted(recorded.keys() | computed.keys()):
            pair = recorded.get(key, NOTHING), computed.get(key, NOTHING)
            yield from _compared(*pair, child(place, key))
    elif isinstance(recorded, list) and isinstance(computed, list):
        if len(recorded) != len(computed):
            yield f"{place}: {len(recorded)} parts were sealed, there are {len(computed)}"
        for index, pair in enumerate(zip(recorded, computed, strict=False)):
            yield from _compared(*pair, child(place, index))
    elif computed is NOTHING:
        yield f"{place}: it was sealed and is missing"
    elif recorded is NOTHING:
        yield f"{place}: it was not there when the file was sealed"
    elif recorded != computed:
        yield f"{place}: not the content that was sealed"


def _unsealed(content: Mapping[str, Any]) -> dict[str, Any]:
    provenance = {key: value for key, value in content["made"].items() if key != SEAL}
    return {**content, "made": provenance}


def _short(value: Any) -> bool:
    """Whether `value` has at most FOLD characters; does not read on after those."""
    length = 0
    for piece in json.JSONEncoder().iterencode(value):
        length += len(piece)
        if length > FOLD:
            return False
    return True


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
