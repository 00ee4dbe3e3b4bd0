"""Settings of a training stage that are also options of its command."""

from collections.abc import Iterator
from dataclasses import Field, field, fields, is_dataclass
from typing import Any


def option(default: Any, help: str) -> Any:
    """A dataclass field that `python -m sauda train STAGE` offers as an option.

    The metadata is that of transformers' TrainingArguments; other fields are no options.
    """
    return field(default=default, metadata={"help": help})


def options_of(config: Any) -> Iterator[Field]:
    """The fields of a stage's `config` that are options, those of its `data` included."""
    for each in fields(config):
        if "help" in each.metadata:
            yield each
        elif is_dataclass(each.default):
            yield from options_of(each.default)
