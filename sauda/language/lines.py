"""What is said in three languages, by language and seat; all of it stands in CSV files.

`lines.csv` and `answers.csv` have one line per row. `LINES[language][seat][situation]` go with
moves, and # stands for the price of the move. `CHAT_LINES` are these and the lines that the chat
alone says. `ACT_LINES` are a buyer's with a speech act of the open market; in them @ stands for
the price of another shop. `CLAIMS[language][kind]` is a claim in a sentence of its own.
`ANSWERS[language][seat][kind]` answer small talk; the answers under "both" are those of either
seat, with facts such as {item} in braces.

`items_hi.csv` has the Hindi names of the goods. The sellers of the classic markets speak English
lines with a price and an item in them: `seller_lines.csv` holds each in Hinglish and Hindi. The
phrases of the open market's sellers stand in three languages in its own file: each speaks one of
them, drawn with its deal, and `translate_phrases` says the same in the visitor's.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from env import speech
from sauda.language.numerals import read_rows

ENGLISH, HINGLISH, HINDI = "en", "hinglish", "hi"
SituationLines = Mapping[str, tuple[str, ...]]
Lines = Mapping[str, Mapping[str, SituationLines]]
Row = Mapping[str, str]


def _by_seat(rows: Sequence[Row], language: str) -> Mapping[str, SituationLines]:
    """The lines in a language by seat and kind, in the order of the rows."""
    seats: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows:
        kinds = seats.setdefault(row["seat"], {})
        kinds[row["kind"]] = (*kinds.get(row["kind"], ()), row[language])
    return seats


def _by_language(rows: Sequence[Row]) -> Lines:
    return MappingProxyType({name: _by_seat(rows, name) for name in (ENGLISH, HINGLISH, HINDI)})


_LINES = read_rows("lines.csv")
LINES = _by_language([row for row in _LINES if row["table"] == "move"])
CHAT_LINES = _by_language([row for row in _LINES if row["table"] in ("move", "chat")])
ACT_LINES = _by_language([row for row in _LINES if row["table"] == "act"])
CLAIMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        name: {row["kind"]: row[name] for row in _LINES if row["table"] == "claim"}
        for name in (ENGLISH, HINGLISH, HINDI)
    }
)
ANSWERS = _by_language(read_rows("answers.csv"))


CONDITIONS: Mapping[str, str] = {
    "new": "नई हालत",
    "like_new": "नई जैसी हालत",
    "very_good": "बहुत अच्छी हालत",
    "good": "अच्छी हालत",
    "acceptable": "चलने लायक़ हालत",
}
CATEGORIES: Mapping[str, str] = {
    "Bicycles and vehicles": "साइकिल और गाड़ियाँ",
    "Books and stationery": "किताबें और लिखने का सामान",
    "Electronics": "इलेक्ट्रॉनिक सामान",
    "Footwear": "जूते-चप्पल",
    "Furniture": "फ़र्नीचर",
    "Handicrafts and decor": "हस्तशिल्प और सजावट",
    "Home appliances": "घरेलू उपकरण",
    "Jewellery": "गहने",
    "Kitchenware": "रसोई का सामान",
    "Mobile phones": "मोबाइल फ़ोन",
    "Textiles and clothing": "कपड़े",
    "Toys and sports": "खिलौने और खेल",
}


@cache
def hindi_names() -> Mapping[str, str]:
    """The Hindi name of each item of the catalogue and of the classic markets."""
    return {row["name"]: row["hindi"] for row in read_rows("items_hi.csv")}


def name_in(language: str, name: str) -> str:
    """An item's name; as it is where the language is not Hindi or the name has no Hindi form."""
    return hindi_names().get(name, name) if language == HINDI else name


def condition_in(language: str, condition: str) -> str:
    """An item's condition in words."""
    words = condition.replace("_", " ")
    return CONDITIONS.get(condition, words) if language == HINDI else words


def category_in(language: str, category: str) -> str:
    """An item's category."""
    return CATEGORIES.get(category, category) if language == HINDI else category


PRICE = r"(?P<price>₹[\d,.]*\d)"


@cache
def translations() -> Mapping[str, Mapping[str, str]]:
    """The line in each other language by its English template, as in the sellers' LINES."""
    return {row.pop("english"): row for row in read_rows("seller_lines.csv")}


def translation(message: str, language: str) -> str:
    """A scripted seller's `message` in `language`; "" where it is no line of theirs.

    A pressing seller says a second line after the first.
    """
    if language == ENGLISH:
        return message
    if whole := _line(message, language):
        return whole
    for end in (found.end() for found in re.finditer(r"[.?!] ", message)):
        first, second = message[: end - 1], message[end:]
        if (one := _line(first, language)) and (two := _line(second, language)):
            return f"{one} {two}"
    return ""


def _line(text: str, language: str) -> str:
    """One line in `language`; "" where no template fits."""
    for pattern, template in _patterns():
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            if "item" in values:
                values["item"] = name_in(language, values["item"])
            return translations()[template][language].format(**values)
    return ""


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (
            re.compile(
                re.escape(template)
                .replace(r"\{price\}", PRICE)
                .replace(r"\{item\}", "(?P<item>.+?)")
            ),
            template,
        )
        for template in translations()
    )


# The open market's lines, phrase by phrase --------------------------------------------------------

RUPEES = re.compile(r"₹(?:\d[\d,]*)?\d")


@cache
def translate_phrases(line: str, language: str) -> str:
    """The line with every phrase that the table has put into `language`; the rest stays."""
    spoken = speech.language_of(line)
    if spoken == language:
        return line
    book = _book(spoken, language)
    said = _phrases(spoken, language).sub(lambda found: _translate(found[0], book), line)
    return re.sub(r"[.।](?=\s|$)", "।" if language == "hi" else ".", said)


def _translate(phrase: str, book: Mapping[str, str]) -> str:
    prices = iter(RUPEES.findall(phrase))
    return re.sub("#", lambda _: next(prices), book[RUPEES.sub("#", phrase)])


@cache
def _book(spoken: str, language: str) -> Mapping[str, str]:
    """Every phrase of one language and the same one in another, "#" for a price."""
    return {
        phrase: other
        for use in ("unseen", "seen")
        for key, options in speech.phrases(spoken, use).items()
        for phrase, other in zip(options, speech.phrases(language, use)[key], strict=True)
    }


@cache
def _phrases(spoken: str, language: str) -> re.Pattern[str]:
    """Finds a phrase as a whole, the longest that fits."""
    phrases = sorted(_book(spoken, language), key=len, reverse=True)
    listed = "|".join(re.escape(phrase).replace(r"\#", RUPEES.pattern) for phrase in phrases)
    return re.compile(rf"(?<![^\s])(?:{listed})(?![^\s.,।!?])")
