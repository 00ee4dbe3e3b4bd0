"""What the visitor chooses in the Haggle tab: a seat, a market, an opponent."""

from dataclasses import replace

import pytest

from panels.haggle import callbacks
from panels.haggle.choices import ANY_ITEM, BUY, HIDDEN, SELL, new_game
from panels.haggle.layout import SessionGeneration
from panels.haggle.opening.kept import FIRST
from panels.haggle.opening.open_callbacks import open_page
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.words import ENGLISH
from sauda.llm.backends import THIS_PAGE
from sauda.sessions.bazaar import start
from tests.support.haggle import Model, screen_of, visit_to

AS_OPENED = ("", THIS_PAGE, ENGLISH)  # opponent, backend, language


@pytest.fixture
def screen() -> Screen:
    return screen_of(Model())


def take_seat(screen: Screen, seat: str, market: str) -> Updates:
    return callbacks.take_seat(screen, SessionGeneration(), seat, market, *AS_OPENED)


def change_opponent(
    screen: Screen, opponent: str, visit: Visit, seat: str = SELL, market: str = ANY_ITEM
) -> Updates:
    return callbacks.change_opponent(screen, SessionGeneration(), opponent, seat, market, visit)


def test_another_opponent_gets_the_same_item_and_seed(screen):
    page, visit = screen.page, visit_to(start("bazaar/seller_brief", "boulware", 3))
    moved = replace(visit, game=callbacks.send(screen, replace(visit, text="₹900000"))[page.game])
    updates = change_opponent(screen, "linear", moved)
    game = updates[page.game]
    assert (game.opponent, game.play.seed, len(game.play.turns)) == ("linear", 3, 0)
    twice = replace(moved, game=game)
    told_again = change_opponent(screen, "linear", twice)
    assert told_again == screen.unchanged  # the note on the same item stays
    closed = change_opponent(screen, "boulware", moved)
    assert closed == screen.unchanged  # a list that closes without a choice
    refused = change_opponent(screen, "nobody", moved)
    assert list(refused) == [page.problem]


def test_a_seat_keeps_a_market_it_offers_and_replaces_one_it_does_not(screen):
    page = screen.page
    kept = take_seat(screen, BUY, "bazaar/open")
    assert kept[page.market].value == kept[page.game].task_name == "bazaar/open"
    assert kept[page.opponent].visible
    changed = take_seat(screen, BUY, "hybrid city bicycle")
    assert changed[page.market].value == changed[page.game].task_name == "bazaar/open"
    assert (changed[page.opponent].value, changed[page.opponent].visible) == ("mini:fair", True)
    stall = take_seat(screen, BUY, "classic/amazon_realistic")
    assert (stall[page.opponent].value, stall[page.opponent].visible) == (HIDDEN, False)


def test_a_list_that_closes_without_a_choice_leaves_the_game_alone(screen):
    generation = SessionGeneration()
    open_page(screen, generation, "", {}, "session")
    first = FIRST.seat, FIRST.market
    assert callbacks.take_seat(screen, generation, *first, *AS_OPENED) == screen.unchanged
    chosen = callbacks.take_seat(screen, generation, BUY, "bazaar/open", *AS_OPENED)
    assert chosen[screen.page.game].task_name == "bazaar/open"
    again = callbacks.take_seat(screen, generation, BUY, "bazaar/open", *AS_OPENED)
    assert again == screen.unchanged
    back = callbacks.take_seat(screen, generation, *first, *AS_OPENED)
    assert back[screen.page.game].task_name != "bazaar/open"


def test_an_opponent_chosen_before_the_game_of_a_new_market_is_there_plays_in_that_market(screen):
    before = visit_to(start("classic/amazon_realistic", "", 3))
    updates = change_opponent(screen, "firm", before, BUY, "bazaar/open")
    game = updates[screen.page.game]
    assert (game.task_name, game.opponent) == ("bazaar/open", "firm")
    assert updates[screen.page.opponent]["value"] == "firm"


def test_of_two_choices_that_overlap_the_later_is_shown(screen, monkeypatch):
    generation, later = SessionGeneration(), {}

    def overlapped(*choices):
        monkeypatch.setattr(callbacks, "new_game", new_game)
        later.update(callbacks.take_seat(screen, generation, BUY, "bazaar/open", *AS_OPENED))
        return new_game(*choices)

    monkeypatch.setattr(callbacks, "new_game", overlapped)
    earlier = callbacks.take_seat(screen, generation, SELL, ANY_ITEM, *AS_OPENED)
    assert earlier == screen.unchanged
    assert later[screen.page.game].task_name == "bazaar/open"


def test_a_reply_that_begins_before_a_choice_is_there_does_not_undo_it(screen, monkeypatch):
    generation, streams = SessionGeneration(), []

    def replied_to_meanwhile(*choices):
        streams.append(generation.advance())
        return new_game(*choices)

    monkeypatch.setattr(callbacks, "new_game", replied_to_meanwhile)
    chosen = callbacks.take_seat(screen, generation, BUY, "bazaar/open", *AS_OPENED)
    assert chosen[screen.page.game].task_name == "bazaar/open"
    assert generation.number not in streams


def test_a_rematch_on_the_card_is_against_another_opponent_on_the_same_seed():
    screen = screen_of(Model())
    page, ended = screen.page, visit_to(start("bazaar/seller_brief", "boulware", 3), "bye")
    over = callbacks.send(screen, ended)
    offered = [value for _, value in over[page.same_item]["choices"]]
    assert {"linear", "pilot", "mini+sft", HIDDEN} <= set(offered)
    assert over[page.same_item]["value"] == offered[0] == ""  # "Choose an opponent"

    def pick(opponent: str) -> Updates:
        visit = replace(ended, game=over[page.game])
        return callbacks.replay_item(screen, SessionGeneration(), opponent, SELL, ANY_ITEM, visit)

    assert pick("") == screen.unchanged
    assert pick("boulware")[page.game].play.seed == 3  # the same one again
    again = pick("linear")
    assert (again[page.game].opponent, again[page.game].play.seed) == ("linear", 3)
    assert again[page.opponent]["value"] == "linear"
    assert not again[page.card]["visible"]
