"""Faults of the line that a buyer says with a bid, where any words count.

A fault is a line that names another price than the bid, says what was said before, claims what the
buyer does not know, answers a step of the seller that was not made, or gives its limit away.
"""

import re
from collections.abc import Iterator, Mapping

from env import Observation, Offer, ear

FAULTS = {  # in words
    "price": "naming another price than the bid",
    "repeat": "saying a line again",
    "claim": "naming a shop that is not known",
    "step": "answering a step that the seller did not make",
    "limit": "giving the limit away",
}
# Words that say that the ask fell, or that it did not.
FELL = re.compile(
    r"you moved|we both move|coming (down|closer)|that's a step|neeche aaye|paas aa rahe", re.I
)
STOOD = re.compile(
    r"didn't move|the same\.|not an inch|hold firm|still there|hile nahi|wahi daam|bhi wahi", re.I
)


def faults_in(obs: Observation, action: Offer) -> Iterator[str]:
    """The faults of the line that goes with a bid, of FAULTS."""
    line, quote = action.message, obs.own.get("quote")
    amounts = {int(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*", line)}
    if amounts - {action.price, quote}:
        yield "price"
    earlier = (move.action.message for move in obs.table.moves if move.agent == obs.agent)
    if _shape(line) in map(_shape, earlier):
        yield "repeat"
    if ear.act_in(line)[0] == "outside" and quote is None:
        yield "claim"
    if (FELL.search(line) and not obs.drop) or (STOOD.search(line) and obs.drop != 0):
        yield "step"
    if obs.reservation in amounts and obs.reservation != action.price:
        yield "limit"


def count_in_words(faults: Mapping[str, int]) -> str:
    """How often each was made, the most frequent first: "42 saying a line again"; or "none"."""
    frequent = sorted(faults.items(), key=lambda each: -each[1])
    return ", ".join(f"{count} {FAULTS[name]}" for name, count in frequent if count) or "none"


def claims_step(line: str) -> bool:
    """Whether a line says that the seller came down, or that it did not."""
    return bool(FELL.search(line) or STOOD.search(line))


def _shape(line: str) -> str:
    """A line without its amounts: the same sentence about another price is no repetition."""
    return re.sub(r"\d[\d,]*", "#", line).strip().lower()
