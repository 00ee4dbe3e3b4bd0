"""Tells are read where they are meant, in three ways of writing, and in any text without harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.experiments.verify import verify
from sauda.language.tells import SIGNALS, Tell, read
from tests.support.cases import cases

CASES = [(check, *row) for check in ("span", "all", "among", "none", "any")
         for row in cases("tells.csv", check)]  # fmt: skip


@pytest.mark.parametrize(("check", "text", "signals", "note"), CASES)
def test_a_message_tells_what_is_meant_in_it_and_nothing_asked_denied_reported_or_alike(
    check: str, text: str, signals: str, note: str
):
    tells, wanted = read(text), set(signals.split())
    found = {tell.signal for tell in tells}
    if check == "span":
        (tell,) = (tell for tell in tells if tell.signal == signals)
        assert tell.text == note
        assert 0 < tell.score <= 1
    elif check == "any":  # a negator stands outside the scope of what it would deny
        assert found
    elif check == "among":
        assert wanted <= found
    else:
        assert found == wanted


def test_an_intensifier_raises_a_score_and_a_softener_lowers_it():
    (plain,), (strong,), (weak,) = map(
        read, ["it is broken", "it is very broken", "it is slightly broken"]
    )
    assert weak.score < plain.score < strong.score <= 1


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
