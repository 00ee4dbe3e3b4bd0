"""The ladder on the page: a level is a game of Haggle's own, and its stars are kept and counted."""

from dataclasses import replace

import gradio as gr
import pytest

from env import Offer, WalkAway, get_task, rupees
from panels.haggle import callbacks as haggle
from panels.haggle import opponents
from panels.haggle.challenges import ladder, subtab
from panels.haggle.challenges.subtab import VISITOR
from panels.haggle.conversation import SILENT, chat_of, converse
from panels.haggle.game_view import brief
from panels.haggle.result import card as card_of
from panels.haggle.screen import Visit
from panels.haggle.words import ENGLISH, HINDI, TRANSLATORS, translator
from panels.site import card
from sauda.serve.limits import NO_ADDRESS, Limiter
from sauda.sessions.bazaar import answer, loss_at
from sauda.sessions.ladder import LEVELS, level_of, stars
from sauda.sessions.review import review
from tests.support.haggle import Model, screen_of

KEPT = gr.BrowserState({})


@pytest.fixture(scope="module")
def screen():
    return screen_of(Model())


@pytest.fixture
def page():
    with gr.Blocks():
        return ladder.LadderPage()


def won():
    """The first level's game, ended by rising bids that earn stars."""
    level = LEVELS[0]
    game = opponents.game_at(level.task, level.seed, opponents.HIDDEN)
    for price in (700, 850):
        game = answer(game, Offer(price))
    assert game.over
    return game


def kept_after(game, stored, address: str = NO_ADDRESS):
    """What the browser keeps once `game` was shown; None where nothing changes."""
    value = ladder.record(KEPT, Visit(game), stored, address)[KEPT]
    return value if "__type__" not in value else None


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.text("name"))
def test_every_level_is_played_in_haggles_chat_and_ends_in_its_ending(screen, level):
    visit = Visit(opponents.game_at(LEVELS[0].task, LEVELS[0].seed, opponents.HIDDEN))
    shown = haggle.play_level(screen, level.number, visit)
    page, game = screen.page, shown[screen.page.visit].game
    assert level_of(game) is level
    for told in (level.text("name"), level.text("line"), f"{level.shares[0]:.0%}"):
        assert told.replace("’", "’") in str(shown[page.brief])
    place = haggle.show_place(screen, shown[page.visit])
    assert place[page.market].value == opponents.seat_and_market(level.task)[1]
    if game.you == "seller":
        game = answer(game, Offer(game.observation.table.item.list_price))
    if not game.over:
        game = answer(game, WalkAway())
    ended = str(screen.show(replace(visit, game=game))[page.after])
    assert f'data-id="level:{level.number}"' in ended
    assert 'class="sauda-stars"' in ended
    assert 'data-id="begin"' not in ended


def test_a_level_that_there_is_not_leaves_the_game(screen):
    visit = Visit(won())
    for number in (None, 0, len(LEVELS) + 1):
        shown = haggle.play_level(screen, number, visit)
        assert "sauda-bad" in str(shown[screen.page.moves])
        assert screen.page.visit not in shown


def test_the_ending_names_the_stars_and_leads_to_the_next_person(screen):
    game = won()
    ended = str(screen.show(Visit(game))[screen.page.after])
    assert f"{stars(game)} of 3 stars" in ended
    assert f"Next: {LEVELS[1].text('name')}" in ended
    assert f"from {LEVELS[0].text('name')}" in ended
    undone = str(screen.show(Visit(replace(game, undone=1)))[screen.page.after])
    assert "0 of 3 stars" in undone
    assert "taken back" in undone


def test_the_browser_keeps_the_most_stars_of_each_level():
    game, number = won(), "1"
    assert kept_after(game, {"2": "3"}) == {"2": "3", number: f"{stars(game)}"}
    assert kept_after(game, {number: "3"}) is None
    assert kept_after(replace(game, undone=1), {}) is None
    lost = answer(opponents.game_at(LEVELS[1].task, LEVELS[1].seed, opponents.HIDDEN), WalkAway())
    assert kept_after(lost, {}) is None
    assert ladder.record(KEPT, Visit(), {}, NO_ADDRESS)[KEPT]


@pytest.mark.parametrize("sent", [None, [], "x", {"1": 3}, {"1": "4", "99": "1", "x": "1"}])
def test_what_a_browser_sends_for_its_stars_is_read_or_is_none(sent):
    assert ladder.won_in(sent) == {}


def test_only_who_agrees_is_counted_and_once_a_level(page, board, monkeypatch):
    monkeypatch.setattr(subtab, "COUNTED", Limiter(2))
    game, name = won(), ladder.board_name(1)
    kept_after(game, {})
    assert not board.storage.file.exists()
    agreed = [ladder.count_me(page, KEPT, True, ENGLISH, {})[KEPT] for _ in range(3)]
    for texts in (*agreed, agreed[0]):
        assert kept_after(game, texts)["1"] == f"{stars(game)}"
    assert len(board.grades_of_day(name)) == 2  # of one address no more
    shown = ladder.show(page, ENGLISH, agreed[0] | {"1": "2"})
    assert "place 1 of 2" in shown[page.among]
    left = ladder.count_me(page, KEPT, False, ENGLISH, agreed[0])
    assert VISITOR not in left[KEPT]
    assert len(board.grades_of_day(name)) == 1


def test_the_list_opens_two_persons_and_then_the_next(page):
    for stored, playable in (({}, 2), ({"1": "2"}, 3), ({"1": "2", "2": "x"}, 3)):
        shown = str(ladder.show(page, ENGLISH, stored)[page.levels])
        assert shown.count('data-id="play:') == playable
    assert LEVELS[4].text("line") not in shown  # of who is not open yet
    assert "★★☆" in shown


@pytest.mark.parametrize("language", TRANSLATORS)
def test_the_list_is_told_in_each_language(page, language):
    shown = str(ladder.show(page, language, {"1": "3"}, "https://sauda.example")[page.levels])
    assert LEVELS[0].text("line", language) in shown
    assert LEVELS[14].text("trade", language) in shown
    assert (LEVELS[2].text("name", HINDI) in shown) == (language == HINDI)


def test_how_far_one_got_is_a_text_a_link_and_a_picture(page):
    far = str(ladder.how_far({1: 3, 2: 1}, translator(ENGLISH), "https://sauda.example"))
    assert "2 of 15 people beaten, 4 of 45 stars" in far
    assert "https://sauda.example/?tab=haggle&amp;part=ladder&amp;climbed=2" in far
    assert card.link_of(b"tab=haggle&part=ladder&climbed=2").picture == "climbed=2"
    assert card.picture(climbed="2") != card.picture(climbed="3")
    assert ladder.how_far({}, translator(ENGLISH), "") == ""
    for wrong in ("0", "16", "x"):
        with pytest.raises(ValueError, match="persons"):
            card.of_query({card.CLIMBED: wrong})


def test_two_persons_bargain_over_packages_in_words():
    packages = [level for level in LEVELS if get_task(level.task).env.extras]
    assert len(packages) == 2
    for level in packages:
        game, talk = opponents.game_at(level.task, level.seed, opponents.HIDDEN), SILENT
        own, told = game.observation, brief(game)
        assert rupees(own.own["values"]["delivery"]) in told
        low = own.ask // 3
        for text in ("What does delivery cost you?", f"{low} with delivery", f"{low + 5}"):
            game, talk = converse(game, talk, text)
        bids = [move.action for move in game.observation.table.moves if move.agent == "buyer"]
        assert [bid.extras for bid in bids] == [{"delivery"}] * 2
        assert bids[0].message == f"What does delivery cost you? {low} with delivery"
        chat = " ".join(line["content"] for line in chat_of(game, talk).messages)
        assert f"Your bid: {rupees(low)} + delivery." in chat
        limit = own.reservation + own.own["values"]["delivery"]
        assert loss_at(game, limit + 1, ["delivery"]) == 1
        over = game if game.over else answer(game, WalkAway())
        assert "What extras cost the seller" in card_of(over)
        assert review(over).moves
