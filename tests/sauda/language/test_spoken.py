"""Lines of both sides fit the decided move, promise nothing that may change, do not repeat."""

import pytest

from env import Accept, Item, Offer, Table, WalkAway, rupees
from sauda.language.lines import CHAT_LINES, CLAIMS, LINES
from sauda.language.spoken import (
    LAST,
    SILENCE,
    Decided,
    chat_situations,
    claim_of,
    from_lines,
    line_faults,
    repeats,
    retell,
    situations,
    speak,
)
from tests.support.cases import cases

LAMP = Item("brass lamp", "Handicrafts", "good", 900)
PRICES = (1, 31.5, 450, 1090, 120_000)
SEATS, SPEAKERS = ("buyer", "seller"), {"lines": from_lines}
MANNERS = [(language, seat) for language in LINES for seat in SEATS]


def seen(asks=(), bids=(), round_=3, item=LAMP) -> Table:
    return Table(item, 8, 1, 0, round=round_, asks=tuple(asks), bids=tuple(bids))


@pytest.mark.parametrize("lines", [LINES, CHAT_LINES], ids=["games", "chat"])
@pytest.mark.parametrize(("language", "seat"), MANNERS)
@pytest.mark.parametrize("price", PRICES)
def test_every_line_is_its_move_at_every_price(lines, language, seat, price):
    other = {"asks": (price,)} if seat == "buyer" else {"bids": (price,)}
    moves = {"accept": Accept(), "walk": WalkAway()}
    for key, line in ((key, line) for key, several in lines[language][seat].items()
                      for line in several):  # fmt: skip
        last = key in ("last", "over")
        table = seen(**({"asks": (5,), "bids": (3,)} | other), round_=7 if last else 3)
        assert line_faults(line, Decided(table, seat, moves.get(key, Offer(price)))) == (), line
        assert last or key in moves or not LAST.search(line), line


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


@pytest.mark.parametrize(
    ("check", "agent", "asks", "bids", "price", "round_", "heard", "expected"),
    [(check, *row) for check in ("line", "chat") for row in cases("situations.csv", check)],
)
def test_a_line_reacts_to_what_happened(check, agent, asks, bids, price, round_, heard, expected):
    table, action = seen(numbers(asks), numbers(bids), int(round_)), Offer(int(price))
    if check == "line":
        assert situations(table, agent, action, heard) == tuple(expected.split())
    else:
        assert chat_situations(table, agent, action, heard)[0] == expected


@pytest.mark.parametrize(("text", "fault"), cases("spoken.csv", "fault"))
def test_a_line_that_is_another_move_is_refused_and_the_next_speaker_asked(text, fault):
    decided = Decided(seen((5,), (3,)), "buyer", Offer(450))
    assert any(fault in wrong for wrong in line_faults(text, decided))
    line = speak(decided, {"rude": lambda *_: text, **SPEAKERS}, 0)
    assert line.source == "lines"
    assert [(each.source, each.text) for each in line.refused] == [("rude", text)]
    assert speak(decided, {"rude": lambda *_: text}, 0).source == SILENCE


# The chat


def counter(price=850, said=("For this brass lamp, ₹900.",), heard="", language="en", **table):
    """A seller's counter-offer at `price` after what it `said`."""
    standing = {"asks": (900,), "bids": (600,)} | table
    return Decided(seen(**standing), "seller", Offer(price), language, heard, said)


@pytest.mark.parametrize("seed", range(5))
def test_words_that_were_said_before_give_way_to_a_line(seed):
    said = ("For this brass lamp, ₹900.", "₹880, then.")
    text = retell(counter(said=said), "₹850, then.", (), seed)
    assert not repeats(text, said)
    assert "₹850" in text


@pytest.mark.parametrize(
    "words",
    ["Fine, ₹850, and there I stop.", "₹850, my last word.", "₹850. I cannot go under that."],
)
@pytest.mark.parametrize("language", LINES)
def test_a_last_price_is_promised_in_the_last_round_alone(words, language):
    text = retell(counter(language=language), words, ("final",), 0)
    assert not LAST.search(text)
    assert "there I stop" not in text
    assert retell(counter(round_=7), words, (), 0) == words


@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize(("heard", "key"), cases("spoken.csv", "argument"))
def test_an_argument_is_answered_though_the_words_are_new(heard, key, language):
    text = retell(counter(heard=heard, language=language), "I can come to ₹850.", (), 0)
    assert text in [line.replace("#", "₹850") for line in CHAT_LINES[language]["seller"][key]]


@pytest.mark.parametrize(("words", "claim"), cases("spoken.csv", "claim"))
def test_a_claim_is_told_once_though_its_words_are_not(words, claim):
    assert claim_of(words) == claim
    for language in LINES:
        decided = counter(heard="chai?", language=language)
        first, again = (retell(decided, words, claimed, 0) for claimed in ((), (claim,)))
        sentence = CLAIMS[language].get(claim, "")
        assert claim_of(first) == claim or sentence in first
        assert not sentence or sentence not in again


@pytest.mark.parametrize(("language", "seat"), MANNERS)
@pytest.mark.parametrize("step", [0, 5])
def test_no_line_is_said_twice_in_twelve_rounds(language, seat, step):
    said: list[str] = []
    for number in range(12):
        price = 500 + step * number if seat == "buyer" else 800 - step * number
        mine = tuple(500 + step * n if seat == "buyer" else 800 - step * n for n in range(number))
        table = (
            {"asks": (701,), "bids": mine} if seat == "buyer" else {"asks": mine, "bids": (600,)}
        )
        decided = Decided(
            seen(**table, round_=min(number, 6)), seat, Offer(price), language, said=said
        )
        text = retell(decided, "", (), number)
        assert rupees(price) in text
        assert not repeats(text, said)
        said.append(text)
