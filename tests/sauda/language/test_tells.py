"""Tells are read where they are meant, in three ways of writing, and in any text without harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.experiments.verify import verify
from sauda.language.tells import SIGNALS, Tell, read
from tests.support.cases import cases

# What is said and what is not


def each(check: str):
    return pytest.mark.parametrize(("text", "signal", "note"), cases("tells.csv", check))


@each("span")
def test_a_tell_says_where_it_stands(text: str, signal: str, note: str):
    (tell,) = (tell for tell in read(text) if tell.signal == signal)
    assert tell.text == note
    assert 0 < tell.score <= 1


@each("all")
def test_a_message_gives_these_signals_away_and_no_other(text: str, signal: str, note: str):
    assert {tell.signal for tell in read(text)} == set(signal.split())


@each("among")
def test_hesitation_repair_and_wear_are_heard(text: str, signal: str, note: str):
    assert signal in {tell.signal for tell in read(text)}


@each("none")
def test_what_is_asked_denied_reported_past_or_alike_is_no_tell(text: str, signal: str, note: str):
    assert read(text) == ()


@each("any")
def test_a_negator_denies_only_what_stands_in_its_scope(text: str, signal: str, note: str):
    assert read(text)


@pytest.mark.parametrize("fault", ["scratches", "dents", "rust"])
def test_a_denied_fault_still_tells_of_the_condition(fault: str):
    (plain,) = read(f"it has {fault}")
    (denied,) = read(f"it has no {fault}")
    assert plain.explanation.startswith("Says that")
    assert denied.explanation == plain.explanation.replace("Says", "Denies", 1)


def test_an_intensifier_raises_a_score_and_a_softener_lowers_it():
    (plain,), (strong,), (weak,) = map(
        read, ["it is broken", "it is very broken", "it is slightly broken"]
    )
    assert weak.score < plain.score < strong.score <= 1


# Any text at all

PIECES = st.sampled_from(
    [
        *("not", "no", "nahi", "नहीं", "if", "agar", "kya", "said", "he", "?", "!", ",", ".", "'"),
        *("urgent", "jaldi", "final", "scratch", "student", "other", "buyers", "last", "kam", "se"),
        *("500", "₹", "saat", "sau", "hu", '"', "-", "\ud800", "\x00", "🙂", "क्", "़", "\n", "ﷺ"),
    ]
)


def assert_whole(text: str, tells: tuple[Tell, ...]) -> None:
    ends = dict.fromkeys(SIGNALS, 0)
    assert list(tells) == sorted(tells, key=lambda tell: tell.start)
    for tell in tells:
        assert ends[tell.signal] <= tell.start < tell.end <= len(text)
        assert text[tell.start : tell.end] == tell.text
        assert 0 < tell.score <= 1
        ends[tell.signal] = tell.end


@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_any_mixture_of_what_matters_is_read_with_whole_spans(text: str):
    assert_whole(text, read(text))


def test_every_labelled_sentence_is_read_as_it_was_measured():
    assert verify("language.json") == []
