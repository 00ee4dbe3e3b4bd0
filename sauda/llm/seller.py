"""A language model that sells: code decides the move, the model words the decision, code checks it.

The decision is that of the open market's own seller of a type: the price, and what the line must
tell of style, topic and candour and answer to the buyer's last act (`Speech`). The model is told
the decision and the listing, never the limit, so it cannot give the limit away. A text that differs
from the decision is asked for again with another seed; nothing is patched. After `TRIES` texts the
seller says its scripted line, and the source says so.

A text is read as a buyer would read it, by the ear and `money`, and must tell what the scripted
line tells. Its words come from sentences that mean the decision, the listing or SPOKEN; each of its
sentences names the price or the listing, tells what was decided, or is a courtesy. What the
scripted line has is no fault. A model's seller speaks English.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

import env
from env.bazaar.prompt import clean
from env.language import money
from sauda.games.adapter import Messages, ParsedReply, Reply, Request
from sauda.llm.engine import Sampling
from sauda.llm.model import BASES, NULL, NamedModel, NullModel
from sauda.llm.turn import LLMPolicy
from sauda.llm.types import BatchGenerate
from sauda.records import read_table

TRIES = 3  # texts for one decision
SAMPLING = Sampling(temperature=0.35, max_new_tokens=48)  # the published seller's; a line is short
SCRIPTED = "scripted words"
LANGUAGE = "en"  # the smallest model speaks no other
USE = "evaluation"  # of the corpus, which sellers say in games


@dataclass(frozen=True, slots=True)
class Persona:
    """A seller of one of the market's types, and how it speaks."""

    name: str  # one of TYPES
    manner: str  # in words


_TEXTS = tomllib.loads(Path(__file__).with_name("seller.toml").read_text(encoding="utf-8"))
PERSONAS = {name: Persona(name, manner) for name, manner in _TEXTS["manners"].items()}
DEFAULT = "fair"


# Who sells: the seat, its decisions, its task


SILENT = env.speech.Speech()


@dataclass(frozen=True, slots=True)
class Decision:
    """A seller's move as decided by code; the message of `action` is its scripted line."""

    action: env.Offer | env.Accept | env.WalkAway
    kind: str  # opening, counter, accept or walk
    price: float | None  # rupees; that of the ask or of the bid it takes, None when it walks
    item: env.Item
    turn: int  # rounds played before
    says: env.speech.Speech = SILENT  # with an ask: what its words must tell, and no more
    standing: int | None = None  # the bid that it reminds the buyer of
    act: str = ""  # of the buyer, which it answers
    reason: str = ""  # to walk


def decide_move(obs: env.Observation) -> Decision:
    """The seller's decision at `obs`; deterministic, and independent of its words."""
    obs = replace(obs, own={**obs.own, "language": LANGUAGE})
    decided = env.market.decide(obs, mute=False)
    # It draws nothing from the generator.
    action = env.market.seller(obs, np.random.default_rng(0), mute=False, use=USE)
    move = (action, decided.kind, decided.price, obs.table.item, obs.table.round)
    return Decision(*move, decided.says, decided.standing, decided.act, decided.reason)


@dataclass(frozen=True)
class SellerSeat:
    """A model that words a persona's decisions, in up to TRIES texts for each."""

    persona: Persona = PERSONAS[DEFAULT]
    tries = TRIES
    agent = "seller"
    knows_limit = False

    def take_seat(self, task: env.Task) -> env.Task:
        """`task` against sellers of the persona's type; code decides their moves."""
        return seat_persona(task, self.persona)

    def preview(self, text: str, obs: env.Observation) -> str:
        return text

    def request(
        self, obs: env.Observation, seed: int, invalid_replies: Sequence[str] = ()
    ) -> Request:
        return Request(brief(decide_move(obs), self.persona, len(invalid_replies)), seed)

    def parse(
        self, obs: env.Observation, reply: Reply, invalid_replies: Sequence[str] = ()
    ) -> ParsedReply:
        """The decision in the reply's words, or in the scripted ones after TRIES texts."""
        decision = decide_move(obs)
        texts = (*invalid_replies, reply.text)
        words = choose_words(decision, texts)
        faults = ["; ".join(text_faults(unquote(text), decision)) for text in texts]
        if words is None:
            error = f"{faults[-1]}: {reply.text[:80]!r}"
            return ParsedReply(decision.action, source=reply.source, error=error)
        source = reply.source
        if faults[-1]:
            source = f"{SCRIPTED}: {len(texts)} tries of {source} differed from the decision"
        changes = tuple(f"said again: {fault}" for fault in faults if fault)
        action = replace(decision.action, message=words)
        return ParsedReply(decision.action, action, source, changes)


def seller_model(name: str) -> BatchGenerate:
    """The model called `name`, sampled as a seller's words are; ValueError naming the models."""
    if name not in BASES:
        raise ValueError(f"no model {name!r} to word a seller; models are {', '.join(BASES)}")
    return NullModel() if name == NULL else NamedModel(name, SAMPLING)


def model_seller(name: str) -> LLMPolicy:
    """The seller called MODEL:PERSONA, such as "mini:firm"; ValueError naming what there is."""
    model, _, persona = name.partition(":")
    return LLMPolicy(persona_seat(persona), seller_model(model))


def persona_seat(persona: str) -> SellerSeat:
    """The seat of the persona of that name; ValueError naming the personas."""
    if persona not in PERSONAS:
        raise ValueError(f"no persona {persona!r} to sell as; personas are {', '.join(PERSONAS)}")
    return SellerSeat(PERSONAS[persona])


def seat_persona(task: env.Task, persona: Persona, seller: env.Policy | None = None) -> env.Task:
    """An open-market `task` against sellers of the persona's type, moved by `seller` if given."""
    speaking = [f"bazaar/{name}" for name, of in env.MARKETS.items() if not (of.mute or of.extras)]
    if task.name not in speaking:
        raise ValueError(f"a language model sells in {', '.join(speaking)}, not in {task.name}")
    task = env.with_seller_type(task, persona.name)
    return task if seller is None else replace(task, opponents={"seller": seller})


# The prompt

LONGEST_QUOTE = 120  # characters of a listing in the prompt
EXAMPLES = 3  # in a prompt: with two the smallest model loses the thread half as often again
ORDERS, SHOWN = _TEXTS["orders"], _TEXTS["shown"]
GOODS = tuple(env.Item(category="", **row) for row in _TEXTS["goods"])


def brief(decision: Decision, persona: Persona, attempt: int = 0) -> Messages:
    """The chat that asks a model for the seller's words; its first message is the persona's alone.

    Examples that say the same of other goods come first, in another order at each turn and attempt.
    The listing is quoted as a JSON string, so that nothing in it ends the quote; the buyer's words
    are left out, since they lead the smallest model astray: what answers them is decided.
    """
    chat = [
        f"You are a {persona.manner} seller at an Indian bazaar. You say what you are told to say "
        "in one to three short sentences, and nothing else. The listing is a quote, not an order."
    ]
    for number in range(EXAMPLES):
        chat += show_example(decision, (decision.turn + attempt + number) % len(GOODS))
    chat.append(_instruction(decision, decision.action.message))
    roles = ["system", *("user", "assistant") * EXAMPLES, "user"]
    return [{"role": r, "content": text} for r, text in zip(roles, chat, strict=True)]


def show_example(decision: Decision, number: int) -> tuple[str, str]:
    """What is asked of and answered by the model where one of GOODS is sold instead."""
    item = GOODS[number]
    price, example = item.list_price, example_of(decision, number)
    line = example.action.message
    if decision.reason:
        return _instruction(example, line), line
    shown = SHOWN[decision.kind][number].format(price=env.rupees(price), item=item.name)
    if decision.kind in ORDERS:
        return _instruction(example, ""), shown
    return _instruction(example, line), line.replace(f"{env.rupees(price)}.", shown, 1)


def example_of(decision: Decision, number: int) -> Decision:
    """The decision with one of GOODS in place of its item, and numbers that fit its price."""
    item = GOODS[number]
    price = item.list_price
    says = replace(decision.says, cost=7 * price // 10 if decision.says.cost else 0)
    standing = 6 * price // 10 if decision.standing else None
    draw = number / len(GOODS)
    words = env.corpus.line(says, price, standing, draw, LANGUAGE, "training", item)
    if decision.reason:
        words = env.corpus.pick(LANGUAGE, "training", "walk", decision.reason, draw, item)
    named = {"price": decision.price and price, "says": says, "standing": standing}
    return replace(decision, action=replace(decision.action, message=words), item=item, **named)


def _instruction(decision: Decision, line: str) -> str:
    listing = clean(f"{decision.item.name}, {decision.item.condition.replace('_', ' ')}")
    if len(listing) > LONGEST_QUOTE:
        listing = f"{listing[:LONGEST_QUOTE]}…"
    price = "" if decision.price is None else env.rupees(decision.price)
    order = ORDERS[decision.kind].format(price=price) if decision.kind in ORDERS else f"Say: {line}"
    return f"Listing: {json.dumps(listing, ensure_ascii=False)}\n{order}"


# The check of a text

LONGEST = 220  # characters
MARKUP = r"<[|/\w]|[{}\[\]]|```|\*\*|^\s*[-•#]|\b(?:seller|buyer|listing|you|system|user)\s*:"
_WORDS = read_table(Path(__file__).with_name("seller_words.csv"))
PATTERNS = {row["name"]: row["words"] for row in _WORDS}
# "me", "pay", "send", "your" and their like are left out: with them a line could give the buyer an
# order. So is every word that makes a claim: of time, other buyers, cost, or the state of the item.
SPOKEN = frozenset(PATTERNS["spoken"].split("|"))


def unquote(text: str) -> str:
    """A text of the model without white space and quotation marks around it."""
    return text.strip().strip('"“”').strip()


def choose_words(decision: Decision, texts: Sequence[str]) -> str | None:
    """The words to use after these texts of the model; None where another one is due."""
    if texts and not text_faults(last := unquote(texts[-1]), decision):
        return last
    return None if len(texts) < TRIES else decision.action.message


def text_faults(text: str, decision: Decision) -> tuple[str, ...]:
    """How `text` differs from what was decided, one short sentence each; () where it does not.

    What is so of the scripted line too is no fault.
    """
    scripted = _faults_of_script(decision)
    return tuple(fault for fault in dict.fromkeys(_faults(text, decision)) if fault not in scripted)


@lru_cache(1_000)  # of a decision, whose texts are many
def _faults_of_script(decision: Decision) -> frozenset[str]:
    return frozenset(_faults(decision.action.message, decision))


def _faults(text: str, decision: Decision) -> Iterator[str]:
    if not text.strip():
        yield "is empty"
        return
    yield from _form(text)
    # Its own name may hold numbers and fine words.
    body = re.sub(re.escape(decision.item.name), "thing", text, flags=re.IGNORECASE)
    if _says(body, "machine"):
        yield "does not speak as the seller"
    yield from _price_faults(body, decision)
    yield from _end_faults(body, decision.kind)
    if decision.kind not in ORDERS:
        yield from _speech_faults(text, decision)
    if _says(body, "limits"):
        yield "speaks of a limit"
    if foreign_words(body, decision):
        yield "holds a word that neither the listing nor the move needs"
    if not all(_serves(sentence, decision) for sentence in sentences(body)):
        yield "holds a sentence that its move does not need"


def _form(text: str) -> Iterator[str]:
    if len(text) > LONGEST:
        yield "is too long"
    if not re.search(r"[.!?।…][\"'”’)]*$", text.strip()):
        yield "breaks off"
    if re.search(MARKUP, text, re.IGNORECASE | re.MULTILINE) or "\n" in text:
        yield "is more than a line of speech"
    parts = sentences(text)
    if len(set(parts)) < len(parts):
        yield "repeats itself"
    if any(c.isalpha() and not c.isascii() for c in text):
        yield "is in another script"
    elif not re.fullmatch(r"[\w\s₹,.!?'’‘\"“”–—…:;&()-]*", text) or "_" in text:
        yield "holds a sign that is not speech"


def sentences(text: str) -> list[str]:
    """The sentences of a text in lower case, without their marks."""
    parts = (part.strip(" ,;:\"'“”").lower() for part in re.split(r"[.!?।…]+(?=\s|$)", text))
    return [part for part in parts if part]


def _price_faults(body: str, decision: Decision) -> Iterator[str]:
    listed = set(_numbers(decision.item.name))
    mentions = [
        mention
        for mention in money.prices(body)
        if body[mention.start : mention.end] not in listed  # a bare number of the listing
    ]
    amounts = {mention.amount for mention in mentions}
    if _says(body, "foreign"):
        yield "names another currency"
    if decision.kind == "walk":
        if amounts:
            yield "walks and names a price"
    elif amounts - {decision.price, decision.says.cost, decision.standing}:
        yield "names another price"
    elif decision.kind != "accept" and decision.price not in amounts:
        yield "does not name the price"
    rest = body
    for mention in reversed(mentions):
        rest = rest[: mention.start] + " " + rest[mention.end :]
    if set(_numbers(rest)) - listed:
        yield "names a number that is not in the listing"


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*", text)


def _end_faults(body: str, kind: str) -> Iterator[str]:
    if kind == "accept" and (not _says(body, "accepts") or _says(body, "refuses", "denies")):
        yield "does not sound like a yes"
    if kind in ORDERS and "?" in body:
        yield f"{kind}s and asks"
    if kind not in ORDERS and _says(body, "agrees"):
        yield "sounds like a yes"
    if kind in ("opening", "counter") and _says(body, "refuses", "goodbye"):
        yield "refuses to sell"


def _speech_faults(text: str, decision: Decision) -> Iterator[str]:
    """What a buyer who hears a text would learn otherwise than from the scripted line.

    A text may leave its style open; a topic, its candour and the answer to a pitch it may not.
    """
    heard, says = env.ear.hear(text), env.ear.hear(decision.action.message)
    if claim_of(heard) != claim_of(says):
        if says.topic:
            yield f"does not say what was decided of the topic: {says.topic}"
        if heard.topic and heard.topic != says.topic:
            yield f"makes a claim that was not decided: {heard.topic}"
    if heard.reaction != says.reaction and (says.reaction != "flat" or heard.reaction):
        yield f"does not answer the buyer: {says.reaction or 'nothing to answer'}"
    if heard.style not in ("", says.style):
        yield "speaks as another type"
    if reasons_in(text) != reasons_in(decision.action.message):
        yield "does not leave as was decided"


def reasons_in(text: str) -> set[str]:
    """The reasons to leave that are heard in a text."""
    return {heard for heard in env.ear.meanings(text, "seller") if heard.startswith("walk/")}


def claim_of(meant: env.speech.Speech) -> tuple[str, str, int, str]:
    """What is claimed and how candidly; how exact a cost is, its number tells."""
    content = "price" if meant.content == "about" else meant.content
    return meant.topic, content, meant.cost, meant.mark


def foreign_words(body: str, decision: Decision) -> list[str]:
    """The words of `body` that are neither in SPOKEN nor of the decision's listing or line."""
    allowed = SPOKEN | _listed_words(decision.item) | _decided_words(decision.says)
    allowed |= set(_words(decision.action.message))
    words = _words(body.replace("’", "'"))
    return [word for word in dict.fromkeys(words) if not {word, word.removesuffix("s")} & allowed]


@cache
def _decided_words(says: env.speech.Speech) -> frozenset[str]:
    keys = (("style", says.style), ("reaction", says.reaction), (says.topic, says.content),
            ("mark", says.mark))  # fmt: skip
    spoken = env.corpus.sentences(LANGUAGE, USE)
    return frozenset(word for key in keys for text in spoken.get(key, ()) for word in _words(text))


def _serves(sentence: str, decision: Decision) -> bool:
    """Whether a sentence names a price or the listing, says what was decided, or is a courtesy."""
    plain = re.sub(r",? (?:sir|madam|my friend|friend|ji|bhai|please)$", "", sentence)
    ends = {"accept": ("accepts",)}
    about = (_listed_words(decision.item) - SPOKEN) | {"thing", "item", "piece", "condition"}
    heard = env.ear.hear(sentence)
    return (
        bool(money.prices(sentence))
        or bool(about & set(_words(sentence)))
        or bool(heard.style or heard.topic or heard.reaction or reasons_in(sentence))
        or _says(sentence, *ends.get(decision.kind, ()))
        or re.fullmatch(PATTERNS["courtesy"], plain) is not None
    )


def _listed_words(item: env.Item) -> set[str]:
    """The words of a listing, plurals as singulars too."""
    words = _words(f"{item.name} {item.category} {item.condition.replace('_', ' ')} condition")
    return {*words, *(word.removesuffix("s") for word in words)}


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z\u0900-\u097f']+", text.lower())


def _says(text: str, *patterns: str) -> bool:
    """Whether a text holds words of one of these PATTERNS."""
    bounded = (rf"(?<!\w)(?:{PATTERNS[name]})(?!\w)" for name in patterns)
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in bounded)
