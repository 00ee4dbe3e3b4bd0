"""Drops prices that a message takes back: "not 500, 450" offers 450.

A price is dropped if the words beside it reject it ("not 500", "500 nahi"), or if the words between
it and a later price replace it ("500, sorry, 450"; "pehle 500, ab 450").
"""

from collections.abc import Sequence
from itertools import pairwise

from sauda.language.numerals import Token, fold, words

MOST = 4  # prices; a message with more offers no single price

_NO = words("nahi nahin nhi nai नहीं नहि")  # after a price: "500 nahi"
_MORE = words("less more lower higher problem")  # "500, no less"
_MARKS = frozenset(".…,!?-–—")
_ELSE = words("to toh तो")  # "500 nahi to": 500 or else
_LINKS = words("mein me pe ka ke ki में पे का के की rupaye rupees rs")  # "500 mein nahi"
_NOT, _WHY = fold("not"), fold("why")
_OVER = (["instead", "of"], ["rather", "than"], ["take", "back"])  # "450 instead of 500"
_ASIDE = words("forget ignore cancel chhodo छोड़ो")  # "forget 600"
_SCRATCH, _THAT, _THE = words("scratch"), words("that it"), words("the my this")
_BEFORE_SCRATCH = words("no so ok okay sorry oops wait please actually and")
_SLIPS = words("galti galat typo mistake mistakenly wrongly गलती गलत")  # "galti se 5000"
_REPLACES = _SLIPS | words(
    "sorry oops wait err actually meant mean correction matlab balki likhna bolna kehna badha "
    "badhakar ghata ghatakar hata hatakar jagah badle maaf cancel too मतलब बल्कि लिखना बोलना कहना "
    "बढ़ा घटा बढ़ाकर घटाकर हटा हटाकर जगह बदले सॉरी माफ"
)
_MUCH = words("zyada jyada mehnga mahanga ज्यादा महंगा")  # "500 zyada hai, 450 lo"
_THAN = words("se से")
_PAST = words("tha thi था थी")
_MAKE = words("make")  # "make it 2400"
_IT = words("it that")
_SAID = words("said wrote typed quoted bola kaha likha बोला कहा लिखा")  # "I said 300 but ..., 350"
_EARLIER = words("pehle pahle earlier previously before first was पहले") | _SAID
_FORMER = _EARLIER | words("old purana पुराना")
_NOW = words("now new ab abhi naya अब अभी नया")
_OR = words("or nor and ya aur to या और")
_MOVES = words(
    "raise raised raising increase increased up down drop dropped reduce reduced lower lowered "
    "bring come came go went move moved change changed changing revise revised"
)
_MAKES = words("kar karo kardo karta karte karti karunga कर करो करता करते करूंगा")


def standing(line: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The indices of the prices at `spans` that the message does not take back.

    A span is [start:end] in the text whose `numerals.tokens` are `line`.
    """
    if not 0 < len(spans) <= MOST:
        return list(range(len(spans)))
    parts = _parts(line, spans)
    kept = [k for k in range(len(spans)) if not _is_rejected(parts, k)]
    return [k for k in kept if not any(later > k and _replaces(parts, k, later) for later in kept)]


def _parts(line: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The words and marks before the first price, between prices, and after the last."""
    keys: list[list[str]] = [[] for _ in range(len(spans) + 1)]
    for token in line:
        if token.kind != "edge" and not any(start <= token.start < end for start, end in spans):
            keys[sum(start <= token.start for start, _ in spans)].append(token.key)
    return keys


def _is_rejected(parts: Sequence[list[str]], k: int) -> bool:
    """Whether the words beside price `k` reject it."""
    before, after = parts[k], parts[k + 1]
    if before[-1:] == [_NOT] and before[-2:-1] != [_WHY]:
        return True
    if k and before[-2:] == ["instead", "of"] and _SAID.intersection(parts[k - 1][-2:]):
        return False  # "I typed 174 instead of 164"
    if before[-2:] in _OVER or _ASIDE.intersection(before[-2:]) or _is_scratched(before, k):
        return True
    if _SLIPS.intersection(_same_clause(before)[-3:]):
        return True
    if k and _NOW.intersection(parts[k - 1][-4:]) and _FORMER.intersection(before[-4:]):
        return True  # "new price 700, old price 800"
    if k and before == ["from"] and parts[k - 1][-1:] == ["to"]:
        return True  # "up to 450 from 400"
    if k and len(before) == 1 and before[0] in _OR and _is_rejected(parts, k - 1):
        return True  # "not 450 or 500"
    return _is_denied(after, is_last=k + 2 == len(parts))


def _is_scratched(before: Sequence[str], k: int) -> bool:
    """Whether "scratch the" stands before price `k`; a scratch alone is one on the item.

    "Scratch that" takes back a price that follows only where none came before.
    """
    following = _THE if k else _THE | _THAT
    return _says_scratch(before, len(before) - 2, following)


def _says_scratch(keys: Sequence[str], i: int, following: frozenset[str]) -> bool:
    """Whether word `i` is an order to scratch what one of `following` stands for."""
    if i < 0 or keys[i] not in _SCRATCH or keys[i + 1] not in following:
        return False
    return i == 0 or keys[i - 1] in _MARKS | _BEFORE_SCRATCH


def _same_clause(before: Sequence[str]) -> list[str]:
    """The words after the last mark of `before`."""
    marks = [i for i, key in enumerate(before) if key in _MARKS]
    return list(before[marks[-1] + 1 :] if marks else before)


def _is_denied(after: Sequence[str], is_last: bool) -> bool:
    """Whether "nahi" follows a price, or between two prices "no" does."""
    rest = [key for key in after if is_last or key not in _MARKS]
    while rest and rest[0] in _LINKS:
        rest = rest[1:]
    if not rest or (len(rest) > 1 and rest[1] in _ELSE):
        return False
    if is_last:
        return rest[0] in _NO and "?" not in after
    return rest[0] in _NO or (rest[0] == "no" and not _MORE.intersection(rest[1:2]))


def _replaces(parts: Sequence[list[str]], k: int, later: int) -> bool:
    """Whether the words around prices `k` and `later` replace the first by the second."""
    gap = [key for part in parts[k + 1 : later + 1] for key in part]
    before, after = parts[k], parts[later + 1]
    if gap == ["to"]:
        return bool(_MOVES.intersection(before[-5:]))  # "drop it from 500 to 450"
    if gap in (["se"], ["से"]):
        return bool(_MAKES.intersection(after[:1]))  # "300 se 340 kar do"
    if len(gap) == 1 and gap[0] in _OR:
        return False
    if _REPLACES.intersection(gap) or _SAID.intersection(before[-2:]):
        return True
    if _MUCH.intersection(gap[:3]) and gap[0] not in _THAN:
        return True
    if any(key in _MAKE and then in _IT for key, then in pairwise(gap)):
        return True
    if any(_says_scratch(gap, i, _THAT) for i in range(len(gap) - 1)):
        return True
    was = _EARLIER.intersection([*before[-3:], *gap])
    is_past = _SAID.intersection(gap) and _PAST.intersection(gap)  # "500 kaha tha, 550 lo"
    return bool(is_past or (was and _NOW.intersection([*gap, *after[:1]])))
