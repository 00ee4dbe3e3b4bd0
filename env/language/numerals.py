"""Numbers in text, read from left to right: digits, and words in English, Hinglish and Devanagari.

Hindi has a word of its own for every number up to 99, and each is romanised in many ways, so words
are looked up by `fold`, which maps the common spellings to one. `number_words.csv` has the words of
each number, with the spellings that folding cannot join: "dedh sau" is 150, "saade teen" 3.5, "sava
sau" 125, "paune do sau" 175. `tokenize` cuts a text up; `number_at` joins tokens ("do hazaar
paanch sau"). `WORDS` are the lists of `word_lists.csv`, which says what each is for.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import NamedTuple

from ..core import read_rows

_SPELLINGS = (
    (re.compile("[\u093c\u0901\u0902\u200c\u200d]"), ""),  # nukta, nasal signs, joiners
    (re.compile("ई"), "इ"),
    (re.compile("ी"), "ि"),
    (re.compile("ट्ठ"), "ठ"),
    (re.compile("नबे$"), "नवे"),
    (re.compile("chh"), "ch"),
    (re.compile("ee"), "i"),
    (re.compile("oo"), "u"),
    (re.compile("ou"), "au"),
    (re.compile("w"), "v"),
    (re.compile("z"), "j"),
    (re.compile(r"([a-z])\1+"), r"\1"),
)


def fold(word: str) -> str:
    """One key for the common spellings of a word: hazaar, hazar, hajaar; पाँच, पांच."""
    key = unicodedata.normalize("NFKD", word.lower())
    for pattern, replacement in _SPELLINGS:
        key = pattern.sub(replacement, key)
    return key


def words(text: str) -> frozenset[str]:
    """The folded words of `text`, for looking up folded words."""
    return frozenset(map(fold, text.split()))


LISTS: dict[str, frozenset[str]] = {}  # folded words; in the file {name} stands for a list before
for _row in read_rows("language/word_lists.csv"):
    _listed = (
        LISTS[_name[1:-1]] if _name[0] == "{" else {fold(_name)} for _name in _row["words"].split()
    )
    LISTS[_row["name"]] = frozenset().union(*_listed)
WORDS = SimpleNamespace(**LISTS)
VALUES: dict[str, dict[str, float]] = {}  # of number words, by kind and folded word
for _row in read_rows("language/number_words.csv"):
    _names = map(fold, _row["words"].split())
    VALUES.setdefault(_row["kind"], {}).update(dict.fromkeys(_names, float(_row["value"])))

MOST = 1e15  # digits count no more; without it "1e400" is infinite, and no amount of rupees
SHARES = {"half": 0.5, "quarter": 0.25}  # after "and a"

_ASCII = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}  # ４５０ to 450, one for one
_LETTER = r"(?:[^\W\d_]|[\u0900-\u0963\u0970-\u097f\u200c\u200d])"  # \w lacks the vowel signs
_POSTPOSITION = "mein|me|mei|mai|ka|ko|se|pe|par|tak"  # "15kmein"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_SPACE = "[ \u00a0\u2009\u202f]"
_SPACED = rf"""(?:\d{{1,2}}(?:{_SPACE}\d\d){{0,5}}{_SPACE}\d{{3}}    # 1 20 000, 14 500
    | \d{{1,3}}(?:{_SPACE}000){{1,5}} | \d{{1,3}}(?:{_SPACE}\d{{3}}){{2,5}})(?!{_SPACE}?\d)"""
_GROUPED = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d\d)*,\d{3})(?:[.e].*)?", re.IGNORECASE)
_TOKEN = re.compile(
    rf"""
    (?P<other>(?<![\w.,])(?:                                       # digits that are no amount
        \d{{1,2}}:\d\d(?!\d)                                       # 5:30
      | {_DAY}(?P<sep>[/.-]){_MONTH}(?P=sep)(?:\d{{4}}|\d\d)(?!\w)  # 12/05/2024
      | \d{{4}}-\d\d-\d\d(?!\w)                                    # 2024-05-12
      | {_DAY}/{_MONTH}(?![\w/]) | \d\.\d/(?:5|10)(?!\w)           # 12/5, 1/2, 10/10, 4.5/5
      | \d+(?:\.\d+){{2,}} | \d-in-\d                              # version 1.2.3, 2-in-1
      | \+\d{{1,3}}[ -]?\d{{5}}[ -]?\d{{5}}(?!\d)                  # +91 98765 43210
      | \d{{3}}-\d{{3}}-\d{{4}}(?!\w)                              # 555-555-5555
      | 0\d{{2,4}}[ -]\d{{3,4}}[ -]?\d{{3,4}}(?!\w|,\d)            # 022-2345 6789
      | (?!\d{{4}}0-\d{{4}}0)[6-9]\d{{4}}[ -]\d{{5}}(?![\d,])   # but 60000-65000 is a range
      | [48]k\s?(?:tv|uhd|ultra|hdr|video|display|monitor)(?!\w)
      | (?!rs-|inr-)(?-i:[A-Z]{{1,3}})-\d+\w*                      # PS-5
    ))
  | (?P<spaced>(?<!\d)(?<!\d[.,]){_SPACED}(?![.,]\d))
  | (?P<digits>(?:\d+(?:,\d+)*(?:\.\d+)?|(?<![\w.])\.\d+)(?:e[+-]?\d+(?!\w))?)
  | (?P<k>(?<=\d)\s?k(?=(?:{_POSTPOSITION})?(?!{_LETTER}))
        (?!\s+(?:liye|lie|andar|upar|neeche|niche|paas|aas|baad|saath)))
  | (?P<word>[₹₨]|/[-=](?!\d)|(?:rs|inr|रु|रू)\.(?=\s*[-−]?[\d.])|per[ ]cent|{_LETTER}+)
  | (?P<mark>\n|\S)""",
    re.IGNORECASE | re.VERBOSE,
)


class Token(NamedTuple):
    kind: str  # digits english hindi part offset times currency unit word mark other edge
    key: str  # the folded word; of digits and marks, the characters
    value: float
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.kind in ("digits", "english", "hindi", "part", "offset", "times")

    def touches(self, following: "Token") -> bool:
        return self.end == following.start


class Number(NamedTuple):
    value: float
    end: int  # index of the token after it
    base: float  # "do" in "do sau"
    scale: float = 1.0  # "sau" in "do sau"
    last: float = 1.0  # the last multiplier; what is added must be smaller


def tokenize(text: str) -> list[Token]:
    """`text` cut up, between edges: one token before the first and four after the last."""
    edge = Token("edge", "", 0.0, -9, -9)
    return [edge, *_cut(text.translate(_ASCII)), edge, edge, edge, edge]


def _cut(text: str) -> Iterator[Token]:
    token = Token("edge", "", 0.0, -9, -9)
    for match in _TOKEN.finditer(text):
        kind, key, (start, end) = match.lastgroup, match.group(), match.span()
        if kind in ("digits", "spaced"):
            for part in re.finditer(_amounts(kind, key, token, start), key):
                value = min(MOST, float(re.sub(r"[,\s]", "", part.group())))
                token = Token("digits", part.group(), value, *(start + i for i in part.span()))
                yield token
            continue
        if kind == "k":
            token = Token("times", "k", 1000.0, start, end)
        elif kind == "word":
            token = Token(*_meaning(fold(key.replace(" ", ""))), start, end)
        else:
            token = Token(kind, key, 0.0, start, end)
        yield token


def _amounts(kind: str, key: str, before: Token, start: int) -> str:
    """The pattern of one amount in `key`: the whole of it where its groups are those of a number.

    After a label digits grouped by a space are two numbers: "iPhone 13 500".
    """
    if kind == "digits":
        return ".+" if "," not in key or _GROUPED.fullmatch(key) else "[^,]+"
    is_code = before.end == start and before.kind not in ("mark", "currency")
    return r"\S+" if is_code or before.key in ("#", *WORDS.labels) else ".+"


def _meaning(key: str) -> tuple[str, str, float]:
    for kind, table in VALUES.items():
        if key in table:
            return kind, key, table[key]
    if key in WORDS.currency:
        return "currency", key, 0.0
    is_unit = key in WORDS.units or key.removesuffix("s") in WORDS.units
    return "unit" if is_unit else "word", key, 0.0


def number_at(line: Sequence[Token], i: int) -> Number | None:
    """The number that starts at token `i` of `tokens(...)`; None where none does."""
    is_verb = line[i].key in ("do", "दो") and line[i - 1].key in WORDS.before_do
    number = None if is_verb else _group(line, i)
    while number and number.last >= 1000 and (tail := _tail(line, number.end, number.last)):
        number = number._replace(value=number.value + tail.value, end=tail.end, last=tail.last)
    return number


def small_at(line: Sequence[Token], i: int) -> Number | None:
    """Digits or one number word below a hundred, "thirty-two" included."""
    token, j = line[i], i + 1
    if token.kind not in ("digits", "english", "hindi"):
        return None
    if token.kind == "english" and token.value >= 20:
        j += line[j].key == "-" and token.touches(line[j]) and line[j].touches(line[j + 1])
        if line[j].kind == "english" and 1 <= line[j].value <= 9:
            return Number(token.value + line[j].value, j + 1, token.value + line[j].value)
        j = i + 1
    return Number(token.value, j, token.value)


def _group(line: Sequence[Token], i: int) -> Number | None:
    """A count and its multipliers: "dhai sau", "two hundred and fifty thousand"."""
    number = _count(line, i)
    while number and (times := _times(line, number)) > number.last:
        unit, digit = line[number.end : number.end + 2]
        value, scale = number.value * times, number.scale * times
        number = Number(value, number.end + 1, number.base, scale, times)
        if times == 100 and (tail := _tail(line, number.end, 100)):
            number = number._replace(value=number.value + tail.value, end=tail.end)
        elif unit.key == "k" and unit.touches(digit) and digit.key in tuple("123456789"):
            tenths = digit.value / 10  # 3k5 is 3,500, but 2k19 is not
            number = number._replace(value=number.value + tenths * times, end=number.end + 1)
        elif (followed := _and_part(line, number.end))[0]:
            part, end = followed
            number = number._replace(value=number.value + part * times, end=end)
    return number


def _times(line: Sequence[Token], number: Number) -> float:
    """The multiplier that follows a number; 0 where none does."""
    before, token, after = line[number.end - 1 : number.end + 2]
    if token.kind == "times":
        return token.value
    ends = after.kind in ("mark", "edge", "currency")
    if token.key in WORDS.thousand:
        return 0.0 if after.key in WORDS.no_thousand else 1000.0
    is_weak = before.key in WORDS.weak and line[number.end - 2].kind != "times"  # "to do so"
    is_typed = before.kind in ("digits", "hindi") and not is_weak
    if token.key in WORDS.hundred_typed and is_typed and number.value < 100:
        goes_on = after.kind == "hindi" or after.key in WORDS.behind_so
        return 100.0 if ends or goes_on else 0.0
    if token.key == "k" and before.kind in ("english", "part") and before.key not in WORDS.weak:
        return 1000.0  # "six and a half K"
    is_lakh = token.key == "l" and before.kind == "digits" and before.touches(token)
    return 100_000.0 if is_lakh and (ends or after.key in WORDS.behind_so) else 0.0


def _and_part(line: Sequence[Token], i: int) -> tuple[float, int]:
    """The part of "and a half", "and three quarter" at token `i`, and its end; 0.0 elsewhere."""
    keys = [token.key for token in line[i : i + 3]]
    if keys[:2] == ["and", "a"]:
        return SHARES.get(keys[2], 0.0), i + 3
    is_quarters = keys[:2] == ["and", fold("three")] and keys[2] in ("quarter", "quarters")
    return (0.75, i + 3) if is_quarters else (0.0, i)


def _count(line: Sequence[Token], i: int) -> Number | None:
    token, after = line[i], line[i + 1]
    if token.key == "a" and (after.kind == "times" or after.key in WORDS.thousand):
        return Number(1.0, i + 1, 1.0)
    if token.kind == "times" and token.key in WORDS.whole:
        counts = line[i - 2] if line[i - 1].key == "of" else line[i - 1]
        return None if counts.key in WORDS.vague else Number(1.0, i, 1.0)
    if token.kind == "part":
        return Number(token.value, i + 1 + (after.key == "a"), token.value)
    if token.kind == "offset":
        base = Number(1.0, i + 1, 1.0) if after.kind == "times" else small_at(line, i + 1)
        return base and Number(base.value + token.value, base.end, base.value + token.value)
    number = small_at(line, i)
    if number is None:
        return None
    value, j = number.value, number.end
    is_joined = line[j].key == "-" and line[j - 1].touches(line[j])  # six-fifty
    k = j + (is_joined and line[j].touches(line[j + 1]))
    second = small_at(line, k) if token.kind == line[k].kind == "english" else None
    if second and 0 < value < 20 <= second.value and (value < 10 or second.value > value + 10):
        value, j = value * 100 + second.value, second.end  # "four fifty", but not "fifteen twenty"
    elif line[j].kind == "part" and line[j].value < 1 and line[j - 1].touches(line[j]):
        value, j = value + line[j].value, j + 1  # 1½
    elif (followed := _and_part(line, j))[0]:
        value, j = value + followed[0], followed[1]
    elif line[j].key == "point" and (tenths := small_at(line, j + 1)) and tenths.value < 10:
        value, j = value + tenths.value / 10, tenths.end
    return Number(value, j, value)


def _tail(line: Sequence[Token], i: int, below: float) -> Number | None:
    """What is added after a multiplier: the "paanch sau" of "do hazaar paanch sau"."""
    k = i + (line[i].key == "and" and line[i + 1].kind != "digits")
    tail = small_at(line, k) if below == 100 else _group(line, k)
    if tail is None or tail.last >= below or not 0 < tail.value < below:
        return None
    after = line[tail.end]
    if after.kind == "unit" or (after.value == below == 100):
        return None  # "do hazaar 2 din", "paanch sau chhe sau"
    if below > 1000 and tail.last == 1 and tail.value < 100:
        return None  # "ek lakh bees" may be 1,00,020 or 1,20,000
    if tail.end == k + 1 and line[k].key in WORDS.weak:
        spoken = ("currency",) if line[k].key in ("do", "दो") else ("currency", "mark", "edge")
        return tail if after.kind in spoken else None  # "paanch sau do" is "give 500"
    return tail
