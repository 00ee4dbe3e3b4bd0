"""What the chat says of the other side's words: no repeats, no broken promise, an answer."""

import re
from collections.abc import Iterator

import pytest

from env import Accept, Item, Offer, Table, WalkAway, rupees
from sauda.language.lines import CHAT_LINES, CLAIMS, LINES
from sauda.language.money import prices
from sauda.language.phrases import language_of
from sauda.language.spoken import (
    LAST,
    Decided,
    chat_line,
    chat_situations,
    claim_of,
    faults,
    repeats,
    retold,
)

LAMP = Item("brass lamp", "Handicrafts", "good", 900)
MANNERS = [(language, seat) for language in LINES for seat in ("buyer", "seller")]


def seen(asks=(900,), bids=(600,), round_=3) -> Table:
    return Table(LAMP, 8, 1, 0, round=round_, asks=tuple(asks), bids=tuple(bids))


def counter(price=850, said=("For this brass lamp, ₹900.",), heard="", language="en", **table):
    """A seller's counter-offer at `price` after what it `said`."""
    return Decided(seen(**table), "seller", Offer(price), language, heard, said)


def every_line(language: str, seat: str) -> Iterator[tuple[str, str]]:
    for key, lines in CHAT_LINES[language][seat].items():
        yield from ((key, line) for line in lines)


@pytest.mark.parametrize(("language", "seat"), MANNERS)
@pytest.mark.parametrize("price", [1, 31.5, 450, 120_000])
def test_every_line_of_the_chat_is_its_move_at_every_price(language, seat, price):
    theirs = {"asks": (price,)} if seat == "buyer" else {"bids": (price,)}
    moves = {"accept": Accept(), "walk": WalkAway()}
    for key, line in every_line(language, seat):
        last = key in ("last", "over")
        decided = Decided(seen(**theirs, round_=7 if last else 3), seat,
                          moves.get(key, Offer(price)))  # fmt: skip
        assert faults(line, decided) == (), line
        assert last or key in moves or not LAST.search(line), line


@pytest.mark.parametrize(("language", "seat"), MANNERS)
def test_the_lines_of_the_chat_are_those_of_games_and_more(language, seat):
    lines = CHAT_LINES[language][seat]
    assert lines.keys() == CHAT_LINES["en"]["buyer"].keys()
    assert all(set(LINES[language][seat][key]) < set(lines[key]) for key in LINES[language][seat])
    every = [line for _, line in every_line(language, seat)]
    assert len(set(every)) == len(every)
    if language == "hi":
        assert not any(re.search("[A-Za-z]", line) for line in [*every, *CLAIMS["hi"].values()])


def test_claims_in_sentences_of_their_own_promise_no_last_price_and_are_read_as_claims():
    for language, sentences in CLAIMS.items():
        assert sentences.keys() == CLAIMS["en"].keys()
        for sentence in sentences.values():
            decided = counter(language=language)
            assert faults(f"#. {sentence}", decided) == (), sentence
            assert not prices(sentence)


def test_new_words_are_said_as_they_came():
    assert retold(counter(), "I can come to ₹850.", (), 0) == "I can come to ₹850."


@pytest.mark.parametrize("seed", range(5))
def test_words_that_were_said_before_give_way_to_a_line(seed):
    said = ("For this brass lamp, ₹900.", "₹880, then.")
    text = retold(counter(said=said), "₹850, then.", (), seed)
    assert not repeats(text, said)
    assert "₹850" in text


def test_a_sentence_that_was_said_before_is_left_out_of_a_models_words():
    said = ("I ask ₹900 for this brass lamp. I stand by it.",)
    words = "I can come to ₹850 for the brass lamp. I stand by it."
    assert retold(counter(said=said), words, (), 0) == "I can come to ₹850 for the brass lamp."


@pytest.mark.parametrize(("language", "closer"), [("hinglish", "Haan ya na?"), ("hi", "हाँ या ना?")])
def test_a_persona_is_heard_in_every_language_of_the_chat(language, closer):
    words = "I can come to ₹850 for the brass lamp. Yes or no?"
    text = retold(counter(language=language), words, (), 0)
    assert text.endswith(closer)
    assert closer not in retold(counter(said=(text,), language=language), words, (), 0)


@pytest.mark.parametrize(
    "words",
    ["Fine, ₹850, and there I stop.", "₹850, my last word.", "₹850. I cannot go under that."],
)
@pytest.mark.parametrize("language", LINES)
def test_a_last_price_is_promised_in_the_last_round_alone(words, language):
    text = retold(counter(language=language), words, ("final",), 0)
    assert not LAST.search(text)
    assert "there I stop" not in text
    assert retold(counter(round_=7), words, (), 0) == words


def test_the_first_words_of_a_seller_are_said_as_they_are():
    decided = Decided(Table(LAMP, 8, 1, 0), "seller", Offer(900))
    words = "₹900 for this brass lamp. That is the price."
    assert retold(decided, words, (), 0) == words


@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize(
    ("heard", "key"),
    [
        ("there is a dent, 600", "scratch"),
        ("have some tea", "tea"),
        ("any warranty?", "warranty"),
        ("the other shop is cheaper", "shop"),
    ],
)
def test_an_argument_is_answered_though_the_words_are_new(heard, key, language):
    text = retold(counter(heard=heard, language=language), "I can come to ₹850.", (), 0)
    assert text in [line.replace("#", "₹850") for line in CHAT_LINES[language]["seller"][key]]


def test_two_arguments_are_answered_one_after_the_other():
    decided = counter(heard="tea for you, and there is a dent")
    assert chat_situations(decided.seen, "seller", decided.action, decided.heard)[:2] == (
        "scratch",
        "tea",
    )


@pytest.mark.parametrize(
    ("asks", "bids", "round_", "key"),
    [
        ((900, 880), (500, 600), 3, "rise"),
        ((900, 880), (600, 600), 3, "stuck"),
        ((900, 880), (590, 600), 3, "more"),
        ((900, 880), (500, 600), 7, "last"),
        ((900, 880), (500, 600), 8, "over"),
        ((900,), (300,), 1, "far"),
        ((900,), (50,), 1, "absurd"),
    ],
)
def test_a_line_reacts_to_the_other_sides_move(asks, bids, round_, key):
    assert chat_situations(seen(asks, bids, round_), "seller", Offer(850), "")[0] == key


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        ("Another buyer waits. ₹850.", "rival"),
        ("₹850, my last price.", "final"),
        ("₹850, but decide now, I must close.", "urgent"),
        ("₹850, and I lose money on it.", "loss"),
        ("₹850, and it is worth more.", ""),
        ("₹850, then.", ""),
    ],
)
def test_a_claim_is_told_once_though_its_words_are_not(words, claim):
    assert claim_of(words) == claim
    for language in LINES:
        decided = counter(heard="chai?", language=language)
        first, again = (retold(decided, words, claimed, 0) for claimed in ((), (claim,)))
        sentence = CLAIMS[language].get(claim, "")
        assert claim_of(first) == claim or sentence in first
        assert not sentence or sentence not in again


def test_what_presses_the_buyer_is_told_after_a_line():
    text = retold(counter(), "₹850, my last word. It is the only one left.", ("final",), 0)
    assert text.endswith(" It is the only one left.")
    assert text.startswith(tuple(line.split("#")[0] for line in CHAT_LINES["en"]["seller"]["more"]))


@pytest.mark.parametrize("language", ["hinglish", "hi"])
def test_words_that_cannot_be_translated_are_said_by_a_line_of_the_language(language):
    text = retold(counter(language=language), "I give you the brass lamp for ₹850.", (), 0)
    assert language_of(text) == language
    assert "₹850" in text


def test_words_in_the_language_itself_are_kept():
    decided = Decided(seen(), "buyer", Offer(620), "hinglish")
    assert retold(decided, "Chalo, ₹620 le lo.", (), 0) == "Chalo, ₹620 le lo."


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
        text = retold(decided, "", (), number)
        assert rupees(price) in text
        assert not repeats(text, said)
        said.append(text)


def test_when_all_lines_were_said_the_oldest_comes_back():
    lines = CHAT_LINES["en"]["seller"]["hold"]
    said = [line.replace("#", "₹850") for line in lines]
    decided = Decided(seen((850,), (700,)), "seller", Offer(850), said=said)
    assert chat_line(decided, 7) == lines[0]


def test_a_language_without_lines_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="en, hinglish, hi"):
        retold(counter(language="fr"), "", (), 0)
