"""A visitor is asked back once about a far-off price and about a loss."""

from dataclasses import replace

import pytest

from env import Accept, IllegalAction, Offer, WalkAway
from sauda.sessions.bazaar import answer, back, start
from sauda.sessions.doubts import BACKWARDS, FAR_OFF, LOSS, doubt, is_far_off, loss_at, propose

SINGLE, SELLING = "classic/single_deal", "bazaar/seller_brief"
SEEDS = range(1_000_000, 1_000_004)


def test_a_sellers_slip_is_asked_back_and_binds_nobody():
    game = start(SELLING, "naive", 3)  # this buyer takes any low price
    doubtful = propose(game, Offer(1, "1 litre bottle"))
    assert doubtful.unconfirmed == Offer(1, "1 litre bottle")
    assert (doubtful.play, doubtful.over) == (game.play, False)


def test_the_same_price_again_is_made():
    game = start(SELLING, "naive", 3)
    sold = propose(propose(game, Offer(1)), Offer(1, "yes, ₹1"))
    assert sold == replace(answer(game, Offer(1, "yes, ₹1")), unconfirmed=None)


def test_another_far_off_price_is_asked_back_again():
    doubtful = propose(propose(start(SELLING, "naive", 3), Offer(1)), Offer(2))
    assert doubtful.unconfirmed == Offer(2)


def test_a_price_within_bounds_is_made_at_once_and_ends_the_question():
    game = start(SELLING, "naive", 3)
    list_price = game.observation.table.item.list_price
    after = propose(propose(game, Offer(1)), Offer(list_price))
    assert after.unconfirmed is None
    assert after.observation.table.asks[0] == list_price


def test_taking_a_move_back_ends_the_question():
    game = answer(start(SINGLE, "", 0), Offer(20))
    assert back(propose(game, Offer(1)), 0).unconfirmed is None


def test_a_forbidden_price_is_refused_and_not_asked_back():
    game = start(SELLING, "", 3)
    with pytest.raises(IllegalAction, match="an ask may be at most"):
        propose(game, Offer(11 * game.observation.table.item.list_price))


@pytest.mark.parametrize("share", [0.25, 0.5, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_usual_hard_opening_bid_is_not_asked_back(share, seed):
    for task_name in (SINGLE, "classic/amazon_realistic", "bazaar/open"):
        game = start(task_name, "", seed)
        assert not is_far_off(game, share * game.observation.ask)


@pytest.mark.parametrize("multiple", [0.5, 1, 3])
def test_a_usual_opening_ask_is_not_asked_back(multiple):
    game = start(SELLING, "", 3)
    assert not is_far_off(game, multiple * game.observation.table.item.list_price)


@pytest.mark.parametrize(("price", "far"), [(0.5, True), (1.9, True), (2, False), (53, False)])
def test_the_bounds_follow_the_standing_offers(price, far):
    game = answer(start(SINGLE, "", 0), Offer(20))  # now ₹20 is bid and ₹54 asked
    assert is_far_off(game, price) is far


# A loss


def test_an_ask_below_the_own_limit_is_asked_back_once_in_a_deal():
    game = start(SELLING, "boulware", 3)
    limit = game.observation.reservation
    below = Offer(limit - 2)
    assert loss_at(game, below.price) == 2
    asked = propose(game, below)
    assert (doubt(game, below), asked.unconfirmed, asked.play) == (LOSS, below, game.play)
    made = propose(asked, below)
    assert made.observation.table.asks == (below.price,)
    assert doubt(made, Offer(limit - 4)) == ""


def test_an_accept_at_a_loss_is_asked_back_and_then_made():
    game = answer(
        start(SELLING, "boulware", 3), Offer(start(SELLING, "", 3).observation.reservation)
    )
    assert loss_at(game, game.observation.bid) > 0
    asked = propose(game, Accept())
    assert asked.unconfirmed == Accept()
    assert not asked.over
    assert propose(asked, Accept("deal")).over


def test_a_buyer_whose_purse_allows_a_losing_bid_is_asked_back():
    game = start("bazaar/open", "", 3)
    limit = game.observation.reservation
    assert game.observation.own["purse"] > limit + 1
    price = min(limit + 1, game.observation.ask - 1)
    assert doubt(game, Offer(price)) == (LOSS if price > limit else "")
    assert doubt(game, Offer(limit)) == ""


def test_a_gain_is_never_asked_back():
    game = start(SELLING, "boulware", 3)
    price = game.observation.table.item.list_price
    assert doubt(game, Offer(price)) == ""
    assert doubt(game, Offer(6 * price)) == FAR_OFF


# A price taken back


@pytest.mark.parametrize(
    ("task_name", "opponent", "first", "back"),
    [(SINGLE, "", 30, 29), ("bazaar/open", "", 100, 60), (SELLING, "boulware", 1400, 1500)],
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


def test_the_own_last_price_again_and_one_towards_the_other_side_are_not_asked_back():
    game = answer(start(SINGLE, "", 3), Offer(30))
    assert (doubt(game, Offer(30)), doubt(game, Offer(31))) == ("", "")
    sale = answer(start(SELLING, "boulware", 3), Offer(1400))
    assert (doubt(sale, Offer(1400)), doubt(sale, Offer(1399))) == ("", "")


def test_a_price_of_the_deal_before_is_not_taken_back():
    game = answer(answer(start("classic/read_the_tells", "", 3), Offer(30)), WalkAway())
    assert doubt(game, Offer(20)) == ""
