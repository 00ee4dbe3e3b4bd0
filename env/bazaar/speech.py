"""What is said in the open market: what a seller's line tells and which act a buyer's line is.

The phrases are data: `phrases.csv` has one row per phrase in three languages, a third of each
family kept for evaluation ("unseen"), and `acts.csv` the patterns by which a buyer's act is read.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ..amounts import rupees
from ..core import read_rows

LANGUAGES = ("en", "hinglish", "hi")
QUESTIONS = ("ask_cost", "ask_wear", "ask_time")
PITCHES = ("tea", "cash", "outside", "flaw")
ACTS = (*QUESTIONS, *PITCHES, "insult")
LONGEST_READ = 400  # characters of a line that are read

Phrases = Mapping[tuple[str, str], tuple[str, ...]]  # by family and key


def language_of(text: str) -> str:
    """The language of a line of the market, one of LANGUAGES; "en" where it tells none."""
    if re.search(r"[\u0900-\u097f]", text):
        return "hi"
    tokens = set(_tokens(text))
    hits = {name: len(tokens & _vocabulary(name)) for name in ("en", "hinglish")}
    return "hinglish" if hits["hinglish"] > hits["en"] else "en"


@cache
def _vocabulary(language: str) -> frozenset[str]:
    """The words of a language's phrases that stand in no phrase of another one."""
    spoken = {
        name: {
            token
            for use in ("seen", "unseen")
            for options in phrases(name, use).values()
            for option in options
            for token in _tokens(option)
        }
        for name in LANGUAGES
    }
    others = set().union(*(words for name, words in spoken.items() if name != language))
    return frozenset(spoken[language] - others)


@cache
def phrases(language: str, use: str) -> Phrases:
    """The phrases of a language for one use, "seen" or "unseen".

    A family without unseen phrases has the seen ones for both uses.
    """
    by_key: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in read_rows("bazaar/phrases.csv"):
        by_use = by_key.setdefault((row["family"], row["key"]), {"seen": [], "unseen": []})
        by_use[row["use"]].append(row[language])
    return {key: tuple(by_use[use] or by_use["seen"]) for key, by_use in by_key.items()}


@dataclass(frozen=True, slots=True)
class Speech:
    """What a seller's line means; "" where it says nothing of that sort."""

    style: str = ""  # firm, fair, hasty or bluffer
    topic: str = ""  # cost, time, rival or wear, or an extra
    content: str = ""  # of the topic, as in phrases.csv or sentences.csv
    cost: int = 0  # rupees, with the topic cost or an extra
    mark: str = "plain"  # of candour: plain, hedge or swear
    reaction: str = ""  # to a pitch: pleased, annoyed, flat or caught


def say(
    speech: Speech, ask: int, standing: int | None, draw: float, language: str, use: str
) -> str:
    """The seller's line with an `ask`; `standing` is the bid that it reminds the buyer of.

    `draw` in [0, 1) chooses among the phrases of each family.
    """
    words = phrases(language, use)

    def one(family: str, key: str, price: int = 0) -> str:
        options = words[family, key]
        return options[int(draw * len(options))].replace("#", rupees(price))

    parts = [one("remind", "bid", standing)] if standing else []
    if speech.reaction:
        parts.append(one("reaction", speech.reaction))
    if speech.topic:
        phrase = one(speech.topic, speech.content, speech.cost)
        mark = "" if speech.mark == "plain" else f", {one('mark', speech.mark)}"
        parts.append(f"{phrase}{mark}{'।' if language == 'hi' else '.'}")
    parts.append(one("ask", "price", ask))
    if speech.style:
        parts.append(one("style", speech.style))
    return " ".join(parts)


# Reading a seller ---------------------------------------------------------------------------------

_SEGMENT = re.compile(r"[.!?,।]+(?:\s|$)")
_PRICE = re.compile(r"(?:₹|\brs\.? ?|\binr ?)?(\d[\d,]*)(?:\.\d+)?(?: ?(?:rupees|rs)\b)?", re.I)
READ = ("style", "time", "rival", "cost", "wear", "mark", "reaction")
HEARD = 0.75  # least score of a phrase that counts as heard


@cache
def _cues() -> Mapping[str, Mapping[tuple[str, str], float]]:
    """For each token of a seen phrase its weight per (family, key): 1 over how many share it."""
    groups: dict[str, Counter] = {}
    for language in LANGUAGES:
        for (family, key), options in phrases(language, "seen").items():
            if family in READ:
                for option in options:
                    for token in set(_tokens(option)):
                        groups.setdefault(token, Counter())[family, key] += 1
    return {token: dict.fromkeys(keys, 1 / len(keys)) for token, keys in groups.items()}


@cache
def _whole() -> Mapping[frozenset[str], set[tuple[str, str]]]:
    """The families and keys of each set of tokens that is a whole segment of a seen phrase."""
    segments: dict[frozenset[str], set[tuple[str, str]]] = {}
    for language in LANGUAGES:
        for (family, key), options in phrases(language, "seen").items():
            if family in READ:
                for segment in (part for option in options for part in _SEGMENT.split(option)):
                    segments.setdefault(frozenset(_tokens(segment)), set()).add((family, key))
    return segments


@cache
def _reminders() -> frozenset[frozenset[str]]:
    """The sets of tokens of the phrases by which a seller reminds of the standing bid."""
    return frozenset(
        frozenset(_tokens(option))
        for language in LANGUAGES
        for use in ("seen", "unseen")
        for option in phrases(language, use)["remind", "bid"]
    )


def _tokens(text: str) -> list[str]:
    tokens = (token.strip(".,!?।'\"") for token in _PRICE.sub("#", text).lower().split())
    return [token for token in tokens if token and token != "#"]


def hear(text: str) -> Speech:
    """What a seller's line means, read by the words of the seen phrases alone.

    Reads the first LONGEST_READ characters.
    """
    return _hear(text[:LONGEST_READ])


@lru_cache(maxsize=100_000)
def _hear(text: str) -> Speech:
    best: dict[str, tuple[float, str, int]] = {}
    for segment in _SEGMENT.split(text):
        scores: Counter = Counter()
        tokens = tuple(dict.fromkeys(_tokens(segment)))  # in their order, which settles ties
        if frozenset(tokens) in _reminders():  # of the standing bid: praises and tells nothing
            continue
        for token in tokens:
            scores.update(_cues().get(token, {}))
        named = _PRICE.search(segment)
        price = _rupees(named[1]) if named else 0
        for (family, key), score in scores.items():
            share = score / len(tokens) + score / 4
            share += 2 * ((family, key) in _whole().get(frozenset(tokens), ()))
            if share >= HEARD and share > best.get(family, (0.0,))[0]:
                best[family] = share, key, price
    topics = [name for name in ("cost", "time", "wear", "rival") if name in best]
    topic = max(topics, key=lambda name: best[name][0], default="")
    _, content, cost = best.get(topic, (0.0, "", 0))
    if topic == "cost" and content != "evade" and not cost:
        topic = content = ""
    return Speech(
        style=best.get("style", (0.0, ""))[1],
        topic=topic,
        content=content,
        cost=cost if topic == "cost" and content != "evade" else 0,
        mark=best["mark"][1] if topic and "mark" in best else "plain",
        reaction=best.get("reaction", (0.0, ""))[1],
    )


# Reading a buyer ----------------------------------------------------------------------------------

_DENIED_BEFORE = re.compile(
    r"(?:\b(?:no(?! doubt)|not(?! only| just)|never|without|free (?:of|from)|bina)|n't|बिना)\s+"
    r"(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^(?:[ -]?free\b|\s*(?:[^\s.,!?।]+\s+){0,2}(?:nahin?\b|mat\b|नहीं|मत(?!\w)))", re.IGNORECASE
)
_NO_PRICE = re.compile(  # after a number: an ordinal, or a unit of something else
    r"^ ?\+? ?(?:%|(?:st|nd|rd|th|percent|pct|years?|months?|weeks?|days?|hours?|minutes?|mins?|"
    r"km|kms|kilometers?|miles?|kg|litres?|saal|mahine|din|ghante)\b)",
    re.IGNORECASE,
)
_NOT_SEEN = re.compile("[\u00ad\u093c\u200b-\u200f\u2060\ufeff]")  # invisible, and the nukta


def _plain(text: str) -> str:
    """The text in one spelling of Devanagari, without what nobody sees and the mark of a price."""
    return _NOT_SEEN.sub("", unicodedata.normalize("NFKC", text)).translate({36: "₹", 64: " "})


@cache
def _acts() -> list[tuple[str, re.Pattern]]:
    joined: dict[str, list[str]] = {}
    for row in read_rows("bazaar/acts.csv"):
        joined.setdefault(row["act"], []).append(_NOT_SEEN.sub("", row["cue"]))
    return [(act, re.compile("|".join(cues), re.IGNORECASE)) for act, cues in joined.items()]


def act_in(text: str) -> tuple[str, int]:
    """The speech act of a buyer's line, "" for none, and the outside price in rupees, or 0.

    The act whose cue stands first. A flaw that is asked about is a question, and one that is denied
    is no act. Reads the first LONGEST_READ characters.
    """
    return _act_in(text[:LONGEST_READ])


@lru_cache(maxsize=20_000)
def _act_in(text: str) -> tuple[str, int]:
    text = _plain(text)
    prices: list[int] = []

    def mark(match: re.Match) -> str:
        if _NO_PRICE.match(text[match.end() :]):
            return match[0]
        prices.append(_rupees(match[1]))
        return "@"

    line = _PRICE.sub(mark, text)
    hits = []
    for rank, (act, cue) in enumerate(_acts()):
        for match in cue.finditer(line):
            if act in ("flaw", "cash", "insult") and _denied(line, match):
                continue
            hits.append((match.start(), rank, act, match))
            break
    if not hits:
        return "", 0
    _, _, act, match = min(hits, key=lambda hit: hit[:2])
    if act == "flaw" and _asks(line, match):
        act = "ask_wear"
    named = line[: match.end()].count("@")
    return act, prices[named - 1] if act == "outside" and prices and named else 0


def _rupees(digits: str) -> int:
    """The number that digits with commas write, of which a text may hold any number."""
    return int(digits.replace(",", "")[:12] or 0)


def _denied(line: str, match: re.Match) -> bool:
    before, after = line[: match.start()], line[match.end() :]
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after))


def _asks(line: str, match: re.Match) -> bool:
    """Whether a sentence asks about the flaw that it names; one with a price bids in view of it."""
    before = re.split(r"[.!?।]", line[: match.start()])[-1]
    after = re.match(r"[^.!।?]*\?", line[match.end() :])
    return bool(after) and "@" not in before + after[0]


def buyer_line(act: str, price: int, draw: float, language: str = "en", use: str = "seen") -> str:
    """A buyer's line for an act; `price` is the outside price in rupees, of other acts not used."""
    options = phrases(language, use)["buyer", act]
    return options[int(draw * len(options))].replace("#", rupees(price))
