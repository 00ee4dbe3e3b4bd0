"""Dialogue acts: what an utterance does in a negotiation, such as counter-price(450).

The acts are the coarse ones of He et al. (2018), "Decoupling Strategy and Generation in Negotiation
Dialogues". `parse_act` reads one from words; the first rule that applies decides. Where a deal
closes by buttons (CraigslistBargains), words of agreement bind nobody; where words close it (our
games), they accept and reject. `phrase_move` words an act; a line is said only if `parse_act` reads
the same act from it. `Acts` plays a strategy through both.

`money` counts "$5" as foreign, so that no dollar is taken for a rupee in a game; a text that
declares dollars is first written with rupee signs, character for character.

An `Example` is what a role sees before one of its turns, and what it said; `Example.model_input` is
all that a model reads of it. A `View` is a dialogue from the side of one role as one chat, so that
its beginning is read once for all of its turns.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from env import Accept, IllegalAction, Observation, Offer, Policy, Table, WalkAway, ear, rupees
from env.language import money, numerals
from sauda.language import read_rows
from sauda.language.spoken import AGREES, LEAVES, Decided, from_lines, prices_of

# What each act does, as its speaker thinks it.
THOUGHTS = {row["act"]: row["thought"] for row in read_rows("thoughts.csv")}
INTENTS = tuple(THOUGHTS)
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
    scenario: str  # the public facts, one per line
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


# The signs and words of a currency, each with rupees in the same number of characters.
IN_RUPEES: Mapping[str, Mapping[str, str]] = {
    RUPEES: {},
    DOLLARS: {"$": "₹", "dollars": "rupees ", "dollar": "rupee ", "usd": "inr"},
}
_SIGNS = re.compile(r"\$|\b(?:dollars?|usd)\b", re.IGNORECASE)
_MARKED = re.compile(r"[₹]|\b(?:rupees?|inr|rs|bucks?)\b", re.IGNORECASE)


def as_rupees(text: str, currency: str) -> str:
    """`text` with the signs of `currency` replaced by those of rupees, at the same positions.

    Raises ValueError for a currency that is not in IN_RUPEES.
    """
    if currency not in IN_RUPEES:
        raise ValueError(f"no currency {currency!r}; currencies are {', '.join(IN_RUPEES)}")
    signs = IN_RUPEES[currency]
    return _SIGNS.sub(lambda match: signs.get(match.group().lower(), match.group()), text)


def amounts(text: str, currency: str) -> list[tuple[float, bool]]:
    """Every amount in `text`, in order, and whether a currency sign or word marks it."""
    written = as_rupees(text, currency)
    return [
        (mention.amount, bool(_MARKED.search(written[mention.start : mention.end])))
        for mention in money.prices(written)
    ]


def format_amount(amount: float, currency: str) -> str:
    """`amount` as a text of `currency` has it: ₹1,20,000 or $1,250."""
    if currency == RUPEES:
        return rupees(amount)
    whole = f"{amount:,.2f}".removesuffix(".00")
    return f"${whole}" if currency == DOLLARS else whole


HIGHEST_UNMARKED = 1.5  # times the list price; a higher number without a currency sign is no price

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[?]")
_ASKING = "what|when|where|why|which|who|whose|how|do|does|are|is|would|will|can|could"
_QUESTIONS = frozenset(_ASKING.split("|"))
_GREETINGS = {"hi", "hello", "hey", "hiya", "howdy"}
_GREETING = re.compile(r"how are you|interested in", re.IGNORECASE)
_VAGUE = re.compile(r"come down|highest|lowest|go (?:lower|higher)|too (?:high|low)\b", re.I)
_AGREES = re.compile(
    r"(?:that works|great|ok|okay|great, thanks|deal|i can do that)[.!]*|[\w ]*have a deal[\w ]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def parse_act(text: str, context: Context) -> Act:
    """The act of `text`, said in `context`; its price is in the context's currency.

    Raises ValueError for a currency whose amounts nobody reads.
    """
    prices: Sequence[float] = ()
    if context.list_price is not None and context.has_buttons:
        prices = _item_prices(text, context)
    elif context.list_price is not None:
        with suppress(ValueError):  # no price is offered, or several
            prices = [money.price(as_rupees(text, context.currency))]
    if not context.has_buttons and (closing := _closing_act(text, context)):
        return closing
    return Act(_intent(text, prices, context), _choose_price(prices, context))


def read_acts(dialogue: Dialogue) -> list[Act | None]:
    """The act of every turn, each read in the light of the acts that were read before it.

    No annotation of a turn with words is looked at. An event keeps its own act, which is None
    where the source does not say which button was pressed.
    """
    prices: dict[str, float] = {}
    intents: dict[str, str] = {}
    acts: list[Act | None] = []
    for number, turn in enumerate(dialogue.turns):
        act = turn.act
        if turn.text:
            others = [agent for agent in prices if agent != turn.agent]
            heard = [intent for agent, intent in intents.items() if agent != turn.agent]
            context = Context(
                turn.agent,
                dialogue.list_price,
                own=prices.get(turn.agent),
                theirs=prices[others[0]] if others else None,
                first=number == 0,
                asked=heard == ["inquire"],
                currency=dialogue.currency,
                notes=dialogue.notes,
                has_buttons=True,
            )
            act = parse_act(turn.text, context)
        acts.append(act)
        if act is not None:
            intents[turn.agent] = act.intent
            if act.price is not None:
                prices[turn.agent] = act.price
    return acts


def price_intent(price: float, context: Context) -> str:
    """What naming `price` does: the first price, a new one, or one that is on the table."""
    if context.own is None and context.theirs is None:
        return "init-price"
    if price != context.list_price:
        if price == context.theirs:
            return "agree" if context.has_buttons else "offer"
        if price == context.own:
            return "insist"
    return "counter-price"


def _intent(text: str, prices: Sequence[float], context: Context) -> str:
    if prices:
        named = {price_intent(price, context) for price in prices}
        for intent in ("init-price", "counter-price", "insist"):
            if intent in named:
                return intent
        return named.pop()
    words = [word.lower() for word in _WORD.findall(text)]
    asks = bool(words) and (words[-1] == "?" or words[0] in _QUESTIONS)
    denies = _denies(words)
    greets = not _GREETINGS.isdisjoint(words) or bool(_GREETING.search(text))
    agrees = bool(_AGREES.fullmatch(text.strip())) and not denies
    if context.first:
        return "intro"
    if _VAGUE.search(text):
        return "vague-price"
    if asks and not (denies or greets or agrees):
        return "inquire"
    if agrees:
        return "agree"
    if not (asks or denies or greets) and context.asked:
        return "inform"
    return "disagree" if denies and not (asks or greets) else "unknown"


def _denies(words: Sequence[str]) -> bool:
    return any(word in ("no", "not", "cannot") or word.endswith(("n't", "n’t")) for word in words)


def _closing_act(text: str, context: Context) -> Act | None:
    """The act that ends a game by words; None where the words do not.

    Words of agreement that deny, or name another price or another currency, accept nothing.
    """
    rupees = as_rupees(text, context.currency)
    named = {mention.amount for mention in money.prices(rupees)}
    if LEAVES.search(text) and not named:
        return Act("reject")
    if context.theirs is None or not AGREES.search(text):
        return None
    denies = _denies([word.lower() for word in _WORD.findall(text)])
    is_foreign = any(token.key in numerals.WORDS.foreign for token in numerals.tokenize(rupees))
    if denies or is_foreign or named - {context.theirs}:
        return None
    return Act("accept", context.theirs)


def _item_prices(text: str, context: Context) -> list[float]:
    """The prices in a text about an item; numbers of its posting and far too high ones are none."""
    noted = _numbers(context.notes, context.currency) - {context.list_price}
    highest = HIGHEST_UNMARKED * context.list_price
    return [
        amount
        for amount, marked in amounts(text, context.currency)
        if amount > 0 and (marked or (amount <= highest and amount not in noted))
    ]


@lru_cache(maxsize=256)
def _numbers(notes: str, currency: str) -> frozenset[float]:
    """The numbers in a posting: in digits, and as the reader of prices takes them, such as "4K"."""
    digits = (float(number.replace(",", "")) for number in _NUMBER.findall(notes))
    return frozenset(digits) | {amount for amount, _ in amounts(notes, currency)}


def _choose_price(prices: Sequence[float], context: Context) -> float | None:
    """The price that the speaker proposes among those it names.

    Where a deal closes by buttons it is a price no better for the speaker than its last one, and
    the best of several; a buyer never proposes the list price.
    """
    if not context.has_buttons:
        return prices[0] if prices else None
    sign = 1 if context.seat == "seller" else -1
    last = context.own
    proposed = [
        price
        for price in prices
        if (last is None or sign * price <= sign * last)
        and (context.seat == "seller" or price != context.list_price)
    ]
    return max(proposed, key=lambda price: sign * price, default=None)


Action = Offer | Accept | WalkAway
TRIES = 8  # lines of the speaker before a plain one
PLAIN = {"accept": "Agreed, #.", "reject": "Goodbye."}  # "#" stands for the price


def context_of(table: Table, agent: str, has_buttons: bool = False) -> Context:
    """What the words of `agent` are read against at `table`, before its move."""
    mine, theirs = prices_of(table, agent)
    return Context(
        "seller" if agent == "seller" else "buyer",
        table.item.list_price,
        own=mine[-1] if mine else None,
        theirs=theirs[-1] if theirs else None,
        first=not table.moves,
        has_buttons=has_buttons,
    )


def act_of(action: Action, context: Context) -> Act:
    """The act of a move that is made in `context`; agreement and refusal come before a button.

    Raises IllegalAction for what is no move.
    """
    if isinstance(action, Offer):
        return Act(price_intent(action.price, context), action.price)
    if isinstance(action, Accept):
        return Act("agree" if context.has_buttons else "accept", context.theirs)
    if isinstance(action, WalkAway):
        return Act("disagree" if context.has_buttons else "reject")
    raise IllegalAction(f"expected an Offer, Accept or WalkAway, got {action!r:.80}")


def move_of(act: Act, message: str = "") -> Action:
    """The move that an act makes in a game without buttons, with its words.

    Raises IllegalAction for an act that makes none, such as a question.
    """
    if act.intent in ("accept", "agree"):
        return Accept(message)
    if act.intent in ("reject", "quit"):
        return WalkAway(message)
    if act.price is not None:
        return Offer(act.price, message)
    raise IllegalAction(f"{act} makes no move; say a price, accept or leave")


def phrase_move(act: Act, context: Context, decided: Decided, seed: int) -> str:
    """Words for the act of a decided move, from which `parse_act` reads that act in `context`.

    A line of the speaker is tried first, then a plain one. Where words count, no line is said by
    which the seller would be moved. Raises IllegalAction where no line says the act, such as a
    price above those that are read.
    """
    words_count = decided.seen.standing and decided.agent != "seller"
    for attempt in range(TRIES):
        line = from_lines(decided, seed + attempt)
        if words_count and ear.act_in(line)[0]:
            continue
        if line and parse_act(line, context) == act:
            return line
    price = "" if act.price is None else format_amount(act.price, context.currency)
    line = PLAIN.get(act.intent, "#.").replace("#", price)
    if parse_act(line, context) != act:
        raise IllegalAction(f"no words for {act}: {line!r} is read as {parse_act(line, context)}")
    return line


@dataclass(frozen=True)
class Acts:
    """Says each move of `strategy` in words, and makes the move that is read from the words.

    It plays exactly as the strategy does: words from which another act is read are never said. An
    action that cannot be said raises IllegalAction, which forfeits.
    """

    strategy: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        action = self.strategy(obs, rng)
        moves = obs.table.moves
        heard = moves[-1].action.message if moves and moves[-1].agent != obs.agent else ""
        before = [move.action.message for move in moves if move.agent == obs.agent]
        context = context_of(obs.table, obs.agent)
        decided = Decided(obs.table, obs.agent, action, heard=heard, said=before)
        seed = int(rng.integers(2**32))  # after the strategy's own draws
        text = phrase_move(act_of(action, context), context, decided, seed)
        played = move_of(parse_act(text, context), text)
        return Offer(obs.priced(played.price), text) if isinstance(played, Offer) else played


# Ranges of `Dialogue.place`. The dialogues of one posting have one place, so that no part has a
# posting, or a mirror of a dialogue, that another part has.
PARTS: Mapping[str, tuple[float, float]] = {
    "train": (0.0, 0.8),
    "validation": (0.8, 0.9),
    "holdout": (0.9, 1.0),
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

    def model_input(self) -> dict[str, object]:
        """What a model reads before it speaks."""
        return {name: getattr(self, name) for name in ("role", "context", "thought", "values")}

    @property
    def intention(self) -> str:
        """The first sentence of the thought: the act, without the values that follow it."""
        return self.thought.partition(". ")[0].removesuffix(".") + "."


def examples(
    dialogues: Iterable[Dialogue], role: str | None = None
) -> tuple[list[Example], Counter[str]]:
    """One example per turn with words, of one role or all, and how many were left out and why.

    An act is the annotated one, or else the one that is read.
    """
    made: list[Example] = []
    left_out: Counter[str] = Counter()
    for dialogue in dialogues:
        acts = [turn.act for turn in dialogue.turns] if dialogue.annotated else read_acts(dialogue)
        context = dialogue.scenario.splitlines()
        for number, (turn, act) in enumerate(zip(dialogue.turns, acts, strict=True)):
            if role not in (None, turn.agent):
                left_out["another role"] += 1
            elif not turn.text:
                left_out["event without words"] += 1
            elif not any(letter.isalnum() for letter in turn.text):
                left_out["no letter and no digit"] += 1
            else:
                values = dialogue.values[turn.agent]
                (others,) = (side for agent, side in dialogue.values.items() if agent != turn.agent)
                act = turn.act or act
                made.append(
                    Example(
                        role=turn.agent,
                        context="\n".join(context),
                        thought=_describe_thought(act, values, dialogue.currency),
                        values=values,
                        partner_values=others,
                        utterance=turn.text,
                        act=str(act),
                        dialogue=dialogue.id,
                        turn=number,
                        part=part_of(dialogue),
                    )
                )
            context.append(f"{turn.agent}: {_describe_turn(turn, dialogue.currency)}")
    return made, left_out


def describe_item(title: str, category: str, list_price: float, currency: str) -> str:
    """The public facts of a dialogue about one item, one per line."""
    price = format_amount(list_price, currency)
    return f"item: {title}\ncategory: {category}\nlist price: {price}"


def part_of(dialogue: Dialogue) -> str:
    """The part of PARTS that a dialogue belongs to."""
    return next(name for name, (low, high) in PARTS.items() if low <= dialogue.place < high)


def _describe_thought(act: Act, values: Mapping[str, object], currency: str) -> str:
    """What the turn is to do, in words; it names no value of the other side."""
    does = THOUGHTS[act.intent]
    if not currency:
        return f"{does}. Worth to me: {', '.join(f'{name} {n}' for name, n in values.items())}."
    at = "" if act.price is None else f": {format_amount(act.price, currency)}"
    lines = [f"My {name} is {format_amount(value, currency)}." for name, value in values.items()]
    return " ".join([f"{does}{at}.", *lines])


def _describe_turn(turn: Turn, currency: str) -> str:
    """A turn as both sides saw it: its words, or the button in brackets."""
    if turn.text:
        return turn.text
    if turn.act is None:
        return "[no words]"
    price = "" if turn.act.price is None else f" {format_amount(turn.act.price, currency)}"
    return f"[{turn.act.intent}{price}]"


SELLING = ("buyer", "seller")
GENERALIST = "generalist"  # the role that speaks for both sides
SYSTEM = (
    "You are the {role} in a negotiation. {values} Each message has what was said since your last "
    "turn, and in brackets what you mean to do. Say it in one line."
)


@dataclass(frozen=True)
class View:
    """A dialogue from the side of one role: its examples in order, one per turn."""

    dialogue: Dialogue
    role: str
    turns: tuple[Example, ...]

    def chat(self) -> list[dict[str, str]]:
        """All of it as the messages of a chat; the role's words are those of the assistant."""
        values = (
            f"Your {name} is {format_amount(value, self.dialogue.currency)}."
            for name, value in self.dialogue.values[self.role].items()
        )
        system, shown = SYSTEM.format(role=self.role, values=" ".join(values)), ""
        messages = [{"role": "system", "content": system}]
        for turn in self.turns:
            new = turn.context.removeprefix(shown).strip()
            asked = f"{new}\n({turn.intention})".strip()
            messages.append({"role": "user", "content": asked})
            messages.append({"role": "assistant", "content": turn.utterance})
            shown = f"{turn.context}\n{self.role}: {turn.utterance}"
        return messages


def view(dialogue: Dialogue, side: str) -> View:
    """The dialogue from one side."""
    turns, _ = examples([dialogue], side)
    return View(dialogue, side, tuple(turns))


def sides_of(role: str, agents: Sequence[str] = SELLING) -> tuple[str, ...]:
    """The agents whose turns a role says: its own, or both of a generalist.

    Raises ValueError for another role.
    """
    roles = {agent: (agent,) for agent in agents} | {GENERALIST: tuple(agents)}
    if role not in roles:
        raise ValueError(f"no role {role!r}; roles are {', '.join(roles)}")
    return roles[role]


def views(
    dialogues: Iterable[Dialogue], sides: Sequence[str], part: str, count: int | None = None
) -> list[View]:
    """The first `count` dialogues of a part, or all, from each of `sides`, one after the other.

    In each dialogue, both sides have words. Raises ValueError where no dialogue is of the part.
    """
    chosen = _choose(dialogues, part)[:count]
    if not chosen:
        raise ValueError(f"there is no {part} dialogue; load more dialogues")
    return [view(dialogue, side) for side in sides for dialogue in chosen]


def choose_views(
    dialogues: Iterable[Dialogue], sides: Sequence[str], count: int, seed: int
) -> list[View]:
    """`count` training dialogues in the order in which they are learnt, each from one side.

    The draw does not depend on the role. A generalist takes the two sides in turn, so that it
    learns from as many dialogues, and in as many steps, as a specialist. Raises ValueError where
    there are too few dialogues.
    """
    chosen = _choose(dialogues, "train")
    if not 0 < count <= len(chosen):
        raise ValueError(f"there are {len(chosen)} training dialogues, and {count} were asked for")
    drawn = np.random.default_rng(seed).permutation(len(chosen))[:count]
    return [view(chosen[place], sides[i % len(sides)]) for i, place in enumerate(drawn)]


def _choose(dialogues: Iterable[Dialogue], part: str) -> list[Dialogue]:
    return [dialogue for dialogue in dialogues if part_of(dialogue) == part]


def counts(taught: Sequence[View]) -> dict[str, dict[str, int]]:
    """How many dialogues are taken from each side, and how many turns of each act."""
    roles = Counter(view.role for view in taught)
    acts = Counter(turn.act.partition("(")[0] for view in taught for turn in view.turns)
    return {"roles": dict(sorted(roles.items())), "acts": dict(sorted(acts.items()))}
