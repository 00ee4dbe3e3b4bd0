"""The numbers of a question's figure as a CSV file, and its verdict as HTML."""

from panels.results.questions.layout import Measured, numbers_frame
from panels.results.questions.verdict import Verdict, listed, short, verdict_html
from panels.ui.tables import to_csv
from sauda.records.schemas.base import Interval


def test_the_csv_holds_each_number_in_full_precision():
    third = Interval(mean=1 / 3, low=0.1, high=0.5)
    text = to_csv(numbers_frame([Measured("bazaar/open", "linear", 400, third)], "policy"))
    assert text.splitlines() == [
        "\ufefftask,policy,n,mean,low,high",
        "bazaar/open,linear,400,0.3333333333333333,0.1,0.5",
    ]


def test_a_verdict_is_a_sentence_above_its_evidence_with_nothing_taken_for_markup():
    shown = str(verdict_html(Verdict("<b> wins.", ("n < 4", "n = 5"))))
    assert '<p class="sauda-answer">&lt;b&gt; wins.</p>' in shown
    assert shown.count('class="sauda-note"') == 2
    assert "n &lt; 4" in shown


def test_names_are_listed_as_a_phrase_without_their_game():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert short("arena/coalition_market") == "coalition market"
