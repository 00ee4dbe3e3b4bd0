"""Dialogues in the columns of CraigslistBargains (He et al. 2018): a buyer and a seller."""

import json
import math
from typing import Any

from sauda.language.acts import EVENTS, INTENTS, Act, Dialogue, Turn, posting
from sauda.records.schemas.language import DialogueRow
from sauda.train.data.dialogues.reading import MalformedRow, validated

AGENTS = ("buyer", "seller")
NAMES = {"inquiry": "inquire"}  # acts that the corpus names differently
LINE = "one JSON object with the columns of CraigslistBargains"


def decoded(line: str) -> dict[str, Any]:
    """A line of JSON as columns; MalformedRow where it is none."""
    try:
        columns = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedRow("not JSON", f"character {error.pos + 1}, {error.msg}") from None
    except RecursionError:
        raise MalformedRow("not JSON", "it is nested too deeply to be read") from None
    except ValueError:  # of `int`, which converts no text of thousands of digits
        raise MalformedRow("number out of range", "a whole number has too many digits") from None
    if not isinstance(columns, dict):
        raise MalformedRow("wrong type", f"the row: expected a JSON object, got {line[:40]!r}")
    return columns


def dialogue_of(columns: Any, name: str, currency: str) -> Dialogue:
    """The dialogue in `columns`, called `name`; MalformedRow where they hold none."""
    row = validated(DialogueRow, columns)
    agents = tuple(row.agent_info.Role)
    if sorted(agents) != sorted(AGENTS):
        raise MalformedRow("not a buyer and a seller", f"the roles are {', '.join(agents)}")
    for number, speaker in enumerate(row.agent_turn, 1):
        if speaker not in (0, 1):
            raise MalformedRow("a third speaker", f"event {number} is by speaker {speaker}")
    acts = row.dialogue_acts
    lengths = {len(row.agent_turn), len(row.utterance), len(acts.intent), len(acts.price)}
    if len(lengths) > 1:
        raise MalformedRow("columns of different lengths", f"{sorted(lengths)} events")
    items = row.items
    if not (items.Price and items.Title and items.Description and items.Category):
        raise MalformedRow("no posting", "the columns of items are empty")
    titles = {" ".join(title.split()) for title in items.Title}
    if len(titles) > 1 or len(set(items.Price)) > 1:
        raise MalformedRow("two postings", f"the titles {sorted(titles)} at {items.Price}")
    (title,) = titles
    list_price = _amount("the list price", items.Price[0])
    if not list_price > 0:
        raise MalformedRow("no list price", f"it is {list_price:g}")
    return Dialogue(
        id=name,
        group=f"{title.casefold()} {list_price:g}",
        scenario=posting(title, items.Category[0], list_price, currency),
        values={agent: _values(row, index) for index, agent in enumerate(agents)},
        turns=tuple(
            Turn(agents[speaker], " ".join(text.split()), _act(intent, price, text))
            for speaker, text, intent, price in zip(
                row.agent_turn, row.utterance, acts.intent, acts.price, strict=True
            )
        ),
        currency=currency,
        list_price=list_price,
        notes="\n".join(items.Title + items.Description),
    )


def _values(row: DialogueRow, index: int) -> dict[str, float]:
    """One agent's private prices: its target and its limit, as far as the row has them."""
    targets, limits = row.agent_info.Target, row.agent_info.Bottomline
    if len(targets) != len(AGENTS) or len(limits) != len(AGENTS):
        raise MalformedRow("not a buyer and a seller", "private values of another number of agents")
    target, limit, values = targets[index], limits[index], {}
    if target is not None:
        values["target"] = _amount("the target", target)
    if limit not in (None, "None"):
        values["limit"] = _amount("the limit", limit)
    if not values or not all(value > 0 for value in values.values()):
        raise MalformedRow("no private value", f"{row.agent_info.Role[index]}: {values}")
    return values


def _amount(name: str, number: float | str) -> float:
    """`number`, which may be written as a text, as a finite float."""
    try:
        amount = float(number)
    except ValueError:
        raise MalformedRow("wrong type", f"{name} {number!r} is no number") from None
    except OverflowError:  # of a whole number beyond all floats
        amount = math.inf
    if not math.isfinite(amount):
        raise MalformedRow("number out of range", f"{name} is no finite number")
    return amount


def _act(intent: str | None, price: float | None, text: str) -> Act | None:
    """The annotated act; None where there is no annotation."""
    if not intent:
        return None
    intent = NAMES.get(intent, intent)
    if intent not in INTENTS:
        raise MalformedRow("unknown act", repr(intent))
    if not text.strip() and intent not in EVENTS:
        raise MalformedRow("an act without words", f"{intent} is no button")
    return Act(intent, None if price is None or price < 0 else _amount("the price", price))
