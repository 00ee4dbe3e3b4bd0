"""The leaderboard on the page: entries as text beside measured rows, and their games."""

import pytest

from panels.results import leaderboard
from panels.results.leaderboard import (
    Standing,
    measurements,
    references,
    show,
    verdict,
)
from panels.results.models import buyer_name
from panels.results.winners import Entry as Entered
from sauda.experiments.comparison import BAYESIAN, LISTENER, OURS
from sauda.records.schemas.base import Interval
from sauda.serve.leaderboard import Entry, rules_of
from tests.support.entries import OPEN, entered, play_all
from tests.support.measured import model_comparison

NAME = "9 <b>bold</b>"
RECORDED = {leaderboard.COMPARISON: model_comparison()}


@pytest.fixture(scope="module")
def measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaderboard, "load_or_say", lambda file: (RECORDED.get(file), ""))
        return {game: measurements(game) for game in ("bazaar", "arena")}


def labels(board_figure) -> list[str]:
    return [annotation.text for annotation in board_figure.layout.annotations]


def test_before_anybody_entered_the_code_is_open_beside_the_measured_rows(board, measured):
    parts = show(OPEN, measured["bazaar"])
    assert (
        "No agent has entered the open market yet; the code below enters one." in parts["verdict"]
    )
    assert "best measured: " in parts["verdict"]
    drawn = "\n".join(labels(parts["figure"]))
    for name in (buyer_name(LISTENER), buyer_name(BAYESIAN), buyer_name(OURS)):
        assert name in drawn
    assert "Entered" not in drawn
    assert parts["game"] == leaderboard.NOBODY
    assert not board.storage.file.exists()  # a look makes no file


def test_an_entry_stands_as_text_in_the_verdict_the_figure_and_the_table(board, measured):
    play_all(entered(board, NAME))
    entered(board, "one that is being played")
    parts = show(OPEN, measured["bazaar"])
    (entry,) = board.entries(OPEN, rules_of(OPEN))
    assert "In the open market, “9 &lt;b&gt;bold&lt;/b&gt;” leads 1 entry with" in parts["verdict"]
    assert "9 &lt;b&gt;bold&lt;/b&gt;" in "\n".join(labels(parts["figure"]))
    assert "entered: 9 &lt;b&gt;bold&lt;/b&gt;" in parts["below"]
    assert repr(entry.grade.mean) in parts["below"]
    assert parts["below"].count("<tr") == 2 + len(measured["bazaar"].references[OPEN])
    assert parts["entry"].value == entry.id


@pytest.mark.parametrize(
    ("grade", "words"),
    [(0.1, ", less than the"), (0.3, "; its interval meets"), (0.9, ", more than the")],
)
def test_an_entry_is_called_better_only_where_the_intervals_lie_apart(grade, words):
    grade_there = Interval(mean=0.3, low=0.2, high=0.4)
    measured = Entered(buyer_name(BAYESIAN), grade_there, "buyer", OPEN, 200, BAYESIAN)
    rows = references({OPEN: [measured]}, ())[OPEN]
    entry = Entry("0" * 16, NAME, OPEN, "", "", 0.0, ("agreement",) * 3, (grade,) * 3)
    assert words in verdict(Standing(OPEN, [entry], 1), rows).sentence


@pytest.mark.parametrize("task", [OPEN, "bazaar/rushed", "arena/single_trade"])
def test_a_game_of_an_entry_opens_with_its_moves_its_end_and_its_seed(board, task):
    play_all(entered(board, NAME, task))
    (entry,) = board.entries(task, rules_of(task))
    game = board.games(entry)[1]
    shown = str(leaderboard.show_game(entry.id, 2))
    assert "Game 2 of 3 of “9 &lt;b&gt;bold&lt;/b&gt;”, grade " in shown
    assert f"seed {game.seed}." in shown
    assert f'href="leaderboard/games?entry={entry.id}"' in shown
    assert "<b>bold" not in shown
    assert f"Equal: grade recorded {game.grade:.3f}, played now {game.grade:.3f}" in shown
    assert "sauda-card" in shown


@pytest.mark.parametrize("number", [0, 4, "1", float("inf"), [1]])
def test_a_game_that_is_not_there_is_answered_in_words(board, number):
    play_all(entered(board))
    (entry,) = board.all_entries()
    assert "Choose an entry of this list" in leaderboard.show_game(entry.id, number)


def test_a_file_that_cannot_be_read_is_said_and_the_measured_rows_stay(board, measured):
    board.storage.file.parent.mkdir()
    board.storage.file.write_text("no database at all, but long enough to be read as one" * 9)
    parts = show(OPEN, measured["bazaar"])
    assert "The leaderboard cannot be read or written now" in parts["verdict"]
    assert buyer_name(LISTENER) in "\n".join(labels(parts["figure"]))
