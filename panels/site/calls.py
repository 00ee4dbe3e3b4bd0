"""What a call of one of the page's events may hold; everything else is refused with a sentence.

Gradio answers a call that it cannot read with the status 500 and a traceback in the log, and it
lets a caller put any event into its queue. So each call is read, checked and written anew before
Gradio sees it.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.data_classes import FileData

from sauda.serve.limits import json_object

MOST_BYTES = 1024 * 1024  # of a body
MOST_TEXT = 20_000  # characters of a text field that names no limit
SESSION = re.compile(r"[\w.-]{1,64}", re.ASCII)
KEPT = ("data", "fn_index", "session_hash", "event_data", "trigger_id")
# Gradio fetches, stores and serves what an object with some of these names points at; one with the
# last is an update of a component.
FILE_NAMES = FileData.model_fields.keys() - {"size"} | {"is_file", "__type__"}
MOST_PLAIN = 64 * 1024  # characters, as JSON, of a value whose component names no limit
DEEPEST = 8  # lists and objects in one another


class BadCall(Exception):
    """A call that the page does not answer; `status` is that of HTTP, the text a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


BUSY = BadCall(429, "Too many requests of your network address are open; try again in a moment.")
NO_EVENT = BadCall(404, "The page has no such event, or not at this address.")
NO_FILES = BadCall(422, "The events of this page take no files.")


def read(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`; raises BadCall where it holds none that can be written again."""
    try:
        return json_object(body, "The body of a call")
    except ValueError as error:
        raise BadCall(400, str(error)) from None


def called_event(
    body: Mapping[str, Any], api_name: str | None, events: Mapping[int, BlockFunction], queued: bool
) -> BlockFunction:
    """The event that a call starts, by its index or by its name.

    Raises BadCall where there is none, or where it is not `queued` as the call supposes.
    """
    index = body.get("fn_index")
    if index is None:
        event = next((e for e in events.values() if api_name and e.api_name == api_name), None)
    elif isinstance(index, int) and not isinstance(index, bool):
        event = events.get(index)
    else:
        raise BadCall(422, "fn_index is a whole number.")
    if event is None or event.fn is None or bool(event.queue) != queued:
        raise NO_EVENT
    return event


def by_position(body: Mapping[str, Any], event: BlockFunction) -> dict[str, Any]:
    """A call that gives its values by the names of the parameters, as one that gives a list.

    A value that is left out is the parameter's default. Raises BadCall where a parameter without
    one is missing, or is none of the event's.
    """
    parameters = signature(event.fn).parameters
    needed = {name for name, one in parameters.items() if one.default is one.empty}
    if not needed <= body.keys() <= parameters.keys():
        raise BadCall(422, f"A call has the parameters {', '.join(parameters)}.")
    return {"data": [body.get(name, one.default) for name, one in parameters.items()]}


def checked(
    body: Mapping[str, Any], event: BlockFunction, components: Mapping[int, gr.blocks.Block]
) -> dict[str, Any]:
    """The call's body with only what the page reads in it; BadCall where a value cannot be right.

    `components` holds the caller's own versions of the components, whose choices may have changed.
    """
    session, data = body.get("session_hash"), body.get("data")
    if not (session is None or (isinstance(session, str) and SESSION.fullmatch(session))):
        raise BadCall(422, "session_hash is at most 64 letters, digits, dots and dashes.")
    trigger = body.get("trigger_id")
    if not (trigger is None or (isinstance(trigger, int) and abs(trigger) < 2**53)):
        raise BadCall(422, "trigger_id is a whole number.")
    if not isinstance(data, list) or len(data) != len(event.inputs):
        raise BadCall(422, f"data is a list of {len(event.inputs)} values.")
    if names_file(data) or names_file(body.get("event_data")):
        raise NO_FILES
    if not is_plain(body.get("event_data")):
        raise BadCall(422, "event_data is larger than the page reads.")
    values = [
        _value(components.get(part._id, part), value, event.preprocess)
        for part, value in zip(event.inputs, data, strict=True)
    ]
    kept = {name: body[name] for name in KEPT if name in body}
    if not event.collects_event_data:
        kept.pop("event_data", None)
    return kept | {"data": values, "fn_index": event._id}


def _value(part: gr.blocks.Block, value: Any, of_choices: bool) -> Any:
    """The value as the page reads it; raises BadCall where the component cannot hold it."""
    if part.stateful:  # the page keeps it and never asks a caller
        return None
    if isinstance(part, gr.Textbox) and value is None:
        return ""
    if isinstance(part, gr.Textbox) and isinstance(value, str) and not part.max_length:
        value = value[:MOST_TEXT]  # the page answers a text that is too long with a sentence
    if not may_hold(part, value, of_choices):
        label = getattr(part, "label", None) or part.get_block_name()
        raise BadCall(422, f"“{label}” cannot hold the value that was sent.")
    return value


def may_hold(part: gr.blocks.Block, value: Any, of_choices: bool = True) -> bool:
    """Whether `value` can come from the component `part`.

    A dropdown may hold what is none of its choices unless `of_choices`: an event whose choices
    change answers with a sentence of its own.
    """
    if isinstance(part, gr.Textbox):
        return isinstance(value, str) and len(value) <= (part.max_length or MOST_TEXT)
    if isinstance(part, gr.Slider):
        return _number(value) and part.minimum <= value <= part.maximum
    if isinstance(part, gr.Number):
        low, high = part.minimum, part.maximum
        return value is None or (
            _number(value) and (low is None or value >= low) and (high is None or value <= high)
        )
    if value is None and _keeps_a_choice(part):
        return False
    if isinstance(part, gr.Dropdown):
        return _chosen(part.choices, value, of_choices, bool(part.multiselect))
    if isinstance(part, gr.Radio):
        return _chosen(part.choices, value)
    if isinstance(part, gr.CheckboxGroup):
        return _chosen(part.choices, value, several=True)
    if isinstance(part, gr.HTML | gr.Markdown | gr.Button):
        return value is None or (isinstance(value, str) and len(value) <= MOST_TEXT)
    return is_plain(value)


def names_file(value: Any) -> bool:
    """Whether Gradio may take something in a value of JSON, at any depth, for a file."""
    values = [value]
    while values:
        one = values.pop()
        if isinstance(one, dict):
            if FILE_NAMES & one.keys() or str(one.get("data")).startswith("data:"):
                return True
            values += one.values()
        elif isinstance(one, list):
            values += one
    return False


def is_plain(value: Any) -> bool:
    """Whether a value of JSON is small, nowhere deep, and holds no file."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [each for one in level if isinstance(one, dict) for each in one.values()]
        level = inner + [each for one in level if isinstance(one, list) for each in one]
    return not level and not names_file(value) and len(json.dumps(value)) <= MOST_PLAIN


def _keeps_a_choice(part: gr.blocks.Block) -> bool:
    """Whether a choice was made that a visitor can change and not take back."""
    fixed = isinstance(part, gr.Radio) or (isinstance(part, gr.Dropdown) and not part.filterable)
    return fixed and part.value is not None


def _chosen(
    choices: Sequence[tuple[str, Any]], value: Any, of_choices: bool = True, several: bool = False
) -> bool:
    if several:
        if not isinstance(value, list) or len(value) > len(choices):
            return False
        return all(one is not None and _chosen(choices, one, of_choices) for one in value)
    if value is None:
        return True
    if of_choices:  # 1 and true are equal, and not the same choice
        kind = isinstance(value, bool)
        return any(value == each and kind == isinstance(each, bool) for _, each in choices)
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 if isinstance(value, int) else math.isfinite(value)
