"""What every own move cost and what would have been better: by the planner, by playing again."""

import numpy as np
import pytest

from env import TASKS, Accept, IllegalAction, Offer, Turn, WalkAway
from sauda.llm.types import Reply
from sauda.sessions.bazaar import Game, after_reply, answer, back, quick_moves, start
from sauda.sessions.review import NOTHING, OwnMove, Worth, oracle, review, worth

SINGLE, SELLING = "classic/single_deal", "bazaar/sell"
MARKET = ("bazaar/open", "bazaar/rushed")


def by_button(game: Game, pick: int) -> Game:
    """The game played out by quick button `pick`, by walking away where it is off."""
    while not game.over:
        game = answer(game, quick_moves(game.observation)[pick].action or WalkAway())
    return game


def at_random(task_name: str, opponent: str, seed: int) -> Game:
    """A game of a visitor who also takes prices back and crosses the own limit."""
    game, rng = start(task_name, opponent, seed), np.random.default_rng(seed)
    while not game.over:
        obs, kind = game.observation, rng.random()
        price = int(obs.reservation * rng.uniform(0.3, 1.6)) + 1
        action = Accept() if kind < 0.08 else WalkAway() if kind < 0.12 else Offer(price)
        try:
            game = answer(game, action)
        except IllegalAction:  # over the purse, or under the bid that stands
            continue
    return game


@pytest.mark.parametrize(
    ("task_name", "opponent"),
    [
        (SELLING, "naive"),
        (SELLING, "listener"),
        (SINGLE, ""),
        ("classic/read_the_tells", ""),
        ("classic/career_10", ""),
        *[(task, "") for task in MARKET],
    ],
)
def test_a_review_advises_no_price_beyond_the_own_limit_and_none_taken_back(task_name, opponent):
    advised = 0
    for seed in range(20, 26):
        game = at_random(task_name, opponent, seed)
        for move in review(game).moves:
            obs, sells = move.turn.observation, game.you == "seller"
            assert move.cost >= NOTHING
            assert (move.better is None) == (move.cost == NOTHING)
            if not isinstance(move.better, Offer) or move.better.price == obs.bid:
                continue
            advised += 1
            price, asks = move.better.price, obs.table.asks
            assert price >= obs.reservation if sells else price <= obs.reservation
            if sells:
                assert not asks or price <= asks[-1]
            else:
                assert price >= (obs.bid or 0)
    assert advised > 0


@pytest.fixture(scope="module")
def bought() -> Game:
    """An open-market game whose buyer opens low, then pays far too much."""
    game = start("bazaar/open", "", 7)
    list_price = game.observation.table.item.list_price
    game = answer(game, Offer(round(0.3 * list_price)))
    return answer(game, Accept())


def test_paying_an_early_ask_is_the_costliest_move_of_a_game(bought):
    found = review(bought)
    assert found.costliest is found.moves[-1]
    assert found.missed.grade == pytest.approx(sum(move.cost.grade for move in found.moves))
    assert isinstance(found.costliest.better, Offer)


def test_the_parts_of_a_gap_add_up_to_what_a_buyer_that_knows_the_seller_gets_more(bought):
    gap = review(bought).gap
    more = oracle("bazaar/open", 7).grade - bought.task.grade(bought.play.state)
    assert gap.inference + gap.control + gap.unknown == pytest.approx(more)
    assert min(gap.inference, gap.control) >= 0


@pytest.mark.parametrize(
    ("task_name", "opponent", "pick"),
    [
        (SELLING, "tit_for_tat", 2),
        (SELLING, "rule_based", 1),
        (SINGLE, "", 1),
        ("classic/marketplace_arena", "", 1),
        ("classic/read_the_tells", "", 2),
    ],
)
def test_a_better_move_earns_what_it_says(task_name, opponent, pick):
    """The costs add up to the difference between the best that is known and what was earned."""
    game = by_button(start(task_name, opponent, 6), pick)
    found = review(game)
    assert found.moves
    for move in found.moves:
        if move.better is None:
            continue
        position = back(game, move.number)
        after = answer(position, move.better)
        closed = len(after.play.state.table.past) > len(position.play.state.table.past)
        if closed:
            earned = worth(game.task, after.play) - worth(game.task, position.play)
            rest = sum(other.cost.grade for other in found.moves[move.number + 1 :])
            assert earned.grade >= move.cost.grade - rest - 1e-9


def test_a_model_that_buys_is_not_asked_what_else_it_would_have_paid():
    game = answer(start(SELLING, "mini", 3), Offer(900))
    game = answer(after_reply(game, Reply('{"offer":80}', "canned")), WalkAway())
    (bid,) = game.play.state.table.bids
    assert bid > game.observation.reservation
    first, last = review(game).moves
    assert first.better is None
    assert (last.better, last.deal.price) == (Accept(), bid)


@pytest.mark.parametrize("task_name", [name for name in TASKS if not name.startswith("classic/")])
def test_a_task_with_an_oracle_has_a_grade_and_a_sentence(task_name):
    found = oracle(task_name, 60_007)
    assert (found is None) == (task_name == SELLING)
    if found is not None:
        assert -1 <= found.grade <= 1
        assert found.meaning.endswith(".")


@pytest.mark.parametrize(
    ("beyond", "cost", "kind"),
    [(0, 0.0, "best"), (-9, 0.01, "good"), (0, 0.04, "inaccuracy"), (0, 0.1, "mistake"),
     (0, 0.3, "blunder"), (1, 0.3, "loss")],
)  # fmt: skip
def test_a_move_is_of_a_class_by_its_cost_or_beyond_the_own_limit(beyond, cost, kind):
    game = start("bazaar/open", "firm", 5)
    limit = int(game.observation.reservation)
    turn = Turn("buyer", game.observation, Offer(limit + beyond))
    assert OwnMove(0, turn, Worth(cost, 0)).kind == kind


def test_the_oracle_gains_nothing_by_words_that_nobody_hears():
    spoken, mute = ([oracle(f"bazaar/{name}", seed).grade for seed in range(8)]
                    for name in ("open", "mute"))  # fmt: skip
    assert all(one >= other for one, other in zip(spoken, mute, strict=True))
    assert spoken != mute
