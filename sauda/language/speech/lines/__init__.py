"""The lines of both sides, by language and seat.

`LINES[language][seat][situation]` go with moves, `ANSWERS[language][seat][kind]` answer small talk;
the answers under "both" are those of either seat.
"""

from collections.abc import Mapping
from types import MappingProxyType

from sauda.language.speech.lines import english, hindi, hinglish

ENGLISH, HINGLISH, HINDI = "en", "hinglish", "hi"
Lines = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
_LANGUAGES = {ENGLISH: english, HINGLISH: hinglish, HINDI: hindi}

LINES: Lines = MappingProxyType(
    {name: {"buyer": of.BUYER, "seller": of.SELLER} for name, of in _LANGUAGES.items()}
)
ANSWERS: Lines = MappingProxyType({name: of.ANSWERS for name, of in _LANGUAGES.items()})
