"""Prices in text, in rupees: digits and words, in English, Hinglish and Devanagari.

`prices` takes the numbers that `numerals` finds and drops those that `is_other` recognises as
something else: a count, a size, an age, a date, a model, a share. `price` finds the one price that
a message offers: it ignores code (`without_code`) and prices that the message takes back
(`keep_standing`): "not 500, 450" offers 450. Every step looks a bounded way ahead, so the time is
linear in the length of the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from ..amounts import group_digits, rupees
from . import numerals
from .numerals import WORDS, Number, Token, fold, number_at, small_at

LONGEST_MESSAGE = 2_000  # characters
HIGHEST_PRICE = 10_00_00_000  # rupees: ten crore

_HINDI = ("hindi", "part", "offset")


@dataclass(frozen=True, slots=True)
class Mention:
    """A price in a text: `text[start:end]` names `amount` rupees."""

    start: int
    end: int
    amount: float


def price(text: str) -> float:
    """The one price that a message offers, in rupees, above zero and up to `HIGHEST_PRICE`.

    Raises ValueError, with a sentence for the visitor who wrote it, if there is no such price or
    more than one.
    """
    if len(text) > LONGEST_MESSAGE:
        most, length = group_digits(str(LONGEST_MESSAGE)), group_digits(str(len(text)))
        raise ValueError(f"Write at most {most} characters; this message has {length}.")
    if not text.strip():
        raise ValueError("Say one price in rupees, such as ₹450; the message is empty.")
    line = numerals.tokenize(without_code(text))
    mentions = _mentions(line)
    mentions = [mentions[k] for k in keep_standing(line, [(m.start, m.end) for m in mentions])]
    quotes = {mention.amount: _quote(text[mention.start : mention.end]) for mention in mentions}
    if not quotes:
        raise ValueError(_no_price(text, line))
    for amount, quote in quotes.items():
        if abs(amount) > HIGHEST_PRICE:
            raise ValueError(f"Say a price up to {rupees(HIGHEST_PRICE)}; I read {quote}.")
    if len(quotes) > 1:
        *firsts, last = map(rupees, list(quotes)[:4])
        how_many = {2: "two", 3: "three", 4: "four"}.get(len(quotes), f"{len(quotes)}, among them")
        listed = f"{', '.join(firsts)} and {last}"
        raise ValueError(f"Say one price, such as ₹450; I read {how_many}: {listed}.")
    (amount,) = quotes
    if is_of_many(line):
        each = f"{rupees(amount)} for each of several"
        raise ValueError(f"Say one price for everything, such as ₹450; I read {each}.")
    if amount <= 0:
        raise ValueError(f"Say a price above ₹0, such as ₹450; I read {rupees(amount)}.")
    return amount


def _no_price(text: str, line: Sequence[Token]) -> str:
    for i, token in enumerate(line[:-4]):
        number = number_at(line, i) if token.is_number else None
        if number and is_foreign(line, i, number.end):
            first = i - (line[i - 1].key in WORDS.foreign)
            last = number.end - (line[number.end].key not in WORDS.foreign)
            amount = _quote(text[line[first].start : line[last].end])
            return f"Prices are in rupees; I read {amount}. Say one price in rupees, such as ₹450."
    return f"Say one price in rupees, such as ₹450; I read none in {_quote(text)}."


def find_price(text: str) -> int | None:
    """The one price that a message offers, in whole rupees; None if `price` raises.

    Paise are rounded to the nearest rupee, half a rupee up; below that it is None.
    """
    try:
        amount = price(text)
    except ValueError:
        return None
    return int(amount + 0.5) or None


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:40]}…”" if len(line) > 40 else f"“{line}”"


def prices(text: str) -> tuple[Mention, ...]:
    """Every price in a text, in order; negative after a minus sign."""
    return _mentions(numerals.tokenize(text))


def _mentions(line: Sequence[Token]) -> tuple[Mention, ...]:
    mentions: list[Mention] = []
    i = free = 1  # tokens before `free` belong to the price before
    while line[i].kind != "edge":
        number = number_at(line, i)
        if number is None:
            i += 1
            continue
        first, marked, sign = _find_start(line, i, free)
        amount, end = number.value * _shared_scale(line, i, number), number.end
        everyday = amount == number.value and _is_everyday(line, i, number)
        if line[end].key in WORDS.paise:
            amount, marked, end = amount / 100, True, end + 1
        elif _closes(line, end, everyday):
            marked, end = True, end + 1
            paise = small_at(line, end)
            if paise and paise.value < 100 and line[paise.end].key in WORDS.paise:
                amount, end = amount + paise.value / 100, paise.end + 1
        if marked:
            is_least = amount in (1, 0.01) and line[end].key in WORDS.least
            is_price = not is_least and not is_cut(line, end)
        else:
            plain = not everyday or _is_cued(line, i, end)
            is_price = plain and not is_other(line, i, number)
        if is_price:
            mentions.append(Mention(line[first].start, line[end - 1].end, sign * round(amount, 2)))
        i = free = end
    return tuple(mentions)


def _find_start(line: Sequence[Token], i: int, free: int) -> tuple[int, bool, int]:
    """The first token of the price of the number at `i`, whether currency precedes it, its sign."""
    marked, sign = False, 1
    for start in range(i, free, -1):
        outer, before, token = line[start - 2 : start + 1]
        is_dash = before.key in ("-", "−", "–") and before.touches(token)
        if before.kind == "currency" and not marked:
            marked = True
        elif before.key in ("minus", "negative", "माइनस"):
            sign = -1
        elif is_dash and (outer.kind in ("currency", "mark") or not outer.touches(before)):
            if start - 1 == free > 1:
                return start, marked, sign  # it follows a number: "450 -500" is a range
            sign = -1
        else:
            return start, marked, sign
    return free, marked, sign


def _closes(line: Sequence[Token], i: int, everyday: bool) -> bool:
    """Whether token `i` is the currency of the number before it, not of one after."""
    if line[i].kind != "currency":
        return False
    is_free = line[i].key not in WORDS.prefixes or not line[i + 1].is_number
    return is_free or not (everyday or line[i].touches(line[i + 1]))


def _shared_scale(line: Sequence[Token], i: int, number: Number) -> float:
    """The multiplier that the low end of a range takes from the high end: "do teen sau"."""
    j = number.end
    joined = line[j].key in WORDS.to
    in_words = line[i].kind == line[j].kind != "digits"
    in_hindi = line[i].kind in _HINDI and line[j].kind in _HINDI  # "do dhai hazaar"
    if number.scale != 1 or not (joined or in_words or in_hindi):
        return 1.0
    high = number_at(line, j + joined)
    if high is None or high.value != high.base * high.scale or high.base <= number.value:
        return 1.0
    return high.scale if joined or high.base <= number.value + 5 else 1.0


def _is_everyday(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether a number is a single word that often does not mean a price, such as "do"."""
    before, token, after = line[i - 1 : i + 2]
    if token.kind in ("part", "offset"):
        return number.scale == 1
    if token.kind == "times" and after.is_number:
        return False  # "sau do sau" is 100 to 200
    if before.kind == "times" and before.value >= 100_000 and token.key not in WORDS.weak:
        return False  # "ek lakh bees": two numbers, so that `price` asks
    is_small = token.kind in ("english", "hindi") and token.value <= 10
    return number.end == i + 1 and (is_small or token.key in WORDS.everyday)


def _is_cued(line: Sequence[Token], i: int, end: int) -> bool:
    """Whether the words after an everyday number show a price: "sau mein de do"."""
    at, after = line[end], line[end + 1]
    if at.key not in WORDS.at or line[i].key in ("ek", "एक", "one") or line[i].value == 0.5:
        return False  # "aadhe mein" is at half the price
    return after.key in WORDS.give or (after.kind in ("mark", "edge") and at.key != "me")


_QUOTES = {'"': '"', "'": "'", "″": "″", "”": "“"}  # marks of inches and feet, and what opens them
YEARS = range(1950, 2036)


def is_other(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether the number at token `i`, which has no rupee sign or word, is no price."""
    other = _is_name(line, i, number) or _is_count(line, i, number)
    return other or is_foreign(line, i, number.end)


def is_of_many(line: Sequence[Token]) -> bool:
    """Whether a message gives the price of one piece and the number of pieces."""
    says_each = any(
        token.key in WORDS.each or (token.key in WORDS.one and after.key in WORDS.ones)
        for token, after in pairwise(line)
    )
    return says_each and any(
        token.kind == "digits"
        and 1 < token.value <= 100
        and (before.key in WORDS.take or after.key in WORDS.pieces or _is_plural(after))
        for before, token, after in zip(line, line[1:], line[2:], strict=False)
    )


def _is_name(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether digits are a model, a code, an age, a day, an hour or a year."""
    before, token = line[i - 1], line[i]
    if before.key == "#":
        return True
    if token.kind != "digits":
        return False
    is_plain = token.key.isdecimal()
    is_day = token.value <= 31
    is_age = before.key in ("am", "m", "im") and line[number.end].kind in ("mark", "edge")
    is_hour = any(word.key in WORDS.motion for word in line[max(0, i - 5) : i - 1])
    return (
        (before.touches(token) and before.kind not in ("mark", "currency"))
        or (is_plain and len(token.key) >= 10)
        or (before.key in WORDS.labels and token.value < 100)
        or (is_age and is_plain and token.value < 100)
        or before.key in WORDS.codes
        or (before.key in ("is", "hai", ":") and line[i - 2].key in WORDS.codes)
        or (before.key == "in" and is_plain and token.value <= 60)  # "back in 5"
        or before.key in WORDS.distance
        or (before.key == "of" and line[i - 2].key in WORDS.out)  # "9 out of 10"
        or (before.key == "no" and line[max(0, i - 2)].key in WORDS.numbered)
        or (before.key in ("after", "before", "by", "till", "until") and token.value <= 12)
        or (before.key == "at" and token.value <= 12 and is_hour)
        or (before.key in WORDS.months and is_day)
        or (is_plain and token.value in YEARS and _is_year(line, i))
    )


def _is_year(line: Sequence[Token], i: int) -> bool:
    """Whether a number between 1950 and 2035 is a year: "2019 model", "2021 mein kharida"."""
    before, after, then = line[i - 1], line[i + 1], line[i + 2]
    return (
        before.key in WORDS.months | WORDS.bought
        or before.key in ("since", "year", "model", "a")
        or (before.key == "from" and after.key not in WORDS.to)
        or (before.key == "in" and line[i - 2].key in WORDS.bought)
        or after.key in WORDS.model | WORDS.brands
        or (after.key in WORDS.of and then.key in WORDS.model)
        or (after.key in WORDS.at and then.key in WORDS.took)
    )


def is_foreign(line: Sequence[Token], i: int, end: int) -> bool:
    """Whether the number at [i:end] is an amount in another currency."""
    return line[i - 1].key in WORDS.foreign or line[end].key in WORDS.foreign


def _is_count(line: Sequence[Token], first: int, number: Number) -> bool:
    """Whether the tokens around a number show that it counts or measures something."""
    i = number.end
    last, after, then = line[i - 1], line[i], line[i + 1]
    if after.key in WORDS.to and (high := number_at(line, i + 1)) and number.value < high.value:
        return line[high.end].kind == "unit"  # "2-3 din"
    glued = last.kind == "digits" and last.touches(after)
    return (
        after.kind == "unit"
        or after.key in ("%", "°")
        or (glued and _is_length(line, i))
        or (glued and (after.kind == "word" or after.is_number) and after.key not in WORDS.glued)
        or (glued and after.key == "-" and after.touches(then) and then.kind == "unit")
        or (after.key in ("aur", "और", "interested", "serious") and then.kind == "unit")
        or (after.key in WORDS.months and number.value <= 31)
        or (after.key == "of" and then.key in ("them", "these", "those", "us"))
        or (number.value < 100 and after.key in WORDS.size)
        or (number.value < 100 and _is_plural(after))
        or (number.value <= 10 and after.kind == "word" and after.key not in WORDS.after_small)
        or (number.value <= 20 and _is_priced_count(line, first, number))
        or is_cut(line, i)
    )


def _is_length(line: Sequence[Token], i: int) -> bool:
    """Whether the mark at `i` means inches or feet: 32", and not the end of "32"."""
    mark = line[i].key
    if mark not in _QUOTES or (line[i + 1].kind == "word" and mark == "'"):
        return False
    window = list(zip(line[max(0, i - 13) : i], line[max(1, i - 12) : i], strict=False))
    closed = sum(token.key == mark and before.kind == "digits" for before, token in window)
    opened = sum(token.key == _QUOTES[mark] and before.kind != "digits" for before, token in window)
    return opened <= closed if mark == "”" else opened == 0


def _is_priced_count(line: Sequence[Token], first: int, number: Number) -> bool:
    """Whether a small number counts the pieces of a price: "2 for 900", "900 for 2"."""
    before, after = line[first - 1], line[number.end]
    if after.key in WORDS.for_pieces:
        j = number.end + 1
        price = number_at(line, j + (line[j].kind == "currency"))
        return price is not None and price.value > number.value
    if before.key not in WORDS.for_pieces and not (
        before.key in WORDS.all and line[first - 2].key in WORDS.for_pieces
    ):
        return False
    earlier = line[max(0, first - 6) : first - 1]
    if any(token.key in WORDS.each for token in earlier):
        return False
    return any(token.is_number and token.value > number.value for token in earlier)


def _is_plural(token: Token) -> bool:
    word = token.key
    return (
        token.kind == "word"
        and len(word) > 3
        and word.endswith("s")
        and word not in WORDS.no_plural
    )


def is_cut(line: Sequence[Token], i: int) -> bool:
    """Whether the number before token `i` is a cut in a price: 500 off, 500 kam karo."""
    return line[i].key in WORDS.off or (
        line[i].key in ("kam", "कम") and line[i + 1].key.startswith(("kar", "kij", "कर", "किज"))
    )


MOST = 4  # prices; a message with more offers no single price

_MARKS = frozenset(".…,!?-–—")
_NOT, _WHY = fold("not"), fold("why")
_OVER = (["instead", "of"], ["rather", "than"], ["take", "back"])  # "450 instead of 500"


def keep_standing(line: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The indices of the prices at `spans` that the message does not take back.

    A span is [start:end] in the text whose `numerals.tokenize` are `line`.
    """
    if not 0 < len(spans) <= MOST:
        return list(range(len(spans)))
    parts = _parts(line, spans)
    left = [k for k in range(len(spans)) if not _is_rejected(parts, k)]
    return [k for k in left if not any(later > k and _replaces(parts, k, later) for later in left)]


def _parts(line: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The words and marks before the first price, between prices, and after the last."""
    keys: list[list[str]] = [[] for _ in range(len(spans) + 1)]
    for token in line:
        if token.kind != "edge" and not any(start <= token.start < end for start, end in spans):
            keys[sum(start <= token.start for start, _ in spans)].append(token.key)
    return keys


def _is_rejected(parts: Sequence[list[str]], k: int) -> bool:
    before, after = parts[k], parts[k + 1]
    if before[-1:] == [_NOT] and before[-2:-1] != [_WHY]:
        return True
    if k and before[-2:] == ["instead", "of"] and WORDS.said.intersection(parts[k - 1][-2:]):
        return False  # "I typed 174 instead of 164"
    if before[-2:] in _OVER or WORDS.aside.intersection(before[-2:]):
        return True
    # "Scratch that" takes back a price that follows only where none came before.
    if _says_scratch(before, len(before) - 2, WORDS.the if k else WORDS.the | WORDS.that):
        return True
    clause = takewhile(lambda key: key not in _MARKS, reversed(before))
    if WORDS.slips.intersection(islice(clause, 3)):
        return True
    if (
        k
        and WORDS.now.intersection(parts[k - 1][-4:])
        and WORDS.former_price.intersection(before[-4:])
    ):
        return True  # "new price 700, old price 800"
    if k and before == ["from"] and parts[k - 1][-1:] == ["to"]:
        return True  # "up to 450 from 400"
    if k and len(before) == 1 and before[0] in WORDS.or_words and _is_rejected(parts, k - 1):
        return True  # "not 450 or 500"
    return _is_denied(after, is_last=k + 2 == len(parts))


def _says_scratch(keys: Sequence[str], i: int, following: frozenset[str]) -> bool:
    """Whether word `i` is an order to scratch what one of `following` stands for.

    A scratch alone is one on the item.
    """
    if i < 0 or keys[i] not in WORDS.scratch or keys[i + 1] not in following:
        return False
    return i == 0 or keys[i - 1] in _MARKS | WORDS.before_scratch


def _is_denied(after: Sequence[str], is_last: bool) -> bool:
    """Whether "nahi" follows a price, or between two prices "no" does."""
    rest = [key for key in after if is_last or key not in _MARKS]
    while rest and rest[0] in WORDS.links:
        rest = rest[1:]
    if not rest or (len(rest) > 1 and rest[1] in WORDS.or_else):
        return False
    if is_last:
        return rest[0] in WORDS.no and "?" not in after
    return rest[0] in WORDS.no or (rest[0] == "no" and not WORDS.more.intersection(rest[1:2]))


def _replaces(parts: Sequence[list[str]], k: int, later: int) -> bool:
    """Whether the words around prices `k` and `later` replace the first by the second."""
    gap = [key for part in parts[k + 1 : later + 1] for key in part]
    before, after = parts[k], parts[later + 1]
    if gap == ["to"]:
        return bool(WORDS.moves.intersection(before[-5:]))  # "drop it from 500 to 450"
    if gap in (["se"], ["से"]):
        return bool(WORDS.makes.intersection(after[:1]))  # "300 se 340 kar do"
    if len(gap) == 1 and gap[0] in WORDS.or_words:
        return False
    if WORDS.replaces.intersection(gap) or WORDS.said.intersection(before[-2:]):
        return True
    if WORDS.much.intersection(gap[:3]) and gap[0] not in WORDS.than:
        return True
    if any(key in WORDS.make and then in WORDS.it for key, then in pairwise(gap)):
        return True
    if any(_says_scratch(gap, i, WORDS.that) for i in range(len(gap) - 1)):
        return True
    was = WORDS.earlier.intersection([*before[-3:], *gap])
    is_past = WORDS.said.intersection(gap) and WORDS.past.intersection(
        gap
    )  # "500 kaha tha, 550 lo"
    return bool(is_past or (was and WORDS.now.intersection([*gap, *after[:1]])))


_CODE = re.compile(
    r"""
    \A\s*<([a-z]\w*)[^<>]*>.*</\1\s*>\s*\Z                     # a message that is one element
  | <(script|style)\b[^<>]*>.*?(?:</\2\s*>|\Z)
  | </?[a-z!][^<>]*>                                           # a tag; its text stays
  | &lt;.{0,200}?&gt; | &\#?\w+;                                     # the same, escaped
  | <%.{0,200}?%> | \$?\{[^{}]*\}                                    # a template
  | (?:https?://|www\.)\S+ | (?<!\S)[\w.+-]{1,64}@\w+\.\w\S*                    # an address
  | (?<![\w.])(?!rs\b|inr\b)[a-z_][\w.]{0,40}\([^()]{0,200}\)                # a call: alert(1)
  | (?<![\w.])\d{1,9}(?:\s?==?\s?|\*+)\d{1,9}(?!\w)                    # 1=1, 7*7
  | \bselect\s+[\w*,.\s]{1,60}?\sfrom\s+\w+\s*(?:;|where\b|limit\b|order\b|\Z)[^\n;]*
  | (?<!\w)(?!rs\b)[a-z_]{1,2}\s?=\s?["']?\d+                 # x = 1
  | (?:(?<!\d)\d{1,9}\s?['"]?;\s?)?                                     # 1; drop table offers
    \b(?:insert\s+into|delete\s+from|drop\s+table|union\s+select|update\s+\w+\s+set)\b[^\n;]*
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE | re.ASCII,
)
_DEEPEST = 3  # levels of braces in braces


def without_code(text: str) -> str:
    """`text` with spaces in place of its code, so that every other character keeps its position."""
    for _ in range(_DEEPEST):
        text = _CODE.sub(lambda match: " " * len(match.group()), text)
    return text
