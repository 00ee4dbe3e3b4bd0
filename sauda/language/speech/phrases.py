"""Recognises a text by short lists of words in English, Hinglish and Devanagari.

A list holds phrases separated by `;`. A phrase is found where a text has all its words, in any
order; a phrase that begins with `=` only where the text has no other word.
"""

from collections.abc import Mapping
from functools import lru_cache

from sauda.language.lexicon import keys, words
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
    """The language that a text is written in; empty where it has no word to tell by."""
    if any("\u0904" <= letter <= "\u0939" for letter in text):
        return HINDI
    said = {word.key for word in words(text) if word.kind == "word"}
    if said & _HINGLISH:
        return HINGLISH
    return ENGLISH if any(len(key) > 1 and key.isascii() for key in said) else ""
