"""A visitor's game: moves, doubts, the opponent, its patience, the comparison, what moves cost."""

from dataclasses import replace
from itertools import product
from statistics import mean

import numpy as np
import pytest

from env import BAZAAR_TASKS, Accept, IllegalAction, Offer, Turn, WalkAway
from sauda.llm.types import Reply
from sauda.sessions import nerves
from sauda.sessions.bazaar import (
    BACKWARDS,
    LOSS,
    Game,
    after_reply,
    answer,
    back,
    doubt,
    is_far_off,
    is_too_late,
    loss_at,
    propose,
    quick_moves,
    request,
    start,
)
from sauda.sessions.review import Choice, OwnMove, is_loss, oracle, review, worth

SINGLE, SELLING = "classic/single_deal", "bazaar/sell"
SEEDS = range(1_000_000, 1_000_006)

every_task = pytest.mark.parametrize("task_name", BAZAAR_TASKS)


def states(task_name: str, opponent: str, seed: int, pick: int) -> list[Game]:
    """Every state in which a visitor is to move who presses button `pick`, or else leaves."""
    game, seen = start(task_name, opponent, seed), []
    while not game.over:
        seen.append(game)
        game = answer(game, quick_moves(game.observation)[pick].action or WalkAway())
    return seen


def test_a_forbidden_move_leaves_the_game_as_it_was():
    game = start(SINGLE, "", 0)
    with pytest.raises(IllegalAction, match="the budget is ₹100"):
        answer(game, Offer(101))
    assert game == start(SINGLE, "", 0)


def test_a_chosen_type_of_seller_changes_nothing_else_of_the_deal():
    drawn, firm = start("bazaar/open-3", "", 5), start("bazaar/open-3", "firm", 5)
    (one,), (other,) = (game.play.state.private["nature"] for game in (drawn, firm))
    assert other.seller["stance"].type == "firm" != one.seller["stance"].type
    assert (other.item, other.buyer, other.rounds) == (one.item, one.buyer, one.rounds)
    assert other.seller["reservation"] == one.seller["reservation"]


@every_task
@pytest.mark.parametrize("pick", [1, 2])
def test_every_button_makes_a_legal_move_and_no_two_show_one_price_or_take_one_back(
    task_name: str, pick: int
):
    opponents = ("", "expert", "naive", "random", "tit_for_tat") if task_name == SELLING else ("",)
    for opponent, seed in product(opponents, SEEDS):
        for game in states(task_name, opponent, seed, pick):
            obs = game.observation
            moves = [quick.action for quick in quick_moves(obs)]
            for action in filter(None, moves):
                assert len(answer(game, action).play.turns) > len(game.play.turns)
            own = obs.table.asks[-1:] if obs.agent == "seller" else (obs.bid or 0,)
            prices = [offer.price for offer in moves[1:3] if offer is not None]
            assert len(set(prices)) == len(prices)
            sign = -1 if obs.agent == "seller" else 1
            assert not own or all(sign * (price - own[-1]) > 0 for price in prices)


@pytest.fixture
def selling():
    """A visitor who asked once of a model that buys under a grammar and the honest wrapper."""
    return answer(start(SELLING, "mini+constrained+honest", 3), Offer(900, "Naya hai, 900"))


def test_a_game_waits_for_the_model_and_goes_on_with_its_reply(selling):
    assert selling.waiting
    with pytest.raises(IllegalAction, match="still think"):
        answer(selling, Offer(800))
    question = request(selling)
    assert question.schema["anyOf"]
    listed = selling.observation.table.item.list_price
    assert f"Naya hai, {900 / listed:.0%}"[:-1] in question.messages[-1]["content"]
    after = after_reply(selling, Reply('{"offer":50,"say":"# do"}', "mini, bf16 on CPU"))
    assert not after.waiting
    bid = after.observation.bid
    assert bid == round(listed / 2)
    assert after.play.state.table.moves[-1].action.message == f"₹{bid} do"
    assert after.model_moves[0].source == "mini, bf16 on CPU"


def test_a_reply_without_a_move_leaves_the_game_and_the_next_has_another_seed(selling):
    reply = Reply("I love it", "mini")
    again = after_reply(selling, reply)
    assert again.invalid_replies == ("I love it",)
    assert again.waiting
    assert again.out_of_tries
    assert again.play == selling.play
    assert request(again).messages == request(selling).messages
    assert request(again).seed != request(selling).seed
    assert after_reply(again, Reply('{"offer":50}', "mini")).model_moves[0].invalid_replies == (
        "I love it",
    )


def test_what_is_played_again_from_an_earlier_move_is_the_same_game(selling):
    after = answer(after_reply(selling, Reply('{"offer":50}', "mini")), Offer(700))
    earlier = back(after, 1)
    assert earlier.observation == after_reply(selling, Reply('{"offer":50}', "mini")).observation
    assert (len(earlier.model_moves), earlier.undone) == (1, 1)
    assert request(answer(earlier, Offer(700))) == request(after)
    assert back(after, 0).observation == start(SELLING, "mini+constrained+honest", 3).observation
    with pytest.raises(IllegalAction, match="2 moves"):
        back(after, 2)


@pytest.mark.parametrize("share", [0.25, 0.5, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_usual_hard_opening_bid_is_not_asked_back(share, seed):
    for task_name in (SINGLE, "classic/amazon_realistic", "bazaar/open-3"):
        game = start(task_name, "", seed)
        assert not is_far_off(game, share * game.observation.ask)


def test_a_loss_is_asked_back_once_in_a_deal():
    game = start(SELLING, "boulware", 3)
    limit = game.observation.reservation
    below = Offer(limit - 2)
    assert loss_at(game, below.price) == 2
    asked = propose(game, below)
    assert (doubt(game, below), asked.unconfirmed, asked.play) == (LOSS, below, game.play)
    made = propose(asked, below)
    assert made.observation.table.asks == (below.price,)
    assert doubt(made, Offer(limit - 4)) == ""
    offered = answer(game, Offer(limit))
    assert loss_at(offered, offered.observation.bid) > 0
    accepted = propose(offered, Accept())
    assert (accepted.unconfirmed, accepted.over) == (Accept(), False)
    assert propose(accepted, Accept("deal")).over


@pytest.mark.parametrize(
    ("task_name", "opponent", "first", "back"),
    [(SINGLE, "", 30, 29), (SELLING, "boulware", 1400, 1500)],
)
def test_a_price_behind_the_own_last_one_is_asked_back_and_then_made(
    task_name, opponent, first, back
):
    game = answer(start(task_name, opponent, 3), Offer(first))
    assert doubt(game, Offer(back)) == BACKWARDS
    asked = propose(game, Offer(back))
    assert asked.play == game.play
    own = propose(asked, Offer(back)).observation.table
    assert (own.asks if task_name == SELLING else own.bids)[-1] == back


def test_a_lower_bid_is_asked_back_and_the_seller_reminds_of_the_one_that_stands():
    game = start("bazaar/open-3", "firm", 5)
    game = answer(game, Offer(round(0.45 * game.observation.opening_ask)))
    asked = propose(game, Offer(game.observation.bid - 10))
    lower = propose(asked, asked.unconfirmed)
    assert lower.observation.bid == game.observation.bid
    assert f"{game.observation.bid:,}" in lower.play.turns[-1].action.message
    shown = [quick.action for quick in quick_moves(lower.observation)[1:3]]
    assert all(offer is None or offer.price > game.observation.bid for offer in shown)


def test_the_planner_buys_from_a_visitor_in_whole_rupees_within_its_limit():
    game = start(SELLING, "listener", 3)
    for ask in (1.2, 1.1, 1.0, 0.95):
        if not game.over:
            game = answer(game, Offer(round(ask * game.observation.table.item.list_price)))
    bids = game.observation.table.bids
    limit = game.play.state.private["buyer"]["reservation"]
    assert bids
    assert all(bid == int(bid) and bid <= limit for bid in bids)
    assert list(bids) == sorted(bids)


MARKET = ("bazaar/open-3", "bazaar/people")


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
        ("bazaar/people", ""),
        ("bazaar/customers", ""),
        (SINGLE, ""),
        ("classic/read_the_tells", ""),
        ("classic/career_10", ""),
        *[(task, "") for task in MARKET],
    ],
)
def test_a_review_advises_no_price_beyond_the_own_limit_and_none_taken_back(task_name, opponent):
    advised = 0
    for seed in range(20, 22 if opponent == "listener" else 26):  # the planner takes seconds
        game = at_random(task_name, opponent, seed)
        for move in review(game).moves:
            obs, sells = move.turn.observation, game.you == "seller"
            assert move.cost >= 0
            assert (move.better is None) == (move.cost == 0)
            better = move.better and move.better.action
            assert not any(is_loss(obs, choice.action) for choice in move.choices)
            if not isinstance(better, Offer) or better.price == obs.bid:
                continue
            advised += 1
            price, asks = better.price, obs.table.asks
            assert price >= obs.reservation if sells else price <= obs.reservation
            if sells:
                assert not asks or price <= asks[-1]
            else:
                assert price >= (obs.bid or 0)
    assert advised > 0


@pytest.fixture(scope="module")
def bought() -> Game:
    """An open-market game whose buyer opens low, then pays far too much."""
    game = start("bazaar/open-3", "", 7)
    list_price = game.observation.table.item.list_price
    game = answer(game, Offer(round(0.3 * list_price)))
    return answer(game, Accept())


def test_paying_an_early_ask_is_the_costliest_move_of_a_game(bought):
    found = review(bought)
    assert found.costly[0] is found.moves[-1]
    assert isinstance(found.costly[0].better.action, Offer)
    best, *others = sorted((choice.grade for choice in found.costly[0].choices), reverse=True)
    assert best == found.costly[0].better.grade > max(others)
    weighed = found.weigh(1, found.costly[0].better.action)
    assert weighed.grade == pytest.approx(best)


@pytest.mark.parametrize(("seed", "is_gamble"), [(39, True), (22, False)])
def test_a_costly_bid_that_was_taken_is_a_gamble_where_the_better_one_was_likelier_taken(
    seed, is_gamble
):
    game, share = start("bazaar/people", "", seed), 0.5
    while not game.over:
        bid = Offer(round(share * game.observation.table.item.list_price))
        game, share = answer(game, bid), share + 0.08
    assert game.play.state.table.past[-1].by == "seller"
    *_, last = review(game).moves
    assert last.is_taken
    assert (last.better.action.price > last.turn.action.price) == is_gamble == last.is_gamble


def test_the_parts_of_a_gap_add_up_to_what_a_buyer_that_knows_the_seller_gets_more(bought):
    gap = review(bought).gap
    more = oracle("bazaar/open-3", 7).grade - bought.task.grade(bought.play.state)
    assert gap.inference + gap.control + gap.unknown == pytest.approx(more)
    assert min(gap.inference, gap.control) >= 0


def test_a_price_after_the_last_bid_is_worth_what_leaving_is_and_is_not_advised():
    game = start("bazaar/customers", "", 9)
    price = 2 * game.observation.table.item.list_price
    while not game.over:
        game, price = answer(game, Offer(price)), price - 1
    move = review(game).moves[-1]
    assert is_too_late(move.turn.observation)
    assert [quick.action for quick in quick_moves(move.turn.observation)[1:3]] == [None, None]
    leaving = next(each for each in move.others if each.action == WalkAway())
    assert move.grade == pytest.approx(leaving.grade)
    assert not any(isinstance(each.action, Offer) for each in move.others)


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
    *_, last = states(task_name, opponent, 6, pick)
    game = answer(last, quick_moves(last.observation)[pick].action or WalkAway())
    found = review(game)
    assert found.moves
    for move in found.moves:
        if move.better is None:
            continue
        position = back(game, move.number)
        after = answer(position, move.better.action)
        closed = len(after.play.state.table.past) > len(position.play.state.table.past)
        if closed:
            earned = worth(game.task, after.play) - worth(game.task, position.play)
            rest = sum(other.cost for other in found.moves[move.number + 1 :])
            assert earned >= move.cost - rest - 1e-9


def test_a_script_answers_other_moves_in_the_place_of_a_model_that_buys():
    game = answer(start(SELLING, "mini", 3), Offer(900))
    game = answer(after_reply(game, Reply('{"offer":80}', "canned")), WalkAway())
    (bid,) = game.play.state.table.bids
    assert bid > game.observation.reservation
    found = review(game)
    assert found.moves[1].better.grade > 0
    better = found.weigh(1, Accept())
    assert better.deal.price == bid
    with pytest.raises(IllegalAction):
        found.weigh(2, Accept())


@pytest.mark.parametrize(
    ("beyond", "cost", "kind"),
    [(0, 0.0, "best"), (-9, 0.01, "good"), (0, 0.04, "inaccuracy"), (0, 0.1, "mistake"),
     (0, 0.3, "blunder"), (1, 0.3, "loss")],
)  # fmt: skip
def test_a_move_is_of_a_class_by_its_cost_or_beyond_the_own_limit(beyond, cost, kind):
    game = start("bazaar/open-3", "firm", 5)
    limit = int(game.observation.reservation)
    turn = Turn("buyer", game.observation, Offer(limit + beyond))
    assert OwnMove(0, turn, 0.0, (Choice(Offer(1), cost),)).kind == kind


# The patience that a visitor is shown: from public moves alone, and true on average


FIRST, SEATS = 60_000, ("buyer", "seller")


def stand_still(seed: int):
    """Each position of a buyer that bids half the opening ask for ever, with the game after it."""
    game = start(nerves.TASK, "", seed)
    price = int(min(game.observation.reservation, 0.55 * game.play.state.table.asks[0]))
    while not game.over:
        after = answer(game, Offer(price))
        yield game, after
        game = after


def left(game) -> bool:
    return isinstance(game.play.turns[-1].action, WalkAway)


def test_bids_that_stand_still_are_left_about_as_often_as_is_told():
    risks, ends = [], []
    for seed in range(FIRST, FIRST + 60):
        for game, after in stand_still(seed):
            if not game.play.state.table.bids or (after.over and not left(after)):
                continue  # a first bid, which nothing stood still before; taken or out of time
            risks.append(nerves.chance_to_leave(game))
            ends.append(left(after))
    assert len(ends) > 40
    assert sum(ends) / len(ends) == pytest.approx(sum(risks) / len(risks), abs=0.15)


@pytest.mark.parametrize("task", [nerves.TASK, "bazaar/customers", "bazaar/open-3"])
def test_a_price_is_taken_and_left_about_as_often_as_is_foretold(task):
    outlooks, ends, none, never = [], [], [], []
    for seed in range(FIRST, FIRST + 40):
        game = start(task, "", seed)
        buyer, seller = (game.play.state.private[seat]["reservation"] for seat in SEATS)
        step, share = (0.1, 0.5) if game.you == "buyer" else (-0.1, 1.3)
        while not (game.over or is_too_late(game.observation)):
            obs, price = game.observation, round(share * game.observation.table.item.list_price)
            belief = nerves.believe_at(task, obs)
            none.append(nerves.chance_of_no_deal(belief, obs))
            never.append(buyer <= seller)
            if not (price < obs.ask if game.you == "buyer" else price > (obs.bid or 0)):
                break
            outlooks.append(nerves.outlook(task, belief, obs, Offer(price)))
            game, share = answer(game, Offer(price)), share + step
            ends.append(type(game.play.turns[-1].action))
    assert len(ends) > 60
    for kind, foretold in ((Accept, "takes"), (WalkAway, "leaves")):
        chances = [getattr(each, foretold) for each in outlooks]
        assert ends.count(kind) / len(ends) == pytest.approx(mean(chances), abs=0.1)
    assert mean(never) == pytest.approx(mean(none), abs=0.1)


def test_a_step_that_hardly_moves_is_small_and_likelier_left_than_a_large_one():
    game = start(nerves.TASK, "", FIRST)
    bid = round(0.6 * game.observation.ask)
    obs = answer(game, Offer(bid)).observation
    belief = nerves.believe_at(nerves.TASK, obs)
    small, large = (
        nerves.outlook(nerves.TASK, belief, obs, Offer(price))
        for price in (bid + 1, round((bid + obs.ask) / 2))
    )
    assert small.is_small > large.is_small
    assert small.leaves > large.leaves
    assert small.takes < large.takes


def test_the_hidden_numbers_of_the_seller_change_nothing():
    game = start(nerves.TASK, "", FIRST)
    hidden = replace(game.play.state.private["seller"]["stance"], patience=2, rival=True)
    other = game.play.state.private | {
        "seller": game.play.state.private["seller"] | {"stance": hidden}
    }
    changed = replace(game, play=replace(game.play, state=replace(game.play.state, private=other)))
    assert nerves.chance_to_leave(changed) == nerves.chance_to_leave(game)


def test_a_seller_that_left_has_its_reason_and_its_chance():
    walks = []
    for seed in range(FIRST, FIRST + 20):
        *_, (_, last) = stand_still(seed)
        walk = nerves.last_walk(last)
        assert (walk is not None) == left(last)
        walks += [walk] if walk else []
    assert {reason for reason, _ in walks} <= {"patience", "rival", "talk"}
    assert all(0 < risk <= 1 for _, risk in walks)


def test_no_chance_is_told_of_a_game_whose_rule_is_not_known():
    game = start("classic/single_deal", "", 5)
    assert not nerves.can_leave(game)
    with pytest.raises(ValueError, match="known rule"):
        nerves.chance_to_leave(game)
