"""The kinds of artifacts in Markdown: what every field holds, from the schemas themselves."""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sauda.records.kinds.registry import KINDS
from sauda.records.kinds.types import Kind
from sauda.records.schemas import base
from sauda.records.schemas.base import Record

SHARED = (base.Interval, base.Metric, base.Hashes, base.ModelSource)  # of several kinds
PLAIN = {int: "integer", float: "number", str: "text", bool: "true or false", Any: "any value"}


def every_kind() -> str:
    """A section a kind with a row a field, and one for the parts that several kinds share."""
    sections = [section(kind) for kind in KINDS.values()]
    shared = [row for model in SHARED for row in rows(model, model.__name__)]
    intro = "Parts of several kinds; their fields are named there by the part's name alone."
    return "\n\n".join([*sections, "\n".join(("### Shared parts", "", intro, "", *HEAD, *shared))])


HEAD = ("| field | type | holds |", "| --- | --- | --- |")


def section(kind: Kind) -> str:
    """What a kind is, how `verify` checks it, and a row for each field of its data."""
    models = list(dict.fromkeys(held(kind.schema)))
    own = [model for model in models if model not in SHARED]
    table = [row for model in own for row in rows(model, _prefix(model, kind))]
    summary = " ".join(kind.schema.__doc__.split())
    check = f"Checked by `verify`: {kind.check}."
    return "\n".join((f"### {kind.name}", "", summary, check, "", *HEAD, *table))


def _prefix(model: type[Record], kind: Kind) -> str:
    return "" if model is kind.schema else model.__name__


def held(model: type[Record]) -> Iterator[type[Record]]:
    """A model, and all models that its fields hold, depth first."""
    yield model
    for field in model.model_fields.values():
        for part in _records(field.annotation):
            yield from held(part)


def _records(annotation: Any) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for argument in get_args(annotation):
        yield from _records(argument)


def rows(model: type[Record], prefix: str) -> Iterator[str]:
    """A table row a field of `model`: its key after `prefix`, its type, its description."""
    for name, field in model.model_fields.items():
        key = field.alias or name
        place = f"{prefix}.{key}" if prefix else key
        optional = "" if field.is_required() else ", where it applies"
        kind_of = type_name(field.annotation).replace("|", "or")
        yield f"| `{place}` | {kind_of}{optional} | {field.description} |"


def type_name(annotation: Any) -> str:
    """An annotation in words, such as "list of Row" or "integer or null"."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_name(arguments[0])
    if origin in (Union, UnionType):
        names = dict.fromkeys(type_name(part) for part in arguments if part is not NoneType)
        if "number" in names:
            names.pop("integer", None)
        return " or ".join([*names, *(["null"] if NoneType in arguments else [])])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is list:
        return f"list of {type_name(arguments[0])}"
    if origin is dict:
        return f"map to {type_name(arguments[1])}"
    return PLAIN.get(annotation) or annotation.__name__
