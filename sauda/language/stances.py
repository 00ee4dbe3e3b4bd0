"""How a visitor means each price in a text: as an offer, or refused, quoted, past, supposed.

`stances.csv` holds the phrases by which it is told, in three languages; the first that fits counts,
so the specific stand before the general. Text of people only: a model's reply says what it offers.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sauda.language.cues import line_of, live, phrases
from sauda.language.money import Mention, prices, without_code

OWN, LISTED, NUMBER = "own", "listed", "number"
STANCES = (OWN, "refused", "press", LISTED, "elsewhere", "rival", "past", "supposed", NUMBER)
_TABLE = phrases(Path(__file__).with_name("stances.csv"))
_BUT = frozenset(("but", "par", "lekin", "magar", "पर", "लेकिन", "मगर"))


class Reading(NamedTuple):
    """What is offered in a text, and how its first price that is no offer is meant."""

    offered: str  # the text with every price that is no offer blanked out
    stance: str  # one of STANCES; "" where every price may be an offer


@lru_cache(maxsize=1024)  # a text is read by its move and by its answer
def read(text: str) -> Reading:
    """The offers in a text, and the stance of what is no offer."""
    plain = without_code(text)
    mentions = prices(plain)
    meant = stances(plain, mentions)
    drops = [stance not in ("", OWN) for stance in meant]
    others = [stance for stance in meant if stance and stance != OWN]
    pieces, end = [], 0
    for mention, drop in zip(mentions, drops, strict=True):
        if drop:
            pieces += [plain[end : mention.start], " " * (mention.end - mention.start)]
            end = mention.end
    kept = "".join([*pieces, plain[end:]])
    return Reading(kept if pieces else text, others[0] if others else "")


def stances(text: str, mentions: Sequence[Mention]) -> list[str]:
    """The stance of each price; "" where the text does not say."""
    if not mentions:
        return []
    line = line_of(text, mentions)
    listed = live(_TABLE, line)
    places = [i for i, word in enumerate(line) if word.kind in ("price", "year")]
    meant = [next((p.meaning for p in listed if p.at(line, i)), "") for i in places]
    kept = [k for k, stance in enumerate(meant) if stance in ("", OWN)]
    if len(kept) == 2 and any(word.key in _BUT for word in line[slice(*(places[k] for k in kept))]):
        meant[kept[0]] = LISTED  # "1,800 is on the tag, but 1,500": the speaker's own comes last
    return meant
