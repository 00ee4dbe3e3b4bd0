"""The fourteen actions: parsing from JSON, validation, and a description of each for forms.

An action is one flat record. Anything that cannot be parsed as one becomes `Malformed`, to which
the rules reply with the code `malformed_action`; nothing here raises.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..core import read_rows

LONGEST_MESSAGE = 500  # characters
LONGEST_ID = 40
MOST_IDS = 24  # block ids in one list
MOST_CONDITIONS = 4
LONGEST_CONDITION = 80  # characters of a key or a text
LARGEST_NUMBER = 1e9  # absolute value; far above any budget, and sums stay exact to the cent
BETWEEN = f"from -{LARGEST_NUMBER:,.0f} to {LARGEST_NUMBER:,.0f}"


class Action(NamedTuple):
    """One action; fields that its type does not use stay empty."""

    action_type: str
    target_lab_id: str | None = None
    offer_id: str | None = None
    coalition_id: str | None = None
    block_ids: tuple[str, ...] = ()
    requested_block_ids: tuple[str, ...] = ()
    job_id: str | None = None
    payment: float = 0.0
    message: str = ""
    conditions: tuple[tuple[str, Any], ...] = ()

    def condition(self, name: str, default: float) -> float:
        """The value of the condition `name`; `default` if there is none."""
        return dict(self.conditions).get(name, default) if self.conditions else default

    def as_json(self) -> dict[str, Any]:
        """The action as a JSON object without its empty fields."""
        row = {name: field for name, field in self._asdict().items() if field not in EMPTY}
        for name in ("block_ids", "requested_block_ids"):
            if name in row:
                row[name] = list(row[name])
        return row | ({"conditions": dict(self.conditions)} if self.conditions else {})


EMPTY = (None, (), "", 0.0)


class Malformed(NamedTuple):
    """An input that is no action; `reason` says why, in one sentence."""

    reason: str

    action_type = "malformed_action"


class Kind(NamedTuple):
    """A type of action: its purpose, the fields that it uses, and its possible result codes."""

    purpose: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    success: tuple[str, ...]
    failures: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    row["action"]: Kind(row["purpose"], *(tuple(row[part].split()) for part in Kind._fields[1:]))
    for row in read_rows("arena/actions.csv")
}
TEXTS = ("target_lab_id", "offer_id", "coalition_id", "job_id")
LISTS = ("block_ids", "requested_block_ids")
CONDITIONS = {
    "ask": "credits that the recipient of an offer pays to its sender",
    "share": "of a coalition: what the owner of a pooled block gets of the value it adds, 0 to 1",
}


def action_from(row: Any) -> Action | Malformed:
    """The action in `row`, any JSON value. Unknown fields are ignored."""
    if not isinstance(row, Mapping):
        return Malformed(f"an action is an object with an action_type, not {_short(row)}")
    fields = {name: row[name] for name in Action._fields if row.get(name) is not None}
    if "action_type" not in fields:
        return Malformed("an action needs an action_type")
    for name in LISTS:
        if isinstance(fields.get(name), list):
            fields[name] = tuple(fields[name])
    if isinstance(fields.get("conditions"), Mapping):
        fields["conditions"] = tuple(fields["conditions"].items())
    action = Action(**fields)
    reason = action_fault(action)
    return Malformed(reason) if reason else action


def action_fault(action: Action) -> str:
    """Why `action` is malformed, in one sentence; empty if it is well formed."""
    kind, target, offer, coalition, block_ids, requested, job, payment, message, conditions = action
    if not (isinstance(kind, str) and kind in KINDS):
        return f"there is no action_type {_short(kind)}; see the fourteen types"
    for place, text in enumerate((target, offer, coalition, job)):
        if text is not None and not _is_text(text, LONGEST_ID):
            most = f"at most {LONGEST_ID} characters"
            return f"{TEXTS[place]} must be a text of {most}, not {_short(text)}"
    for place, ids in enumerate((block_ids, requested)):
        if ids != () and not _is_ids(ids):
            return f"{LISTS[place]} must be a list of at most {MOST_IDS} ids, not {_short(ids)}"
    if not _is_number(payment):
        return f"payment must be a number {BETWEEN}, not {_short(payment)}"
    if message != "" and not _is_text(message, LONGEST_MESSAGE):
        return f"message must be a text of at most {LONGEST_MESSAGE} characters"
    return "" if conditions == () else _condition_fault(conditions)


def _condition_fault(conditions: Any) -> str:
    pairs = isinstance(conditions, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in conditions
    )
    if not pairs or len(conditions) > MOST_CONDITIONS:
        return f"conditions must be an object of at most {MOST_CONDITIONS} entries"
    for name, value in conditions:
        if not _is_text(name, LONGEST_CONDITION):
            return f"a condition's name has at most {LONGEST_CONDITION} characters"
        plain = isinstance(value, bool) or _is_text(value, LONGEST_CONDITION) or _is_number(value)
        if not plain:
            return f"the condition {name!r} must be a short text or a number {BETWEEN}"
        if name in CONDITIONS and not (_is_number(value) and value >= 0):
            return f"the condition {name!r} must be a number from 0 to {LARGEST_NUMBER:,.0f}"
        if name == "share" and value > 1:
            return "the condition 'share' must be at most 1"
    if len(dict(conditions)) < len(conditions):
        return "a condition is named twice"
    return ""


def _is_text(value: Any, longest: int) -> bool:
    """Whether `value` is a text that is short enough and can be encoded as UTF-8."""
    return (
        isinstance(value, str)
        and len(value) <= longest
        and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value))
    )


def _is_ids(value: Any) -> bool:
    if not isinstance(value, tuple) or len(value) > MOST_IDS:
        return False
    return all(_is_text(item, LONGEST_ID) for item in value)


def _is_number(value: Any) -> bool:
    """Whether `value` is a number up to LARGEST_NUMBER; NaN fails the comparison."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= LARGEST_NUMBER


def _short(value: Any) -> str:
    if isinstance(value, str | int | float | bool | None):
        text = repr(value) if not isinstance(value, int) or abs(value) < 1e15 else "a huge number"
        return text if len(text) <= 40 else f"{text[:39]}…"
    return f"a {type(value).__name__}"
