"""The link to a finished game: it leads to the same item, seed and choice of opponent."""

from urllib.parse import parse_qsl

import pytest

from env import WalkAway
from panels.haggle.choices import ANY_ITEM, BUY, HIDDEN, SELL, chosen_opponent, game_at, new_game
from panels.haggle.opening.link import from_query, to_query
from sauda.sessions.bazaar import Game, answer


def opened(query: str) -> Game:
    setup = from_query(dict(parse_qsl(query.removeprefix("?"))))
    return game_at(setup.task_name, setup.seed, setup.opponent)


@pytest.mark.parametrize(
    "choice",
    [
        (SELL, ANY_ITEM, "linear"),
        (SELL, ANY_ITEM, HIDDEN),
        (SELL, "hybrid city bicycle", "mini+sft"),
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


def test_a_link_to_a_game_with_a_stand_in_names_the_model_that_was_chosen():
    game = new_game(SELL, ANY_ITEM, "mini+sft", ready=False)
    assert opened(to_query(answer(game, WalkAway()))).opponent == "mini+sft"


def test_a_game_that_runs_has_no_link():
    with pytest.raises(ValueError, match="the seed of a game that still runs"):
        to_query(new_game(SELL, ANY_ITEM, "linear"))


@pytest.mark.parametrize(
    "query",
    [
        "task=bazaar/seller_brief&seed=7&against=nobody",
        "task=bazaar/seller_brief&seed=7&against=mini%2B/etc/passwd",
        "task=arena/market_round&seed=7&against=hidden",
        "task=bazaar/open&seed=7",
        "task=bazaar/open&seed=-7&against=hidden",
        "task=bazaar/open&seed=<b>7</b>&against=hidden",
    ],
)
def test_a_link_to_what_the_page_does_not_offer_is_refused(query):
    with pytest.raises(ValueError, match=r"Choose a market|a seed is a whole number"):
        opened(query)


def test_an_address_without_a_game_has_no_setup():
    assert from_query({"tab": "haggle", "__theme": "dark"}) is None


def test_an_address_of_another_tab_names_no_game():
    query = {"tab": "transcripts", "task": "bazaar/open", "seed": "7"}
    assert from_query(query) is None
