"""What a visitor finds on opening the page: a shared game, a new one, and why no former one."""

import json
from urllib.parse import parse_qsl

import pytest

from env import WalkAway
from panels.haggle.layout import FIRST, PICKS
from panels.haggle.opponents import (
    ANY_ITEM,
    ANY_SELLER,
    BUY,
    HIDDEN,
    SELL,
    chosen_opponent,
    market_choices,
    new_game,
)
from panels.haggle.result import to_query
from panels.haggle.resume import open_page, open_pickers, read_kept, shared_game
from panels.haggle.screen import Screen
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Loading
from sauda.sessions.bazaar import Game, answer
from tests.support.haggle import Model, screen_of

BACKENDS = (THIS_PAGE,)
OPENING = {name: getattr(FIRST, name) for name in PICKS}
CHOSEN = OPENING | {"seat": BUY, "market": "bazaar/open", "opponent": "firm", "language": HINDI}
SHARED = {"task": "bazaar/sell", "seed": "7", "against": "linear"}


def kept(session: str = "gone", moved: bool = True, **picks: object) -> str:
    return json.dumps({"session": session, "moved": moved, **OPENING, **picks})


def open_tab(screen: Screen, text: str = "", query: dict | None = None) -> dict:
    return open_page(screen, text, query or {}, "a session")


def pickers(screen: Screen, updates: dict) -> dict:
    """What the pickers show beside the game that was opened."""
    return open_pickers(screen, updates[screen.page.visit])


@pytest.fixture
def screen() -> Screen:
    return screen_of(Model())


@pytest.mark.parametrize(
    "text", ["", "null", "7", "[]", "{}", '{"session": 7}', '{"session"', "<b>x</b>", '"x"']
)
def test_what_no_tab_of_ours_kept_is_nothing(text):
    assert read_kept(text, BACKENDS) is None


def test_choices_that_the_page_does_not_have_are_those_it_opens_with():
    odd = {"seat": "x", "market": 5, "opponent": ["mini"], "backend": "mine", "language": "<b>"}
    assert read_kept(kept(**odd), BACKENDS).picks == OPENING
    other = read_kept(kept(seat=BUY, market="bazaar/open", opponent="linear"), BACKENDS).picks
    assert (other["market"], other["opponent"]) == ("bazaar/open", ANY_SELLER)


def test_the_first_visit_fills_the_items_alone_and_learns_the_session(screen):
    page, updates = screen.page, open_tab(screen)
    (items,) = pickers(screen, updates).values()
    assert items.choices == market_choices(SELL)
    assert updates[page.session] == "a session"
    assert 'id="haggle-problem"></div>' in updates[page.moves]
    assert updates[page.visit].game.opponent == FIRST.opponent


@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_a_game_that_is_gone_is_told_with_its_reason_and_the_choices_stay(screen, language):
    page, picks = screen.page, {**CHOSEN, "language": language}
    updates = open_tab(screen, kept(**picks))
    assert translator(language)("gone") in updates[page.moves]
    assert updates[page.visit].game.opponent == "firm"
    drawn = pickers(screen, updates)
    shown = [drawn[part].value for part in (page.seat, page.market, page.opponent)]
    assert shown == [BUY, "bazaar/open", "firm"]
    assert drawn[page.language].value == language


def test_a_shared_game_comes_before_the_one_that_the_tab_kept(screen):
    page, updates = screen.page, open_tab(screen, kept(**CHOSEN), SHARED)
    game = updates[page.visit].game
    assert (game.task_name, game.play.seed, game.opponent) == ("bazaar/sell", 7, "linear")
    assert translator(HINDI)("shared_game") in updates[page.moves]
    drawn = pickers(screen, updates)
    assert (drawn[page.seat].value, drawn[page.opponent].value) == (SELL, "linear")


def test_a_link_with_the_former_name_of_the_sale_opens_the_same_game(screen):
    updates = open_tab(screen, query=SHARED | {"task": "bazaar/seller_brief"})
    assert updates[screen.page.visit].game == open_tab(screen, query=SHARED)[screen.page.visit].game


def test_a_stage_in_a_link_is_loaded_while_a_script_plays():
    screen = screen_of(Model(stage=Loading(THIS_PAGE, 0.0)))
    updates = open_tab(screen, query=SHARED | {"against": "mini"})
    game = updates[screen.page.visit].game
    assert (game.stands_in_for, game.opponent) == ("mini", "tit_for_tat")
    assert "loading" in updates[screen.page.brief]


@pytest.mark.parametrize("wrong", [{"seed": "x"}, {"against": "nobody"}, {"task": "<b>x</b>"}])
def test_a_link_to_no_game_is_told_and_a_new_game_begins(screen, wrong):
    page, updates = screen.page, open_tab(screen, query=SHARED | wrong)
    assert "The link names no game" in updates[page.moves]
    assert "<b>" not in updates[page.moves]
    assert updates[page.visit].game.opponent == FIRST.opponent


@pytest.mark.parametrize(
    "former",
    [
        {"task": "bazaar/bluff", "seed": "7", "against": "hidden"},
        {"task": "bazaar/crowd", "seed": "7", "against": "hidden"},
        {"task": "bazaar/open", "seed": "7", "against": "firm"},
        {"task": "bazaar/rushed", "seed": "7", "against": "hidden", "ask": "1"},
    ],
)
def test_a_link_to_a_game_of_the_former_market_says_so_and_the_choices_stay(screen, former):
    page, updates = screen.page, open_tab(screen, kept(**CHOSEN), former)
    assert translator(HINDI)("gone_market") in updates[page.moves]
    assert updates[page.visit].game.opponent == CHOSEN["opponent"]
    assert not updates[page.visit].game.over


def opened(query: str) -> Game:
    return shared_game(dict(parse_qsl(query.removeprefix("?"))))


@pytest.mark.parametrize(
    "choice",
    [
        (SELL, ANY_ITEM, "linear"),
        (SELL, ANY_ITEM, HIDDEN),
        (SELL, "hybrid city bicycle", "mini"),
        (BUY, "bazaar/open", HIDDEN),
        (BUY, "bazaar/open", "firm"),
        (BUY, "classic/single_deal", HIDDEN),
    ],
)
def test_a_link_opens_the_same_game_for_a_friend(choice):
    game = new_game(*choice)
    again = opened(to_query(answer(game, WalkAway())))
    assert (again.task_name, again.opponent, again.hidden) == (
        game.task_name, game.opponent, game.hidden
    )  # fmt: skip
    assert again.play.seed == game.play.seed
    assert again.observation.table == game.observation.table
    assert chosen_opponent(again) == choice[2]


def test_a_game_that_runs_has_no_link():
    with pytest.raises(ValueError, match="the seed of a game that still runs"):
        to_query(new_game(SELL, ANY_ITEM, "linear"))


@pytest.mark.parametrize(
    "query",
    [
        "task=bazaar/sell&seed=7&against=nobody",
        "task=bazaar/sell&seed=7&against=mini%2B/etc/passwd",
        "task=arena/market_round&seed=7&against=hidden",
        "task=bazaar/open&seed=7",
        "task=bazaar/open&seed=-7&against=hidden",
        "task=bazaar/open&seed=<b>7</b>&against=hidden",
    ],
)
def test_a_link_to_what_the_page_does_not_offer_is_refused(query):
    with pytest.raises(ValueError, match=r"Choose a market|a seed is a whole number"):
        opened(query)
