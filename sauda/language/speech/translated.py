"""What scripted sellers say, and how a persona ends a line, in the visitor's language.

Policies speak English lines with a price and an item in them. `seller_lines.csv`, written for this
project, holds each line in Hinglish and Hindi.
"""

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sauda.language.lines import ENGLISH
from sauda.language.speech.items import name_in

FILE = Path(__file__).with_name("seller_lines.csv")
PRICE = r"(?P<price>₹[\d,.]*\d)"


@cache
def translations() -> Mapping[str, Mapping[str, str]]:
    """The line in each other language by its English template, as in the sellers' LINES."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {row.pop("english"): row for row in csv.DictReader(lines)}


def translated(message: str, language: str) -> str:
    """A scripted seller's `message` in `language`; as it is where it is no line of theirs."""
    return translation(message, language) or message


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
