"""A pair of games before and after: step by step, played again, and by its address."""

import re

import pytest

from panels.transcripts.before_after import (
    FILE,
    explained,
    games_of,
    longest,
    pair_of_games,
    typical,
)
from panels.transcripts.pair_tab import named_in_address, pair_named, reproduced
from sauda.records.store import load

TASK, OTHER = "bazaar/open", "bazaar/rushed"


@pytest.fixture(scope="module")
def artifact():
    return load(FILE)


def test_a_step_shows_that_many_moves_and_the_end_only_at_the_end(artifact):
    pair = typical(artifact, TASK)
    begun, ended = str(pair_of_games(pair, 1)), str(pair_of_games(pair, longest(pair)))
    assert begun.count("Move 1 of ") == 2
    assert begun.count("<b>seller</b>") == 2
    for later in ("<b>buyer</b>", "Every reply as the model wrote it"):
        assert later not in begun
        assert later in ended
    assert "Move " not in ended
    assert ended == str(pair_of_games(pair))
    assert longest(pair) == max(len(game.turns) for game in games_of(pair).values())


@pytest.mark.parametrize("number", range(3))
def test_what_could_be_won_is_said_in_plain_words_with_the_term_in_a_tooltip(artifact, number):
    task = artifact.data.tasks[number]
    for shown in [explained(artifact, task.task), *map(pair_of_games, task.chosen)]:
        assert 'title="ZOPA, zone of' in shown or 'title="no ZOPA, zone of' in shown
        assert "ZOPA" not in re.sub(r'title="[^"]*"', "", shown)


def test_both_games_come_out_of_their_replies_as_recorded(artifact):
    pair = typical(artifact, TASK)
    shown = str(reproduced(pair))
    assert shown.count("<b>Equal: grade ") == 2
    grade = f"recorded {pair.after.grade:.3f}, played now {pair.after.grade:.3f}, n = 1 game."
    assert grade in shown


def test_a_record_that_the_replies_do_not_give_is_told(artifact):
    pair = typical(artifact, TASK)
    wrong = pair.model_copy(update={"after": pair.after.model_copy(update={"grade": 0.5})})
    assert "Not the same in grade." in reproduced(wrong)


def test_the_address_of_a_pair_leads_back_to_it(artifact):
    pair = artifact.data.tasks[2].chosen[0]
    named = named_in_address(artifact, artifact.data.tasks[2].task, pair.why)
    assert pair_named(artifact, named) == (artifact.data.tasks[2].task, pair)


def test_the_pair_that_is_shown_first_needs_no_address(artifact):
    first = artifact.data.tasks[0].task
    assert named_in_address(artifact, first, typical(artifact, first).why) == {}
    assert pair_named(artifact, {}) == (first, typical(artifact, first))


@pytest.mark.parametrize("query", [{"task": "<b>"}, {"game": "none"}, {"task": "x", "game": "y"}])
def test_an_address_that_names_no_pair_leads_to_the_first_one(artifact, query):
    first = artifact.data.tasks[0].task
    assert pair_named(artifact, query) == (first, typical(artifact, first))
