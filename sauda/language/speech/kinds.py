"""The kinds of talk in a text that makes no move; their phrases stand in `kinds.csv`.

The first row that has a phrase in a sentence counts, so the rude and the specific stand before the
general; of several sentences the one with the first row. Insults are compared as they are spelled:
folding joins "saale" with "sale" and "fool" with "full", and no plain word may become an insult.
"""

import re
from functools import lru_cache
from pathlib import Path

from sauda.language.lexicon import keys, words
from sauda.language.speech.phrases import PhraseTable, table

NO = keys("no nope nah never nahi/nahin/nhi na नहीं ना")  # begins a refusal
QUESTION, TOLD = "question", "told"  # of no kind that is known: a question, a statement
FOREIGN = table(
    {"foreign": "dollar; dollars; usd; euro; euros; eur; pound; pounds; yen; डॉलर; यूरो; पाउंड"}
)
_KINDS = PhraseTable(Path(__file__).with_name("kinds.csv"))
_NONE = (1_000, "")  # after every row
_RUDE = (_KINDS.row("insult"), "insult")
_TOLD = _KINDS.row(TOLD)
# An unknown question comes before the pleasantries beside it, which stand after the begging.
_ASKED = _KINDS.row("begging") + 0.5
# What a seller tells of these without a question is news, which the buyer cannot answer.
TOPICS = frozenset(
    (
        *("available", "why_sell", "why", "history", "defects", "warranty", "photos", "payment"),
        *("inspect", "pickup", "place", "included", "rivals", "item", "compliment"),
    )
)
SHORT = 2  # words; "?" after so few may be a slip
_SENTENCE = re.compile(r"[^.!?।\n]*[.!?।\n]?")


@lru_cache(maxsize=1024)
def kind_of_talk(text: str, to_buyer: bool = False) -> str:
    """The kind of talk in `text`, said `to_buyer` or to a seller; "" for an unknown one."""
    if whole := min(_KINDS.whole(text), default=None):
        return whole[1]
    sentences = _SENTENCE.findall(text)
    found = [_in_sentence(sentence, to_buyer) for sentence in sentences]
    asked = [row for sentence, row in zip(sentences, found, strict=True) if "?" in sentence]
    known = [row for row in asked if row[1] not in ("", "greeting")]
    # What is asked comes before what is said beside it, but for what is rude.
    return min([*(known or found), *(row for row in found if row <= _RUDE)])[1]


def _in_sentence(sentence: str, to_buyer: bool) -> tuple[float, str]:
    """The row and the kind of talk in a sentence."""
    rows = set(_KINDS.found(sentence))
    length = sum(word.kind != "mark" for word in words(sentence))
    if any(kind == QUESTION for _, kind in rows) or ("?" in sentence and length > SHORT):
        known = {(place, kind) for place, kind in rows if kind not in (QUESTION, TOLD)}
        return min(known | {(_ASKED, QUESTION)})
    if to_buyer:
        rows = {(_TOLD, TOLD) if kind in TOPICS else (place, kind) for place, kind in rows}
    return min(rows, default=_NONE)
