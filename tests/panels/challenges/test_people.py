"""For the record: nothing is kept without consent, and no move is shown that was not stored."""

import pytest

from panels.challenges.people import tab
from panels.challenges.people.tab import PeopleScreen, PeopleVisit, enter, follow, opened
from panels.haggle import callbacks as haggle
from panels.haggle.words import ENGLISH, HINDI
from sauda.serve.limits import NO_ADDRESS
from sauda.serve.people import GAMES


@pytest.fixture(scope="module")
def screen():
    import gradio as gr

    with gr.Blocks():
        page = tab.lay_out()
    return PeopleScreen(page, {})


@pytest.fixture(autouse=True)
def _own_limit(monkeypatch):
    monkeypatch.setattr(tab, "ENTERED", tab.Limiter(1))


def visit(language: str = ENGLISH, text: str = "", token: str = "") -> PeopleVisit:
    return PeopleVisit(None, None, text, "", language, token=token)


def entered_visit(screen, board) -> PeopleVisit:
    shown = enter(screen, NO_ADDRESS, "Asha", True, visit())
    return PeopleVisit(
        shown[screen.page.game], None, "", "", ENGLISH, place=shown[screen.page.place],
        token=shown[screen.page.kept]["token"],
    )  # fmt: skip


@pytest.mark.parametrize(("name", "consent"), [("Asha", False), ("Asha", "yes"), ("Sauda 2", True)])
def test_nobody_enters_without_consent_or_with_a_name_of_ours(screen, board, name, consent):
    for language in (ENGLISH, HINDI):
        shown = enter(screen, NO_ADDRESS, name, consent, visit(language))
        assert "sauda-bad" in shown[screen.page.head]
    assert not board.storage.file.exists()


def test_an_address_enters_so_often_and_no_more(screen, board):
    entered_visit(screen, board)
    assert "sauda-bad" in enter(screen, NO_ADDRESS, "Bela", True, visit())[screen.page.head]


def test_a_move_that_cannot_be_stored_is_not_made(screen, board):
    there = entered_visit(screen, board)
    gone = PeopleVisit(there.game, None, "₹1", "", ENGLISH, place=there.place, token="none")
    shown = haggle.send(screen, gone)
    assert "sauda-bad" in shown[screen.page.problem]
    assert screen.page.game not in shown


def test_a_browser_finds_its_game_again_and_plays_to_the_end(screen, board):
    there = entered_visit(screen, board)
    for number in range(1, GAMES + 1):
        text = PeopleVisit(
            there.game, None, "I walk away", "", ENGLISH, place=there.place, token=there.token
        )
        shown = haggle.send(screen, text)
        game, page = shown[screen.page.game], screen.page
        assert game.over
        assert shown[page.following]["visible"] == (number < GAMES)
        assert str(game.play.seed) not in str(shown[page.result])
        if number < GAMES:
            later = opened(screen, visit(token=there.token))
            assert later[page.place].number == number + 1
            there = PeopleVisit(
                later[page.game], None, "", "", ENGLISH, place=later[page.place],
                token=there.token,
            )  # fmt: skip
    (entry,) = board.all_entries()
    assert (entry.person, entry.n) == (1, GAMES)
    assert "sauda-bad" in follow(screen, there)[page.problem]
    assert opened(screen, visit(token=there.token))[page.kept] == {"token": ""}
