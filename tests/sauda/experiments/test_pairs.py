"""A pair's games: the same by both engines, with a language model in either seat or in both."""

from dataclasses import replace
from itertools import product

import pytest

from env import SELLER_TYPES, Accept, IllegalAction, begin, episode, get_task, rollout
from sauda.experiments.pairs import (
    SCRIPTS,
    TASK,
    Pair,
    Side,
    buyer_policy,
    columns,
    instance,
    is_refused_agreement,
    play_models,
    play_pair,
    play_sides,
    replay_episodes,
    replay_pair,
    scenario_seeds,
    sides,
    task_against,
    weights,
)
from sauda.games import BAZAAR
from sauda.games.adapter import ModelTurn, ParsedReply, Reply
from sauda.llm.turn import PromptSeat
from sauda.policies import BUYERS
from sauda.records.splits import SPLITS, is_unseen_listing
from tests.support.models import Haggler

SEEDS = scenario_seeds(10)
SELLERS = (*SCRIPTS, *SELLER_TYPES, "null:friendly", "null:bluffer")
HAGGLER = Side(PromptSeat(BAZAAR.prompt), Haggler(), "")


def test_scenarios_are_hold_out_games_about_unseen_listings():
    assert len(set(SEEDS)) == 10
    assert all(seed in SPLITS["holdout"] for seed in SEEDS)
    assert all(is_unseen_listing(instance(seed).item) for seed in SEEDS)
    with pytest.raises(ValueError, match="at least 2 scenarios"):
        scenario_seeds(1)


@pytest.mark.parametrize("seller", SELLERS)
def test_a_seller_changes_nothing_of_a_scenario_but_itself(seller):
    for seed in SEEDS[:4]:
        (deal,) = begin(task_against(seller), seed).state.private["nature"]
        own = instance(seed)
        assert (deal.item, deal.rounds, deal.buyer) == (own.item, own.rounds, own.buyer)
        assert deal.seller["reservation"] == own.seller["reservation"]
        assert deal.seller["chance"] == own.seller["chance"]


@pytest.mark.parametrize(
    ("buyer", "seller"), [*product((*BUYERS, "pilot"), SELLERS)], ids=lambda name: name
)
def test_both_engines_play_the_same_games(buyer, seller):
    pair = Pair(buyer, seller)
    assert play_pair(pair, SEEDS) == replay_pair(pair, SEEDS)


def test_a_seller_without_the_markets_parameters_shows_no_manner():
    for seller, shows in (("linear", False), ("firm", True)):
        game = rollout(task_against(seller), BUYERS["boulware"], SEEDS[0])
        assert any(move.tells is not None for move in game.final.table.moves) is shows


@pytest.mark.parametrize("seller", SCRIPTS)
def test_a_seller_that_plays_through_language_plays_the_same_games_in_words(seller):
    for buyer, strategy in (("linear", "linear"), ("acts(boulware)", "boulware")):
        spoken = play_pair(Pair(buyer, f"acts({seller})"), SEEDS)
        assert spoken == play_pair(Pair(strategy, seller), SEEDS)
    game = rollout(task_against(f"acts({seller})"), BUYERS["linear"], SEEDS[0])
    assert all(turn.action.message for turn in game.trajectory("seller"))


@pytest.mark.parametrize(
    "seller", ["schedule", "acts(schedule)", "acts(firm)", "nobody", "null:nobody", "null+honest"]
)
def test_a_seller_that_there_is_none_of_is_refused(seller):
    with pytest.raises(ValueError, match=r"sellers are|personas are|a wrapper steers a buyer"):
        task_against(seller)


# Language models ---------------------------------------------------------------------------------


def test_a_model_that_buys_meets_the_games_that_a_policy_meets():
    """The haggler's moves as a policy, through `rollout`, are the same games."""
    policy = replace(buyer_policy("null"), seat=HAGGLER.seat, generate=Haggler())
    for seller in ("firm", "tit_for_tat"):
        task = task_against(seller)
        played = play_sides(task, {"buyer": HAGGLER}, task.opponents, SEEDS)
        alone = [rollout(task, policy, seed) for seed in SEEDS]
        assert columns([episode(task, game.play) for game in played]) == columns(alone)


def test_a_model_that_sells_and_one_in_both_seats_play_to_the_end():
    task = task_against("linear")
    played = play_sides(task, {"seller": HAGGLER}, {"buyer": BUYERS["linear"]}, SEEDS)
    sold = columns([episode(task, game.play) for game in played])
    assert set(sold["end"]) <= set("ABDG")
    limit = instance(SEEDS[0]).seller["reservation"]
    assert played[0].play.state.table.asks[0] == round(1.5 * limit)
    both = play_sides(task, {"buyer": HAGGLER, "seller": HAGGLER}, {}, SEEDS)
    ended = columns([episode(task, game.play) for game in both])["end"]
    assert set("A") <= set(ended) <= set("AFG")


def test_a_model_that_never_moves_forfeits_in_the_seat_that_it_has():
    bought = play_models(Pair("null", "linear"), SEEDS)
    assert (set(bought["end"]), set(bought["rounds"])) == ({"F"}, {0})
    sold = play_models(Pair("linear", "null"), SEEDS)
    assert (set(sold["end"]), set(sold["price"])) == ({"G"}, {None})


def test_a_game_with_too_few_recorded_replies_is_refused():
    with pytest.raises(ValueError, match="more replies than are recorded"):
        replay_episodes(Pair("null", "linear"), SEEDS[:1], [[]])


def test_a_persona_with_scripted_words_is_a_script():
    assert sides(Pair("linear", "null:firm")) == {}
    assert weights(Pair("linear", "null:firm")) == []
    assert weights(Pair("linear", "mini:firm")) == ["mini"]
    assert weights(Pair("mini", "mini")) == ["mini", "mini"]


# Agreements --------------------------------------------------------------------------------------


def turn_with(text: str) -> ModelTurn:
    obs = rollout(get_task(TASK), BUYERS["linear"], SEEDS[0]).trajectory("buyer")[1].observation
    try:
        proposal = BAZAAR.prompt.parse(text, obs)
    except IllegalAction as error:
        proposal = error
    return ModelTurn(obs, None, Reply(text, "test"), ParsedReply(proposal))


@pytest.mark.parametrize(
    ("text", "misstated"),
    [
        ('{"accept":true}', False),
        ('{"accept":true,"say":"Done."}', False),
        ('{"accept":true,"say":"Done at ₹7."}', True),
        ('{"accept":3}', True),
        ('{"action":"accept","message":"Fine, ₹7."}', True),
        ('{"offer":"many"}', False),
        ("Well, who can say?", False),
    ],
)
def test_a_reply_that_agrees_at_another_price_is_a_misstated_agreement(text, misstated):
    assert is_refused_agreement(turn_with(text)) is misstated


def test_words_that_name_another_price_than_the_one_agreed_are_found():
    def saying(price):
        def buyer(obs, rng):
            words = f"Agreed, ₹{price or int(obs.ask)}."
            return Accept(words) if obs.round else BUYERS["naive"](obs, rng)

        return buyer

    for buyer, lies in ((saying(1), True), (saying(0), False)):
        games = columns([rollout(task_against("firm"), buyer, seed) for seed in SEEDS])
        agreed = [i for i in games["misstated"]["buyer"] if games["end"][i] == "A"]
        assert bool(agreed) is lies
        assert games["misstated"]["seller"] == []
