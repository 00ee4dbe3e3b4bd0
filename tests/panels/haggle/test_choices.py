"""What a visitor can choose before a game, and the game that comes of it."""

from dataclasses import replace

import pytest

from env import WalkAway, begin, get_task
from panels.haggle.choices import (
    ANY_ITEM,
    BUY,
    HIDDEN,
    SELL,
    SELLING_TASK,
    item_of,
    new_game,
)
from panels.haggle.game_view import brief
from panels.haggle.models import STAND_IN
from panels.haggle.opponents.badge import opponent_label
from panels.haggle.review.result_view import result
from panels.haggle.words import ENGLISH, translator
from sauda.policies import BUYERS
from sauda.sessions.bazaar import answer


def test_a_seat_and_a_choice_must_go_together():
    with pytest.raises(ValueError, match="Choose a market"):
        new_game(SELL, "classic/single_deal", "firm")
    with pytest.raises(ValueError, match="Choose a market"):
        new_game(BUY, "classic/single_deal", "firm")
    with pytest.raises(ValueError, match="Choose a market"):
        new_game(BUY, "no such market", HIDDEN)


@pytest.mark.parametrize("kind", ["firm", "fair", "hasty", "bluffer"])
def test_a_visitor_may_choose_whom_to_buy_from_and_learns_it_at_the_end(kind: str):
    game = new_game(BUY, "bazaar/open", kind)
    assert game.play.state.private["nature"][0].seller["stance"].type.name == kind
    assert kind not in str(result(game)) + str(brief(game))
    assert f"The seller was {kind}:" in str(result(answer(game, WalkAway())))


def test_a_hidden_buyer_is_one_of_the_scripts_and_named_at_the_end():
    game = new_game(SELL, ANY_ITEM, HIDDEN)
    assert game.opponent in BUYERS
    assert "The buyer was" not in str(result(game))
    assert f"The buyer was {game.opponent}" in str(result(answer(game, WalkAway()))).replace(
        "rule based", "rule_based"
    ).replace("tit for tat", "tit_for_tat")


def test_a_chosen_ware_is_the_one_sold_and_a_model_that_is_not_ready_is_stood_in_for_by_name():
    model = "sauda-mini+honest"
    for ready, plays, wanted in ((True, model, ""), (False, STAND_IN, model)):
        game = new_game(SELL, "hybrid city bicycle", model, ready)
        assert game.observation.table.item.name == "hybrid city bicycle"
        assert (game.opponent, game.stands_in_for) == (plays, wanted)


def test_a_stand_in_is_named_but_a_hidden_buyer_is_not():
    stand_in = new_game(SELL, ANY_ITEM, "sauda-mini+honest", ready=False)
    hidden = replace(stand_in, stands_in_for="", hidden=True)
    assert opponent_label(stand_in, translator(ENGLISH)) == "tit for tat"
    assert opponent_label(hidden, translator(ENGLISH)) == "Hidden till the end"


def test_a_model_seller_that_is_not_ready_is_stood_in_for_by_the_markets_own():
    game = new_game(BUY, "bazaar/open", "mini:firm", ready=False)
    assert (game.opponent, game.stands_in_for) == ("", "mini:firm")
    assert opponent_label(game, translator(ENGLISH)) == "the market’s own seller"


def test_a_games_seed_is_too_long_to_be_searched_for():
    seeds = {new_game(BUY, "classic/single_deal", HIDDEN).play.seed for _ in range(5)}
    assert len(seeds) == 5
    assert max(seeds) >= 2**120  # of 128 bits: all five are smaller once in 10**12 runs


def test_the_item_of_a_seed_is_that_of_its_game():
    task = get_task(SELLING_TASK)
    for seed in (*range(40), 2**127 + 5):
        assert item_of(seed) == begin(task, seed).state.table.item.name
