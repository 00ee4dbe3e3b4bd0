"""Acts, turns and dialogues.

The acts are the coarse ones of He et al. (2018), "Decoupling Strategy and Generation in Negotiation
Dialogues". An intro opens a conversation, a vague-price speaks of the price without an amount.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

INTENTS = (
    "intro",
    "inquire",
    "inform",
    "init-price",
    "counter-price",
    "insist",
    "vague-price",
    "agree",
    "disagree",
    "unknown",
    "offer",
    "accept",
    "reject",
    "quit",
)
EVENTS = ("offer", "accept", "reject", "quit")  # buttons without words in CraigslistBargains
RUPEES, DOLLARS = "INR", "USD"


@dataclass(frozen=True, slots=True)
class Act:
    """What an utterance does; `price` is the amount that it puts on the table, or None."""

    intent: str  # one of INTENTS
    price: float | None = None  # in the currency of the dialogue

    def __post_init__(self) -> None:
        if self.intent not in INTENTS:
            raise ValueError(f"no act {self.intent!r}; acts are {', '.join(INTENTS)}")

    def __str__(self) -> str:
        return self.intent if self.price is None else f"{self.intent}({self.price:g})"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue; an event such as a pressed button has an empty text."""

    agent: str
    text: str
    act: Act | None = None  # as the source annotates it; None where it does not


@dataclass(frozen=True)
class Dialogue:
    """A negotiation of two agents in words.

    `values` are private, by agent; everything else is public. `group` names what must not be in two
    parts of a split: dialogues about one posting, or with one set of private values.
    """

    id: str  # source, file and line
    group: str
    scenario: str  # the public facts, a line each
    values: Mapping[str, Mapping[str, object]]
    turns: tuple[Turn, ...]
    currency: str = ""  # of the amounts in its texts; "" where numbers are no amounts
    list_price: float | None = None
    notes: str = ""  # title and description, whose numbers are no prices

    @property
    def place(self) -> float:
        """A number in [0, 1) from a digest of the group; a part of a split is a range of it."""
        digest = hashlib.sha256(self.group.encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    @property
    def annotated(self) -> bool:
        """Whether the source annotates every turn with its act."""
        return all(turn.act is not None for turn in self.turns)


@dataclass(frozen=True)
class Context:
    """What the words of the next speaker are read against; prices in the dialogue's currency."""

    seat: str  # the speaker's: "buyer" or "seller", or another agent where nothing is sold
    list_price: float | None = None  # None: numbers are no prices
    own: float | None = None  # the speaker's last price
    theirs: float | None = None  # the listener's last price
    first: bool = False  # whether nothing was said before
    asked: bool = False  # whether the listener's last turn was a question
    currency: str = RUPEES
    notes: str = ""
    has_buttons: bool = False  # whether a deal closes by events; otherwise words close it
