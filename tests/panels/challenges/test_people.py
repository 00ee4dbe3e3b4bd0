"""For the record: nothing is kept without consent, and no move is shown that was not stored."""

from dataclasses import replace

import gradio as gr
import pytest

from panels.challenges import people
from panels.challenges.people import PeopleScreen, PeopleVisit, enter, follow, opened
from panels.haggle import callbacks as haggle
from panels.haggle.words import ENGLISH, HINDI
from sauda.serve.limits import NO_ADDRESS
from sauda.serve.people import GAMES


@pytest.fixture(scope="module")
def screen() -> PeopleScreen:
    with gr.Blocks():
        return PeopleScreen(people.PeoplePage(), {})


@pytest.fixture(autouse=True)
def _own_limit(monkeypatch):
    monkeypatch.setattr(people, "ENTERED", people.Limiter(1))


def visit(language: str = ENGLISH, text: str = "", token: str = "") -> PeopleVisit:
    return PeopleVisit(None, None, text, "", language, address=NO_ADDRESS, token=token)


def entered_visit(screen) -> PeopleVisit:
    return enter(screen, "Asha", True, visit())[screen.page.visit]


@pytest.mark.parametrize(("name", "consent"), [("Asha", False), ("Asha", "yes"), ("Sauda 2", True)])
def test_nobody_enters_without_consent_or_with_a_name_of_ours(screen, board, name, consent):
    for language in (ENGLISH, HINDI):
        shown = enter(screen, name, consent, visit(language))
        assert "sauda-bad" in shown[screen.page.head]
    assert not board.storage.file.exists()


def test_an_address_enters_so_often_and_no_more(screen, board):
    entered_visit(screen)
    assert "sauda-bad" in enter(screen, "Bela", True, visit())[screen.page.head]


def test_a_move_that_cannot_be_stored_is_not_made(screen, board):
    there = entered_visit(screen)
    shown = haggle.send(screen, replace(there, text="₹1", token="none"))
    assert "sauda-bad" in shown[screen.page.moves]
    assert screen.page.visit not in shown


def test_a_browser_finds_its_game_again_and_plays_to_the_end(screen, board):
    there = entered_visit(screen)
    for number in range(1, GAMES + 1):
        shown = haggle.send(screen, replace(there, text="I walk away"))
        game, page = shown[screen.page.visit].game, screen.page
        assert game.over
        assert ('data-press="next"' in shown[page.result]) == (number < GAMES)
        assert str(game.play.seed) not in str(shown[page.result])
        if number < GAMES:
            there = opened(screen, visit(token=there.token))[page.visit]
            assert there.place.number == number + 1
    (entry,) = board.all_entries()
    assert (entry.person, entry.n) == (1, GAMES)
    assert "sauda-bad" in follow(screen, there)[page.moves]
    assert opened(screen, visit(token=there.token))[page.kept] == {"token": ""}
