"""Every reader of a visitor's or an agent's text takes time in proportion to its length.

The same unit is read repeated to two lengths, and the time of the longer text is compared with that
of the shorter: 16 for a reader of linear time and 256 for one of quadratic time.
"""

from time import process_time

import pytest

from env.arena.pitch import claims
from sauda.language import money, numerals, phrases, stances, tells
from sauda.language.acts import Context, parse_act
from sauda.language.money import without_code
from sauda.language.phrases import language_of
from sauda.language.small_talk import kind_of_talk, read_closing, slip, small_talk
from sauda.sessions.bazaar import start
from tests.support.arena_games import market

SHORT, TIMES = 250, 16
MOST = 80  # between 16 and 256: what looks ahead a bounded way takes more at first
UNITS = (
    *("12 ", "1 000 ", "1,", "1-", "half and a ", "ek lakh ", "&lt;", "<%", "{", "a(", "select a "),
    *("a.b@", "1;", "not 500 ", "I paid 500, ", "if it were 500 ", "200 more ", "if he said ", '"'),
    *("deal, ", "ok ", "that price ", "pakka ", "if ", "theek hai, ", "are you ", "x. "),
)


TABLE = start("classic/single_deal", "", 5).observation.table
CONTEXT, GAME = Context("buyer", 500.0), market([], {}).market
READERS = {
    "tokens": numerals.tokenize,
    "prices": money.prices,
    "code": without_code,
    "lexicon": lambda text: list(tells.LEXICON.places(phrases.words(text))),
    "tells": tells.read,
    "stances": stances.read_stances.__wrapped__,
    "relative": stances.relative.__wrapped__,
    "closing": read_closing.__wrapped__,
    "kind of talk": kind_of_talk.__wrapped__,
    "language": language_of.__wrapped__,
    "slip": slip,
    "small talk": lambda text: small_talk(text, TABLE, "seller"),
    "acts": lambda text: parse_act(text, CONTEXT),
    "claims": lambda text: claims(GAME, "lab_1", text),
}


def seconds(read, text: str) -> float:
    """The least time of two readings; caches of what a reader calls are passed by."""
    took = []
    for k in range(2):
        began = process_time()
        read(text + " " * k)
        took.append(process_time() - began)
    return min(took)


@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name):
    for unit in UNITS:
        short, long = (unit * (length // len(unit)) for length in (SHORT, SHORT * TIMES))
        read = READERS[name]
        ratios = (seconds(read, long) / seconds(read, short) for _ in range(3))
        assert any(ratio <= MOST for ratio in ratios), (name, unit)  # where the machine is busy
