"""Finds prices of the past or of the market in a text, as in "I paid 10,800 for it".

Such a price is talk: nobody offers it. A price is one of the past where the words before or after
it in its clause say so.
"""

import re

from sauda.language.markup import without_code
from sauda.language.money import prices
from sauda.language.numerals import fold, tokens

_BREAK = re.compile(r"[.,;:!?।\n]")


def _phrases(listed: str) -> str:
    """A pattern for the phrases of a list, over folded words that each end in a space.

    `;` separates phrases, `/` joins words of one place, `~` stands for up to three other words.
    """
    places = [phrase.split() for phrase in listed.split(";")]
    return f"(?:{'|'.join(''.join(map(_place, phrase)) for phrase in places)})"


def _place(place: str) -> str:
    if place == "~":
        return r"(?:\S+ ){0,3}?"
    return f"(?:{'|'.join(re.escape(fold(word)) for word in place.split('/'))}) "


BEFORE = re.compile(
    r"(?:^|(?<= ))"
    + _phrases(
        "paid; bought/purchased/got ~ for/at; cost/costed/costs me/us/him/her; set me/us back; "
        "sells/retails/goes for/at; i/we/he/she/they/it/one/was/were/got/been/have sold ~ for/at; "
        "usually; normally; originally; used to be/cost/sell; it/they/mrp was/were; "
        "kharida; kharidi; kharide; liya/liye/laya tha; li thi; diye the; pada/bika/mila tha; "
        "ख़रीदा; ख़रीदी; ख़रीदे; लिया/लाया था; ली थी; लिए थे; दिए थे; पड़ा/बिका/मिला था"
    )
    + r"(?:\S+ ){0,2}$"
)
NO_PAST = re.compile(  # "I want to get paid 500", "if I paid 500"
    r"(?:^|(?<= ))" + _phrases("get/gets/be/being/getting paid; if/would/will/could/can ~ paid")
)
AFTER = re.compile(
    "^"
    + _phrases(
        "i/we paid; is/was ~ what i/we/he/she paid; was ~ price; last year/month; years ago; "
        "~ back then; when new; when i/we bought; "
        "~ kharida; ~ kharidi; ~ kharide; ~ liya/laya/aaya/pada/bika/mila/becha/diya tha; "
        "~ li/aayi/padi/biki/mili/bechi/di thi; ~ liye/diye/pade/mile the; ~ liya/li/liye hai; "
        "~ bikta/bikti/bikte/milta/milti/milte/aata/aati/aate hai/hain/tha/thi; "
        "ka/mein/me tha; ki/mein thi; "
        "~ ख़रीदा; ~ ख़रीदी; ~ ख़रीदे; ~ लिया/लाया/आया/पड़ा/बिका/मिला/बेचा/दिया था; "
        "~ ली/आई/पड़ी/बिकी/मिली/बेची/दी थी; ~ लिए/दिए/पड़े/मिले थे; ~ लिया/ली/लिए है; "
        "~ बिकता/बिकती/बिकते/मिलता/मिलती/मिलते/आता/आती/आते है/हैं/था/थी; "
        "का/में था; की/में थी; के थे"
    )
)
OFFERED = re.compile(  # before a word of the past these show an offer: "400 do, naya liya tha"
    r"(?:^|(?<= ))"
    + _phrases("do; de; dedo; dena; dunga; doonga; chahiye; lo; le; दो; दे; देना; दूँगा; चाहिए; लो")
)


def without_past_prices(text: str) -> str:
    """`text` with its prices of the past blanked out; as it is where it has none."""
    plain = without_code(text)
    found = prices(plain)
    if not found:
        return text
    ends = [*(mention.start for mention in found[1:]), len(plain)]
    kept, between = plain, plain[: found[0].start]
    for mention, end in zip(found, ends, strict=True):
        before = _folded(_BREAK.split(between)[-1])
        between = plain[mention.end : end]
        is_past = bool(BEFORE.search(before)) and not NO_PAST.search(before)
        if not is_past and _tells_past(_folded(_BREAK.split(between)[0])):
            is_past, between = True, ""  # "500 mein liya tha 400 de do": said of the first alone
        if is_past:
            blank = " " * (mention.end - mention.start)
            kept = kept[: mention.start] + blank + kept[mention.end :]
    return text if kept == plain else kept


def _tells_past(after: str) -> bool:
    found = AFTER.search(after)
    return bool(found) and not OFFERED.search(found.group())


def _folded(text: str) -> str:
    return "".join(f"{token.key} " for token in tokens(text) if token.key)
