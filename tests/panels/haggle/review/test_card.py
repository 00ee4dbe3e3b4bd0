"""The result card and the leaderboard below it: what a game came to, in the visitor's language."""

import re

import pytest

from env import Accept, Offer, WalkAway
from panels.haggle.choices import ANY_ITEM, HIDDEN, SELL, new_game
from panels.haggle.review.card import card, headline
from panels.haggle.review.result_view import board_of, result
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.games import policies_of
from sauda.sessions.bazaar import Game, answer, start

IN_ENGLISH = translator(ENGLISH)
LATIN = re.compile(r"[A-Za-z]+")
TAG = re.compile(r"<[^>]*>")


def played(game: Game, *actions) -> Game:
    for action in actions:
        game = answer(game, action)
    return game


def sold() -> Game:
    """An item that a script bought at its first bid."""
    game = start("bazaar/seller_brief", "linear", 3)
    return played(game, Offer(2 * game.observation.table.item.list_price), Accept())


def words(html: str) -> str:
    return " ".join(TAG.sub(" ", html).split())


def test_there_is_no_card_while_the_game_runs():
    game = start("bazaar/seller_brief", "linear", 3)
    assert card(game) == ""
    assert board_of(game).rows == ()


@pytest.mark.parametrize(
    ("game", "expected"),
    [
        (played(start("classic/single_deal", "", 5), Accept()), "Bought at ₹60"),
        (
            played(start("classic/single_deal", "", 5), WalkAway()),
            "No deal: you walked away in round 1",
        ),
        (
            played(start("classic/read_the_tells", "", 3), *[Accept(), WalkAway()] * 2, Accept()),
            "3 of 5 deals made",
        ),
    ],
    ids=["bought", "left", "career"],
)
def test_the_headline_says_how_the_game_ended(game, expected):
    assert headline(game, IN_ENGLISH) == expected


def test_the_card_has_price_share_place_opponent_with_its_score_and_a_link():
    game = sold()
    shown = words(card(game))
    assert re.match(r"Sold at ₹[\d,]+", shown)
    assert "of what could be won is yours" in shown
    assert re.search(r"\d of 7( shared)? ", shown)  # six scripts sell, and the visitor
    assert "Against linear" in shown
    assert f"seed={game.play.seed}" in card(game)


def test_a_hidden_opponent_is_revealed_on_the_card():
    game = played(new_game(SELL, ANY_ITEM, HIDDEN), WalkAway())
    assert f"Against {game.opponent.replace('_', ' ')}" in words(card(game))
    stranger = played(start("bazaar/open", "", 7), WalkAway())
    kind = stranger.play.state.private["nature"][0].seller["stance"].type.name
    assert f"Against {kind}" in words(card(stranger))


def test_a_language_model_that_buys_has_no_ranking_and_says_why():
    game = played(start("bazaar/seller_brief", "mini+sft", 3), WalkAway())
    shown = words(card(game))
    assert "No place on this seed: each script would need a game of its own" in shown
    assert "Against SFT, guard rails off" in shown


@pytest.mark.parametrize(
    "game",
    [sold(), played(start("bazaar/open", "", 7), WalkAway()),
     played(start("classic/read_the_tells", "", 3), *[WalkAway()] * 5)],
    ids=["sold", "open market", "career"],
)  # fmt: skip
def test_in_hindi_only_names_and_the_command_are_latin(game):
    translate = translator(HINDI)
    text = words(card(game, translate) + result(game, translate, HINDI))
    command = re.search(r"python -m sauda play [^।]*", text)[0]
    names = {"n", game.task_name, game.opponent}
    names |= {policy.replace("_", " ") for policy in policies_of(game.task)}
    names |= {deal.seller["stance"].type.name for deal in game.play.state.private["nature"]
              if "stance" in deal.seller}  # fmt: skip
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(command, "").replace(name, "") if name else text
    assert LATIN.findall(text) == []


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_the_card_speaks_the_visitors_language(language):
    game, translate = sold(), translator(language)
    assert headline(game, translate) != headline(game, IN_ENGLISH)
    assert translate("board") in result(game, translate, language)
