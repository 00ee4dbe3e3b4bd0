"""Prices in text, in rupees: digits and words, in English, Hinglish and Devanagari.

`prices` takes the numbers that `numerals` finds and drops those that `not_prices` recognises as
something else: a count, a date, a model, a share. `price` finds the one price that a message
offers: it ignores code (`markup`) and prices that the message takes back (`corrections`). Every
step looks a bounded way ahead, so the time is linear in the length of the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from env import grouped, rupees
from sauda.language import numerals
from sauda.language.corrections import standing
from sauda.language.markup import without_code
from sauda.language.not_prices import AT, GIVE, TO, is_cut, is_foreign, is_of_many, is_other
from sauda.language.numerals import Number, Token, number_at, small_at, words

LONGEST_MESSAGE = 2_000  # characters
HIGHEST_PRICE = 10_00_00_000  # rupees: ten crore

_LEAST = words(
    "bhi kam nahi nahin nhi upar zyada jyada less more lower भी कम नहीं ऊपर ज्यादा"
)  # "ek rupya bhi kam nahi": not one rupee less
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
        most, length = grouped(str(LONGEST_MESSAGE)), grouped(str(len(text)))
        raise ValueError(f"Write at most {most} characters; this message has {length}.")
    if not text.strip():
        raise ValueError("Say one price in rupees, such as ₹450; the message is empty.")
    line = numerals.tokens(without_code(text))
    mentions = _mentions(line)
    mentions = [mentions[k] for k in standing(line, [(m.start, m.end) for m in mentions])]
    quotes = {mention.amount: _quoted(text[mention.start : mention.end]) for mention in mentions}
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
    """The sentence for a message without a price in rupees."""
    for i, token in enumerate(line[:-4]):
        number = number_at(line, i) if token.is_number else None
        if number and is_foreign(line, i, number.end):
            first = i - (line[i - 1].key in numerals.FOREIGN)
            last = number.end - (line[number.end].key not in numerals.FOREIGN)
            amount = _quoted(text[line[first].start : line[last].end])
            return f"Prices are in rupees; I read {amount}. Say one price in rupees, such as ₹450."
    return f"Say one price in rupees, such as ₹450; I read none in {_quoted(text)}."


def find_price(text: str) -> int | None:
    """The one price that a message offers, in whole rupees; None if `price` raises.

    Paise are rounded to the nearest rupee, half a rupee up; below that it is None.
    """
    try:
        amount = price(text)
    except ValueError:
        return None
    return int(amount + 0.5) or None


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:40]}…”" if len(line) > 40 else f"“{line}”"


def prices(text: str) -> tuple[Mention, ...]:
    """Every price in a text, in order; negative after a minus sign."""
    return _mentions(numerals.tokens(text))


def _mentions(line: Sequence[Token]) -> tuple[Mention, ...]:
    mentions: list[Mention] = []
    i = free = 1  # tokens before `free` belong to the price before
    while line[i].kind != "edge":
        number = number_at(line, i)
        if number is None:
            i += 1
            continue
        first, marked, sign = _opening(line, i, free)
        amount, end = number.value * _shared_scale(line, i, number), number.end
        everyday = amount == number.value and _is_everyday(line, i, number)
        if line[end].key in numerals.PAISE:
            amount, marked, end = amount / 100, True, end + 1
        elif _closes(line, end, everyday):
            marked, end = True, end + 1
            paise = small_at(line, end)
            if paise and paise.value < 100 and line[paise.end].key in numerals.PAISE:
                amount, end = amount + paise.value / 100, paise.end + 1
        if marked:
            is_least = amount in (1, 0.01) and line[end].key in _LEAST
            is_price = not is_least and not is_cut(line, end)
        else:
            plain = not everyday or _is_cued(line, i, end)
            is_price = plain and not is_other(line, i, number)
        if is_price:
            mentions.append(Mention(line[first].start, line[end - 1].end, sign * round(amount, 2)))
        i = free = end
    return tuple(mentions)


def _opening(line: Sequence[Token], i: int, free: int) -> tuple[int, bool, int]:
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
    is_free = line[i].key not in numerals.PREFIXES or not line[i + 1].is_number
    return is_free or not (everyday or line[i].touches(line[i + 1]))


def _shared_scale(line: Sequence[Token], i: int, number: Number) -> float:
    """The multiplier that the low end of a range takes from the high end: "do teen sau"."""
    j = number.end
    joined = line[j].key in TO
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
    if before.kind == "times" and before.value >= 100_000 and token.key not in numerals.WEAK:
        return False  # "ek lakh bees": two numbers, so that `price` asks
    is_small = token.kind in ("english", "hindi") and token.value <= 10
    return number.end == i + 1 and (is_small or token.key in numerals.EVERYDAY)


def _is_cued(line: Sequence[Token], i: int, end: int) -> bool:
    """Whether the words after an everyday number show a price: "sau mein de do"."""
    at, after = line[end], line[end + 1]
    if at.key not in AT or line[i].key in ("ek", "एक", "one") or line[i].value == 0.5:
        return False  # "aadhe mein" is at half the price
    return after.key in GIVE or (after.kind in ("mark", "edge") and at.key != "me")
