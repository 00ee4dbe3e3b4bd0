"""Recognises numbers that are no prices: counts, sizes, ages, dates, hours, models, codes, cuts.

Each check looks at a bounded number of tokens around the number.
"""

from collections.abc import Sequence

from sauda.language import numerals
from sauda.language.numerals import Number, Token, number_at, words

_OFF = words("off discount less chhoot छूट")  # "500 off" names a cut
TO = words("- – to se or ya से या")  # "2-3 hazaar", "do ya teen sau"
AT = words("mein me pe par में मे पे पर")  # "32 mein", "32 pe"
GIVE = words(
    "de dedo do dena dijiye dijiyega doge dega denge dunga doonga lunga loonga lenge le lo lelo "
    "chalega chalegi milega final pakka done deal theek thik bech becho kar karo ho hoga "
    "दे दो देना दीजिए दीजिये दोगे देंगे दूंगा लूंगा लेंगे ले लो चलेगा मिलेगा पक्का ठीक कर करो बेचो"
)  # "sau mein de do"
_GLUED = (
    AT
    | GIVE
    | words(
        "ka ke ki ko se tak tk mai mei men meh par pr hi bhi bas wala wale wali only last fix "
        "fixed ish का के की को से तक वाला वाले वाली"
    )
)  # "32mein" and "500se" are prices
_AFTER_SMALL = (
    _GLUED
    | TO
    | words(
        "and but or if because bcoz please pls plz bhai bhaiya yaar sir madam ji each apiece per a "
        "an is for ok okay na max today now right this kya with total flat sounds seems "
        "would could maybe perhaps instead up so it take then thank thanks cash plus "
        "और भाई जी क्या बस"
    )
)  # other words after a bare number up to ten show that it counts something
_NO_PLURAL = words(
    "this plus thanks always perhaps unless wapas yours theirs lets thats works sounds seems feels "
    "makes means does goes gets takes suits looks stays guys sirs yaars fits helps feels comes "
    "covers leaves says sells beats saves needs includes sales boss"
)  # "12 works" is a price, "12 chairs" a count
_SIZE = words("size साइज़ साइज")  # "42 size chahiye"
_QUOTES = {'"': '"', "'": "'", "″": "″", "”": "“"}  # marks of inches and feet, and what opens them
_YEARS = range(1950, 2036)
_MODEL = words(
    "model edition version registered registration reg make manufactured manufacturing bought "
    "purchased onwards मॉडल"
)  # "2019 model"
_BRANDS = words(
    "honda hyundai maruti suzuki toyota tata mahindra bajaj hero yamaha tvs royal ktm ford kia "
    "chevrolet bmw audi dell hp lenovo apple macbook ipad samsung sony activa swift alto wagonr "
    "splendor pulsar bullet scooty"
)  # "2015 Honda"
_DISTANCE = words("driven clocked odometer")  # "driven 30000"
_TOOK = words(
    "kharida kharidi kharide kharid liya li bana bani aaya aayi launch mila mili खरीदा खरीदी खरीदे "
    "ख़रीदा लिया ली बना बनी आया आई मिला मिली"
)  # "2021 mein kharida"
_OF = words("ka ke ki का के की")  # "2019 ka model"
_FOR = words("for ke ka ki me mein के का की में")  # "2 for 900", "2 ke 900"
_MOTION = words("reach come coming arrive meet leave call pick pickup")  # "I'll reach at 5"
_EACH = words("each apiece per har प्रति हर")  # "120 each for 5" names no single price
_ONE, _ONES = words("ek एक"), words("ka ki ke का की के")  # "ek ka 80"
_PIECES = words(
    "piece pieces pc pcs unit units pair pairs lunga loonga lenge lene lena chahiye chaiye "
    "पीस लूंगा लेंगे चाहिए"
)  # "4 pieces", "4 chahiye"
_TAKE = words("for buy take need want")  # "120 each for 5"
_OUT, _ALL = words("out"), words("all")


def is_other(line: Sequence[Token], i: int, number: Number) -> bool:
    """Whether the number at token `i`, which has no rupee sign or word, is no price."""
    other = _is_name(line, i, number) or _is_count(line, i, number)
    return other or is_foreign(line, i, number.end)


def is_of_many(line: Sequence[Token]) -> bool:
    """Whether a message gives the price of one piece and the number of pieces."""
    return any(map(_is_each, line, line[1:])) and any(
        token.kind == "digits"
        and 1 < token.value <= 100
        and (before.key in _TAKE or after.key in _PIECES or _is_plural(after))
        for before, token, after in zip(line, line[1:], line[2:], strict=False)
    )


def _is_each(token: Token, after: Token) -> bool:
    return token.key in _EACH or (token.key in _ONE and after.key in _ONES)


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
    return (
        (before.touches(token) and before.kind not in ("mark", "currency"))
        or (is_plain and len(token.key) >= 10)
        or (before.key in numerals.LABELS and token.value < 100)
        or (is_age and is_plain and token.value < 100)
        or before.key in numerals.CODES
        or (before.key in ("is", "hai", ":") and line[i - 2].key in numerals.CODES)
        or (before.key == "in" and is_plain and token.value <= 60)  # "back in 5"
        or before.key in _DISTANCE
        or (before.key == "of" and line[i - 2].key in _OUT)  # "9 out of 10"
        or (before.key == "no" and line[max(0, i - 2)].key in numerals.NUMBERED)
        or (before.key in ("after", "before", "by", "till", "until") and token.value <= 12)
        or (before.key == "at" and token.value <= 12 and _is_hour(line, i))
        or (before.key in numerals.MONTHS and is_day)
        or (is_plain and token.value in _YEARS and _is_year(line, i))
    )


def _is_hour(line: Sequence[Token], i: int) -> bool:
    return any(token.key in _MOTION for token in line[max(0, i - 5) : i - 1])


def _is_year(line: Sequence[Token], i: int) -> bool:
    """Whether a number between 1950 and 2035 is a year: "2019 model", "2021 mein kharida"."""
    before, after, then = line[i - 1], line[i + 1], line[i + 2]
    return (
        before.key in numerals.MONTHS | numerals.BOUGHT
        or before.key in ("since", "year", "model", "a")
        or (before.key == "from" and after.key not in TO)
        or (before.key == "in" and line[i - 2].key in numerals.BOUGHT)
        or after.key in _MODEL | _BRANDS
        or (after.key in _OF and then.key in _MODEL)
        or (after.key in AT and then.key in _TOOK)
    )


def is_foreign(line: Sequence[Token], i: int, end: int) -> bool:
    """Whether the number at [i:end] is an amount in another currency."""
    return line[i - 1].key in numerals.FOREIGN or line[end].key in numerals.FOREIGN


def _is_count(line: Sequence[Token], first: int, number: Number) -> bool:
    """Whether the tokens around a number show that it counts or measures something."""
    i = number.end
    last, after, then = line[i - 1], line[i], line[i + 1]
    if after.key in TO and (high := number_at(line, i + 1)) and number.value < high.value:
        return line[high.end].kind == "unit"  # "2-3 din"
    glued = last.kind == "digits" and last.touches(after)
    return (
        after.kind == "unit"
        or after.key in ("%", "°")
        or (glued and _is_length(line, i))
        or (glued and (after.kind == "word" or after.is_number) and after.key not in _GLUED)
        or (glued and after.key == "-" and after.touches(then) and then.kind == "unit")
        or (after.key in ("aur", "और", "interested", "serious") and then.kind == "unit")
        or (after.key in numerals.MONTHS and number.value <= 31)
        or (after.key == "of" and then.key in ("them", "these", "those", "us"))
        or (number.value < 100 and after.key in _SIZE)
        or (number.value < 100 and _is_plural(after))
        or (number.value <= 10 and after.kind == "word" and after.key not in _AFTER_SMALL)
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
    if after.key in _FOR:
        j = number.end + 1
        price = number_at(line, j + (line[j].kind == "currency"))
        return price is not None and price.value > number.value
    if before.key not in _FOR and not (before.key in _ALL and line[first - 2].key in _FOR):
        return False
    earlier = line[max(0, first - 6) : first - 1]
    if any(token.key in _EACH for token in earlier):
        return False
    return any(token.is_number and token.value > number.value for token in earlier)


def _is_plural(token: Token) -> bool:
    word = token.key
    return token.kind == "word" and len(word) > 3 and word.endswith("s") and word not in _NO_PLURAL


def is_cut(line: Sequence[Token], i: int) -> bool:
    """Whether the number before token `i` is a cut in a price: 500 off, 500 kam karo."""
    return line[i].key in _OFF or (
        line[i].key in ("kam", "कम") and line[i + 1].key.startswith(("kar", "kij", "कर", "किज"))
    )
