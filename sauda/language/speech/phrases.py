"""Recognises a text by short lists of words in English, Hinglish and Devanagari.

A list holds phrases separated by `;`. A phrase is found where a text has all its words, in any
order; a phrase that begins with `=` only where the text has no other word.
"""

from collections.abc import Mapping
from functools import lru_cache

from sauda.language.lexicon import keys, words
from sauda.language.numerals import Token, tokens
from sauda.language.speech.lines import ENGLISH, HINDI, HINGLISH

Phrases = tuple[tuple[frozenset[str], bool], ...]  # the words, and whether no other may stand

_HINGLISH = keys(
    "bhaiya bhai bhaiyya mein kitna kitne kitni nahi nahin nhi hai hain theek thik chalo rupaye "
    "rupay sahab saab namaste namaskar kya kyu kyun kam karo kar aapka aapke bahut bohot mehnga "
    "mehanga sasta acha achha accha dena dunga doge denge loge lunga bolo batao haan yaar hoon "
    "mera mere meri tum bas zyada jyada daam paisa paise chahiye wala raha rahe hoga lagao lagega "
    "chalega milega tha thi pehle purana purane lo ka ki ke ko dedo thoda thodi akhri aakhri gaya "
    "liya pakka bilkul abhi phir sirf yeh woh kaisa kaise rakho dijiye kijiye sau hazaar ji"
)
_HINGLISH_NUMBERS = keys("sau hazaar karod/karor dedh dhai/adhai sava saade/saadhe/saarhe paune")
_ENGLISH_NUMBERS = keys("hundred/hundreds thousand/thousands million/millions half")


def phrases(listed: str) -> Phrases:
    """The phrases of a list."""
    texts = [text.strip() for text in listed.split(";")]
    return tuple((keys(text.removeprefix("=")), text.startswith("=")) for text in texts)


def table(listed: Mapping[str, str]) -> Mapping[str, Phrases]:
    """The phrases of each kind of a text, in the order of the kinds."""
    return {kind: phrases(texts) for kind, texts in listed.items()}


def kind_of(text: str, kinds: Mapping[str, Phrases]) -> str:
    """The first of `kinds` that has a phrase in `text`; empty where none has."""
    found = words(text)
    said = frozenset(word.key for word in found if word.kind != "mark")
    asked = said | {word.key for word in found if word.key == "?"}
    for kind, listed in kinds.items():
        if any(said == phrase if alone else asked >= phrase for phrase, alone in listed):
            return kind
    return ""


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def language_of(text: str) -> str:
    """The language that a text is written in, number words included; "" for digits alone."""
    if any("\u0904" <= letter <= "\u0939" for letter in text):
        return HINDI
    said = {word.key for word in words(text) if word.kind == "word"}
    numbers = [token for token in tokens(text) if token.is_number]
    if said & _HINGLISH or any(map(_is_hinglish, numbers)):
        return HINGLISH
    is_english = any(len(key) > 1 and key.isascii() for key in said)
    return ENGLISH if is_english or any(map(_is_english, numbers)) else ""


def _is_hinglish(number: Token) -> bool:
    """Whether a number word is of Hinglish alone; "do", "char" and "sat" are English words too."""
    in_hindi = number.kind == "hindi" and number.value >= 10
    return in_hindi or number.key in _HINGLISH_NUMBERS


def _is_english(number: Token) -> bool:
    return number.kind == "english" or number.key in _ENGLISH_NUMBERS
