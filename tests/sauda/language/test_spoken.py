"""Lines of both sides fit the decided move, promise nothing that may change, do not repeat."""

import re
from collections.abc import Iterator

import pytest

from env import CATALOGUE, Accept, Item, Offer, Table, WalkAway, rupees
from sauda.games.bazaar_columns import LAST
from sauda.language.lines import LINES
from sauda.language.spoken import (
    SILENCE,
    Decided,
    Line,
    faults,
    from_lines,
    named,
    situations,
    spoken,
)

LAMP = Item("brass lamp", "Handicrafts", "good", 900)
PRICES = (1, 31.5, 450, 1090, 120_000)
SEATS, SPEAKERS = ("buyer", "seller"), {"lines": from_lines}
MANNERS = [(language, seat) for language in LINES for seat in SEATS]
LATIN = re.compile(r"[A-Za-z]")


def seen(asks=(), bids=(), round_=3, item=LAMP) -> Table:
    return Table(item, 8, 1, 0, round=round_, asks=tuple(asks), bids=tuple(bids))


def every_line(language: str, seat: str) -> Iterator[tuple[str, str]]:
    for key, lines in LINES[language][seat].items():
        yield from ((key, line) for line in lines)


def decision(key: str, seat: str, price: float) -> Decided:
    """A decision for which the line of `key` is meant."""
    other = {"asks": (price,)} if seat == "buyer" else {"bids": (price,)}
    if key in ("accept", "walk"):
        return Decided(seen(**other), seat, Accept() if key == "accept" else WalkAway())
    return Decided(seen((5,), (3,), 7 if key == "last" else 3), seat, Offer(price))


@pytest.mark.parametrize(("language", "seat"), MANNERS)
@pytest.mark.parametrize("price", PRICES)
def test_every_line_is_its_move_at_every_price(language, seat, price):
    for key, line in every_line(language, seat):
        assert faults(line, decision(key, seat, price)) == (), line
        if key not in ("last", "accept", "walk"):
            assert not LAST.search(line), line


@pytest.mark.parametrize("language", LINES)
def test_every_language_and_seat_has_the_same_situations(language):
    for seat in SEATS:
        lines = LINES[language][seat]
        assert lines.keys() == LINES["en"]["buyer"].keys()
        every = [line for _, line in every_line(language, seat)]
        assert len(set(every)) == len(every)


def test_hindi_lines_hold_no_latin_letter():
    for seat in SEATS:
        assert not any(LATIN.search(line) for _, line in every_line("hi", seat))


@pytest.mark.parametrize(("language", "seat"), MANNERS)
def test_a_line_is_not_said_again_while_there_is_another(language, seat):
    said: list[str] = []
    for number in range(12):
        price = 500 + number if seat == "buyer" else 700 - number
        table = seen(asks=(701,), bids=(499,)) if number else seen()
        decided = Decided(table, seat, Offer(price), language, said=said)
        line = spoken(decided, SPEAKERS, number)
        assert line == spoken(decided, SPEAKERS, number)
        assert line.source == "lines"
        said.append(line.text)
    shapes = {text.replace(rupees(500 + n if seat == "buyer" else 700 - n), "#")
              for n, text in enumerate(said)}  # fmt: skip
    assert len(shapes) == 12


@pytest.mark.parametrize(
    ("agent", "asks", "bids", "price", "heard", "expected"),
    [
        ("buyer", (1200,), (), 300, "", ("far", "first")),
        ("buyer", (3000,), (), 300, "", ("absurd", "first")),
        ("buyer", (700,), (), 300, "", ("near", "first")),
        ("buyer", (900,), (), 300, "with warranty", ("warranty", "first")),
        ("buyer", (900, 880), (300,), 350, "चाय पीजिए", ("tea", "more")),
        ("buyer", (900, 880), (300,), 300, "", ("hold",)),
        ("buyer", (900, 880), (300,), 250, "", ("less",)),
        ("seller", (), (), 900, "", ("first",)),
        ("seller", (900,), (300,), 850, "", ("far", "more")),
        ("seller", (900,), (50,), 900, "", ("absurd", "hold")),
        ("seller", (900,), (800,), 880, "it has a scratch", ("scratch", "near", "more")),
    ],
)
def test_a_line_reacts_to_what_happened(agent, asks, bids, price, heard, expected):
    assert situations(seen(asks, bids), agent, Offer(price), heard) == expected


def test_the_last_round_acceptance_and_leaving_have_lines_of_their_own():
    last = seen((900,), (300,), round_=7)
    assert situations(last, "buyer", Offer(400), "chai") == ("last",)
    assert situations(last, "buyer", Accept(), "") == ("accept",)
    assert situations(last, "seller", WalkAway(), "") == ("walk",)


def test_a_plain_line_has_no_opinion():
    decided = Decided(seen((5_000,)), "buyer", Offer(300), reacts=False, heard="chai")
    for seed in range(20):
        assert from_lines(decided, seed) in LINES["en"]["buyer"]["first"]


def test_the_price_stands_in_rupees_and_is_the_moves_own():
    decided = decision("more", "buyer", 137)
    line = spoken(decided, {"canned": lambda decided, seed: "How about #?"}, 0)
    assert line == Line("How about ₹137?", "canned")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it says nothing"),
        ("₹1 or nothing", "names a price that is not the move's"),
        ("Give me more.", "leaves out the price"),
        ("My final price is #.", "promises that no other price follows"),
        ("आख़िरी दाम #।", "promises that no other price follows"),
        ("Agreed, #.", "it agrees, and the move does not"),
        ("मंज़ूर है, #।", "it agrees, and the move does not"),
        ("Goodbye, #.", "it leaves, and the move does not"),
        ("#\n#", "no single line"),
        ("so " * 60, "more than 160"),
    ],
)
def test_a_line_that_is_another_move_is_refused_and_the_next_speaker_asked(text, fault):
    decided = decision("more", "buyer", 450)
    assert any(fault in wrong for wrong in faults(text, decided))
    line = spoken(decided, {"rude": lambda *_: text, **SPEAKERS}, 0)
    assert line.source == "lines"
    assert [(each.source, each.text) for each in line.refused] == [("rude", text)]
    assert spoken(decided, {"rude": lambda *_: text}, 0).source == SILENCE


def test_leaving_names_no_price():
    assert faults("No deal at #.", decision("walk", "buyer", 450)) != ()


def test_a_language_without_lines_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="en, hinglish, hi"):
        from_lines(Decided(seen(), "seller", Offer(900), "fr"), 0)


def test_a_message_is_kept_and_one_without_a_price_is_told_with_it():
    assert named(Offer(450, "theek hai?")) == "₹450: theek hai?"
    for action in (Offer(450, "mine, ₹450"), Accept("mine"), WalkAway("mine")):
        assert named(action) == action.message


def test_the_lines_fit_every_item_of_the_catalogue():
    for item in CATALOGUE:
        decided = Decided(seen(item=item, round_=0), "seller", Offer(item.list_price))
        assert rupees(item.list_price) in spoken(decided, SPEAKERS, 1).text
