"""What is said in three languages, by language and seat; all of it stands in CSV files.

`LINES[language][seat][situation]` go with moves, and # stands for the price of the move.
`CHAT_LINES` are these and the lines that the chat alone says. `CLAIMS` are a seller's claims, a
sentence each. `ANSWERS` answer small talk; those under "both" are of either seat, with facts such
as {item} in braces.

`seller_lines.csv` holds each English line of the classic sellers in Hinglish and Hindi;
`translate_phrases` puts sentences of the corpus into another language.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import cycle, product

from env import corpus, speech
from sauda.language import read_rows

ENGLISH, HINGLISH, HINDI = "en", "hinglish", "hi"
Lines = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]


def _by_language(rows: Sequence[Mapping[str, str]]) -> Lines:
    """The lines by language, seat and kind, in the order of the rows."""
    lines: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for language, row in product((ENGLISH, HINGLISH, HINDI), rows):
        kinds = lines.setdefault(language, {}).setdefault(row["seat"], {})
        kinds[row["kind"]] = (*kinds.get(row["kind"], ()), row[language])
    return lines


def _lines_of(*tables: str) -> Lines:
    return _by_language([row for row in read_rows("lines.csv") if row["table"] in tables])


LINES, CHAT_LINES = _lines_of("move"), _lines_of("move", "chat")
CLAIMS = _lines_of("claim")
ANSWERS = _by_language(read_rows("answers.csv"))


@cache
def hindi_names() -> Mapping[str, str]:
    """The Hindi of each item of the catalogue and the classic markets, condition and category."""
    return {row["name"]: row["hindi"] for row in read_rows("items.csv")}


@cache
def drawings() -> Mapping[str, str]:
    """The kind of goods that each item is, by which it is drawn: a symbol of `pictures.svg`."""
    return {row["name"]: row["drawing"] for row in read_rows("items.csv") if row["drawing"]}


def name_in(language: str, name: str) -> str:
    """An item's name, condition or category; in English where it has no Hindi form."""
    return hindi_names().get(name, name) if language == HINDI else name.replace("_", " ")


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
    for end in (match.end() for match in re.finditer(r"[.?!] ", message)):
        first, second = message[: end - 1], message[end:]
        if (start := _line(first, language)) and (two := _line(second, language)):
            return f"{start} {two}"
    return ""


def _line(text: str, language: str) -> str:
    """One line in `language`; "" where no template fits."""
    for template, pattern in _patterns().items():
        if match := pattern.fullmatch(text):
            values = {name: name_in(language, value) for name, value in match.groupdict().items()}
            return translations()[template][language].format(**values)
    return ""


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    groups = {r"\{price\}": r"(?P<price>₹[\d,.]*\d)", r"\{item\}": "(?P<item>.+?)"}
    places = "|".join(map(re.escape, groups))
    return {
        template: re.compile(re.sub(places, lambda name: groups[name[0]], re.escape(template)))
        for template in translations()
    }


# Sentences of the corpus -------------------------------------------------------------------------

ENDS = ".!?।"  # of a sentence
RUPEES = re.compile(r"₹(?:\d[\d,]*)?\d")


@cache
def translate_phrases(line: str, language: str) -> str:
    """The line with each sentence of the corpus as one of the same meaning in `language`.

    The rest stays.
    """
    spoken = corpus_language(line)
    if spoken in ("", language):
        return line
    book = _book(spoken, language)
    translated = _phrases(spoken, language).sub(lambda match: _translate(match[0], book), line)
    return re.sub(r"[.।](?=\s|$)", "।" if language == "hi" else ".", translated)


def corpus_language(line: str) -> str:
    """The language of the corpus whose sentences for measured games a line holds; "" for none."""
    lengths = {
        language: sum(len(match[0]) for match in _of_corpus(language).finditer(line))
        for language in speech.LANGUAGES
    }
    longest = max(lengths, key=lengths.get)
    return longest if lengths[longest] else ""


@cache
def _of_corpus(language: str) -> re.Pattern[str]:
    rows = corpus.sentences(language, "evaluation").items()
    texts = [text for (family, _), texts in rows if family != "mark" for text in texts]
    return _finder({text.rstrip(ENDS) for text in (*texts, speech.DONE[language])})


def _translate(phrase: str, book: Mapping[str, str]) -> str:
    prices = cycle(RUPEES.findall(phrase))  # a sentence may name its price twice
    return re.sub("#", lambda _: next(prices), book[RUPEES.sub("#", phrase)])


@cache
def _book(spoken: str, language: str) -> Mapping[str, str]:
    """Every phrase of one language and the same one in another, "#" for a price."""
    meant = {}
    for meaning, options in corpus.sentences(spoken, "evaluation").items():
        if meaning[0] == "none":  # nobody says it in a game
            continue
        others = corpus.fitting(language, "evaluation", *meaning)  # whatever is on the table
        for at, phrase in enumerate(options):
            meant[phrase.rstrip(ENDS)] = others[at * len(others) // len(options)].rstrip(ENDS)
    return meant | {speech.DONE[spoken].rstrip(ENDS): speech.DONE[language].rstrip(ENDS)}


@cache
def _phrases(spoken: str, language: str) -> re.Pattern[str]:
    return _finder(_book(spoken, language))


def _finder(phrases: Iterable[str]) -> re.Pattern[str]:
    """Finds a phrase as a whole, the longest that fits."""
    phrases = sorted(phrases, key=len, reverse=True)
    listed = "|".join(re.escape(phrase).replace(r"\#", RUPEES.pattern) for phrase in phrases)
    return re.compile(rf"(?<![^\s])(?:{listed})(?![^\s.,।!?])")
