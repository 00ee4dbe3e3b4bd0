"""The lines of both sides, by language and seat.

`LINES[language][seat][situation]` go with moves, `ANSWERS[language][seat][kind]` answer small talk;
the answers under "both" are those of either seat, and those to questions about the item stand in
`answers.csv`. `CHAT_LINES` are the lines of `LINES` and those
of `chat/`; `CLAIMS[language][kind]` is a claim in a sentence of its own.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sauda.language.speech.lines import english, hindi, hinglish
from sauda.language.speech.lines.chat import english as chat_english
from sauda.language.speech.lines.chat import hindi as chat_hindi
from sauda.language.speech.lines.chat import hinglish as chat_hinglish

ENGLISH, HINGLISH, HINDI = "en", "hinglish", "hi"
SituationLines = Mapping[str, tuple[str, ...]]
Lines = Mapping[str, Mapping[str, SituationLines]]
_LANGUAGES = {ENGLISH: english, HINGLISH: hinglish, HINDI: hindi}
_CHAT = {ENGLISH: chat_english, HINGLISH: chat_hinglish, HINDI: chat_hindi}


def _joined(lines: SituationLines, more: SituationLines) -> SituationLines:
    return {key: (*lines.get(key, ()), *more.get(key, ())) for key in {**lines, **more}}


LINES: Lines = MappingProxyType(
    {name: {"buyer": of.BUYER, "seller": of.SELLER} for name, of in _LANGUAGES.items()}
)
CHAT_LINES: Lines = MappingProxyType(
    {
        name: {
            "buyer": _joined(_LANGUAGES[name].BUYER, of.BUYER),
            "seller": _joined(_LANGUAGES[name].SELLER, of.SELLER),
        }
        for name, of in _CHAT.items()
    }
)
CLAIMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {name: of.CLAIMS for name, of in _CHAT.items()}
)


def _listed(language: str, seat: str) -> SituationLines:
    """The answers of a seat in `answers.csv`, by kind."""
    with Path(__file__).with_name("answers.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["seat"] == seat]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    return {kind: tuple(row[language] for row in rows if row["kind"] == kind) for kind in kinds}


ANSWERS: Lines = MappingProxyType(
    {
        name: {seat: _joined(answers, _listed(name, seat)) for seat, answers in of.ANSWERS.items()}
        for name, of in _LANGUAGES.items()
    }
)
