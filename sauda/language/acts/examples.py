"""Examples of one role: what a player sees before a turn, and what it said.

The other side's private values and the words to learn stand in the example, for scoring and as the
target, and are in no input: `Example.shown` is all that a model reads.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sauda.language.acts.parser import read
from sauda.language.acts.prices import written
from sauda.language.acts.types import Act, Dialogue, Turn

# Ranges of `Dialogue.place`. The dialogues of one posting have one place, so that no part has a
# posting, or a mirror of a dialogue, that another part has.
PARTS: Mapping[str, tuple[float, float]] = {
    "train": (0.0, 0.8),
    "validation": (0.8, 0.9),
    "holdout": (0.9, 1.0),
}
THOUGHTS: Mapping[str, str] = {  # what each act does, as its speaker thinks it
    "intro": "Open the conversation",
    "inquire": "Ask a question",
    "inform": "Answer the question",
    "init-price": "Name the first price",
    "counter-price": "Name another price",
    "insist": "Stay at my price",
    "vague-price": "Press on the price without an amount",
    "agree": "Agree",
    "disagree": "Refuse",
    "unknown": "Keep talking",
    "offer": "Make an offer",
    "accept": "Accept",
    "reject": "Reject",
    "quit": "Leave",
}


def about(text: str) -> Any:
    """A dataclass field that says what it holds."""
    return field(metadata={"about": text})


@dataclass(frozen=True)
class Example:
    """One turn of one role; its fields' metadata say what they hold."""

    role: str = about("who speaks")
    context: str = about("public facts, then every turn so far with its speaker")
    thought: str = about("what the turn is to do, from its act and the role's own values")
    values: Mapping[str, object] = about("what the role alone knows: its target or its limit")
    partner_values: Mapping[str, object] = about("the other side's, for scoring; in no input")
    utterance: str = about("the words to learn")
    act: str = about("the dialogue act of the words, with its price")
    dialogue: str = about("source, file and line of the dialogue")
    turn: int = about("number of the turn in the dialogue, from 0")
    part: str = about("train, validation or holdout: by posting, so that none is in two")

    def shown(self) -> dict[str, object]:
        """What a model reads before it speaks."""
        return {
            "role": self.role,
            "context": self.context,
            "thought": self.thought,
            "values": self.values,
        }

    @property
    def intention(self) -> str:
        """The first sentence of the thought: the act, without the values that follow it."""
        return self.thought.partition(". ")[0].removesuffix(".") + "."


def examples(
    dialogues: Iterable[Dialogue], role: str | None = None
) -> tuple[list[Example], Counter[str]]:
    """An example a turn with words, of one role or all, and how many turns were left out and why.

    An act is the annotated one, or else the one that is read.
    """
    made: list[Example] = []
    left_out: Counter[str] = Counter()
    for dialogue in dialogues:
        acts = [turn.act for turn in dialogue.turns] if dialogue.annotated else read(dialogue)
        said = dialogue.scenario.splitlines()
        for number, (turn, act) in enumerate(zip(dialogue.turns, acts, strict=True)):
            if role not in (None, turn.agent):
                left_out["another role"] += 1
            elif not turn.text:
                left_out["event without words"] += 1
            elif not any(letter.isalnum() for letter in turn.text):
                left_out["no letter and no digit"] += 1
            else:
                made.append(_example(dialogue, number, turn.act or act, "\n".join(said)))
            said.append(f"{turn.agent}: {_heard(turn, dialogue.currency)}")
    return made, left_out


def posting(title: str, category: str, list_price: float, currency: str) -> str:
    """The public facts of a dialogue about one item, a line each."""
    return "\n".join(
        (f"item: {title}", f"category: {category}", f"list price: {written(list_price, currency)}")
    )


def part_of(dialogue: Dialogue) -> str:
    """The part of PARTS that a dialogue belongs to."""
    return next(name for name, (low, high) in PARTS.items() if low <= dialogue.place < high)


def _example(dialogue: Dialogue, number: int, act: Act, context: str) -> Example:
    turn = dialogue.turns[number]
    (partner_values,) = (own for agent, own in dialogue.values.items() if agent != turn.agent)
    values = dialogue.values[turn.agent]
    return Example(
        role=turn.agent,
        context=context,
        thought=_thought(act, values, dialogue.currency),
        values=values,
        partner_values=partner_values,
        utterance=turn.text,
        act=str(act),
        dialogue=dialogue.id,
        turn=number,
        part=part_of(dialogue),
    )


def _thought(act: Act, values: Mapping[str, object], currency: str) -> str:
    """What the turn is to do, in words; it names no value of the other side."""
    does = THOUGHTS[act.intent]
    if not currency:
        return f"{does}. Worth to me: {', '.join(f'{name} {n}' for name, n in values.items())}."
    at = "" if act.price is None else f": {written(act.price, currency)}"
    own = [f"My {name} is {written(value, currency)}." for name, value in values.items()]
    return " ".join([f"{does}{at}.", *own])


def _heard(turn: Turn, currency: str) -> str:
    """A turn as both sides saw it: its words, or the button in brackets."""
    if turn.text:
        return turn.text
    if turn.act is None:
        return "[no words]"
    price = "" if turn.act.price is None else f" {written(turn.act.price, currency)}"
    return f"[{turn.act.intent}{price}]"
