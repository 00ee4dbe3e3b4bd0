"""Prices in text, in rupees: digits and words, in English, Hinglish and Devanagari.

`prices` takes the numbers that `numerals` reads and drops those whose neighbours show that they
are something else: a count, a date, a model, a share. Every step looks a bounded way ahead, so
the time is linear in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from env import grouped, rupees
from sauda.language import numerals
from sauda.language.numerals import Number, Token, number_at, small_at, words

LONGEST_MESSAGE = 2_000  # characters
HIGHEST_PRICE = 10_00_00_000  # rupees: ten crore

_OFF = words("off discount less chhoot छूट")  # "500 off" names a cut
_TO = words("- – to se or ya से या")  # "2-3 hazaar", "do ya teen sau"
_AT = words("mein me pe par में मे पे पर")  # "32 mein", "32 pe"
_GLUED = _AT | words("ka ke ki tak only final का के की तक")  # "32mein" is still 32
_GIVE = words(
    "de dedo do dena dijiye dijiyega doge dega denge dunga doonga lunga loonga lenge le lo lelo "
    "chalega chalegi milega final pakka done deal theek thik bech becho kar karo ho hoga "
    "दे दो देना दीजिए दीजिये दोगे देंगे दूंगा लूंगा लेंगे ले लो चलेगा मिलेगा पक्का ठीक कर करो बेचो"
)  # "sau mein de do"
_NO_PLURAL = words(
    "this plus thanks always perhaps unless wapas yours theirs lets thats works sounds seems feels "
    "makes means does goes gets takes suits looks stays guys sirs yaars"
)  # "12 works" is a price, "12 chairs" a count
_LEAST = words(
    "bhi kam nahi nahin nhi upar zyada jyada less more lower भी कम नहीं ऊपर ज्यादा"
)  # "ek rupya bhi kam nahi": not one rupee less
_SIZE = words("size साइज़ साइज")  # "42 size chahiye"
_FOREIGN = ("$", "€", "£", "¥")


@dataclass(frozen=True, slots=True)
class Mention:
    """A price said in a text: `text[start:end]` names `amount` rupees."""

    start: int
    end: int
    amount: float


def price(text: str) -> float:
    """The one price that a message offers, in rupees, above zero and up to `HIGHEST_PRICE`.

    Raises ValueError, with a sentence for the visitor who wrote it, on anything else.
    """
    if len(text) > LONGEST_MESSAGE:
        most, length = grouped(str(LONGEST_MESSAGE)), grouped(str(len(text)))
        raise ValueError(f"Write at most {most} characters; this message has {length}.")
    if not text.strip():
        raise ValueError("Say one price in rupees, such as ₹450; the message is empty.")
    said = {mention.amount: _quoted(text[mention.start : mention.end]) for mention in prices(text)}
    if not said:
        raise ValueError(f"Say one price in rupees, such as ₹450; I read none in {_quoted(text)}.")
    for amount, quote in said.items():
        if abs(amount) > HIGHEST_PRICE:
            raise ValueError(f"Say a price up to {rupees(HIGHEST_PRICE)}; I read {quote}.")
    if len(said) > 1:
        *firsts, last = map(rupees, list(said)[:4])
        how_many = {2: "two", 3: "three", 4: "four"}.get(len(said), f"{len(said)}, among them")
        listed = f"{', '.join(firsts)} and {last}"
        raise ValueError(f"Say one price, such as ₹450; I read {how_many}: {listed}.")
    (amount,) = said
    if amount <= 0:
        raise ValueError(f"Say a price above ₹0, such as ₹450; I read {rupees(amount)}.")
    return amount


def find_price(text: str) -> int | None:
    """The one price that a message offers, in whole rupees; None where `price` would refuse it.

    Paise are rounded to the nearest rupee, half a rupee up; less than that is no price.
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
    """Every price said in a text, in order; negative where a minus sign stands before it."""
    line = numerals.tokens(text)
    mentions = []
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
            is_price = not is_least and not _is_cut(line, end)
        else:
            plain = not everyday or _is_cued(line, i, end)
            is_price = plain and not _is_name(line, i, number) and not _is_count(line, number)
        if is_price:
            mentions.append(Mention(line[first].start, line[end - 1].end, sign * round(amount, 2)))
        i = free = end
    return tuple(mentions)


def _opening(line: Sequence[Token], i: int, free: int) -> tuple[int, bool, int]:
    """Where the price of the number at `i` starts, whether currency precedes it, and its sign."""
    marked, sign = False, 1
    for start in range(i, free, -1):
        outer, before, here = line[start - 2 : start + 1]
        is_dash = before.key in ("-", "−", "–") and before.touches(here)
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
    joined = line[j].key in _TO
    if number.scale != 1 or not (joined or line[i].kind == line[j].kind != "digits"):
        return 1.0
    high = number_at(line, j + joined)
    if high is None or high.value != high.base * high.scale or high.base <= number.value:
        return 1.0
    return high.scale if joined or high.base <= number.value + 5 else 1.0


def _is_everyday(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether a number is a lone word that people say for other reasons."""
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
    """Whether an everyday word is a price after all: "sau mein de do"."""
    at, after = line[end], line[end + 1]
    if at.key not in _AT or line[i].key in ("ek", "एक", "one") or line[i].value == 0.5:
        return False  # "aadhe mein" is at half the price
    return after.key in _GIVE or (after.kind in ("mark", "edge") and at.key != "me")


def _is_name(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether digits are a model, a code, an age, a day, a year, or in another currency."""
    before, token, after = line[i - 1], line[i], line[number.end]
    if before.key in ("#", *_FOREIGN):
        return True
    if token.kind != "digits":
        return False
    is_plain = token.key.isdecimal()
    is_year = is_plain and 1950 <= token.value <= 2035
    is_day = token.value <= 31
    is_age = before.key in ("am", "m", "im") and line[number.end].kind in ("mark", "edge")
    return (
        (before.touches(token) and before.kind not in ("mark", "currency"))
        or (is_plain and len(token.key) >= 10)
        or (before.key in numerals.LABELS and token.value < 100)
        or (is_age and is_plain and token.value < 100)
        or before.key in numerals.CODES
        or (before.key in ("after", "before") and token.value <= 12)
        or (before.key in numerals.MONTHS and (is_day or is_year))
        or (is_year and before.key in ("since", "year", "model", "a", "born"))
        or (is_year and before.key == "in" and line[i - 2].key in numerals.BOUGHT)
        or (is_year and after.key in ("model", "edition", "version"))
    )


def _is_count(line: Sequence[Token], number: Number) -> bool:
    """Whether what follows a number shows that it counts or measures something."""
    i = number.end
    last, after, then = line[i - 1], line[i], line[i + 1]
    if after.key in _TO and (high := number_at(line, i + 1)) and number.value < high.value:
        return line[high.end].kind == "unit"  # "2-3 din"
    glued = last.kind == "digits" and last.touches(after)
    return (
        after.kind == "unit"
        or after.key in ("%", "°", *_FOREIGN)
        or (glued and (after.kind == "word" or after.is_number) and after.key not in _GLUED)
        or (glued and after.key == "-" and after.touches(then) and then.kind == "unit")
        or (after.key in ("aur", "और", "interested", "serious") and then.kind == "unit")
        or (after.key in numerals.MONTHS and number.value <= 31)
        or (after.key == "of" and then.key in ("them", "these", "those", "us"))
        or (number.value < 100 and after.key in _SIZE)
        or (number.value < 20 and _is_plural(after))
        or _is_cut(line, i)
    )


def _is_plural(token: Token) -> bool:
    word = token.key
    return token.kind == "word" and len(word) > 3 and word.endswith("s") and word not in _NO_PLURAL


def _is_cut(line: Sequence[Token], i: int) -> bool:
    """Whether the number before token `i` is a cut in a price: 500 off, 500 kam karo."""
    return line[i].key in _OFF or (
        line[i].key in ("kam", "कम") and line[i + 1].key.startswith(("kar", "kij", "कर", "किज"))
    )
