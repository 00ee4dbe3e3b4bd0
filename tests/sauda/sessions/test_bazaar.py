"""A visitor's game: moves, buttons, doubts, the opponent it is against, comparison at its end."""

from dataclasses import replace

import pytest

from env import BAZAAR_TASKS, Accept, EndReason, IllegalAction, Offer, WalkAway, rupees, shares
from sauda.games import policies_of
from sauda.llm.types import Reply
from sauda.policies import BUYERS, SELLERS
from sauda.sessions.bazaar import (
    BACKWARDS,
    FAR_OFF,
    LOSS,
    Game,
    Standing,
    after_reply,
    answer,
    back,
    counterfactual_request,
    doubt,
    finished,
    is_far_off,
    loss_at,
    propose,
    quick_moves,
    rank,
    request,
    standings,
    start,
)

SINGLE, SELLING = "classic/single_deal", "bazaar/seller_brief"
SEEDS = range(1_000_000, 1_000_004)

every_task = pytest.mark.parametrize("task_name", BAZAAR_TASKS)


def ended(game: Game, *actions) -> Game:
    """The game after these moves of the visitor."""
    for action in actions:
        game = answer(game, action)
    return game


def states(task_name: str, opponent: str, seed: int, pick: int) -> list[Game]:
    """Every state in which a visitor is to move who presses button `pick`, or else leaves."""
    game, seen = start(task_name, opponent, seed), []
    while not game.over:
        seen.append(game)
        game = answer(game, quick_moves(game.observation)[pick].action or WalkAway())
    return seen


# Play


def test_a_buyer_starts_after_the_sellers_opening_ask():
    game = start(SINGLE, "", 0)
    assert not game.over
    assert (game.observation.agent, game.observation.ask, game.observation.bid) == (
        "buyer",
        60,
        None,
    )


def test_a_seller_starts_before_anything_is_said():
    game = start(SELLING, "", 0)
    assert game.observation.agent == "seller"
    assert game.play.turns == ()


def test_a_move_is_answered_at_once():
    game = answer(start(SINGLE, "", 0), Offer(20))
    assert [turn.agent for turn in game.play.turns] == ["seller", "buyer", "seller"]
    assert (game.observation.bid, game.observation.ask) == (20, 54)


def test_a_forbidden_move_leaves_the_game_as_it_was():
    game = start(SINGLE, "", 0)
    with pytest.raises(IllegalAction, match="the budget is ₹100"):
        answer(game, Offer(101))
    assert game == start(SINGLE, "", 0)


def test_taking_the_ask_ends_the_game_at_that_price():
    game = ended(start(SINGLE, "", 0), Offer(20), Accept())
    assert game.over
    (deal,) = finished(game).final.table.past
    assert (deal.end, deal.price, deal.rounds) == (EndReason.AGREEMENT, 54, 2)


def test_a_move_after_the_end_is_refused():
    game = ended(start(SINGLE, "", 0), Accept())
    with pytest.raises(IllegalAction, match="this game is over"):
        answer(game, Offer(20))


def test_a_running_game_is_no_episode():
    with pytest.raises(ValueError, match="the game still runs"):
        finished(start(SINGLE, "", 0))


def test_the_same_seed_and_moves_are_the_same_game_and_another_seed_is_another():
    games = [ended(start("classic/amazon_realistic", "", s), WalkAway()) for s in (0, 0, 1)]
    assert games[0] == games[1] != games[2]


# The opponent


@pytest.mark.parametrize("opponent", BUYERS)
def test_a_seller_meets_the_buyer_of_their_choice(opponent: str):
    game = start(SELLING, opponent, 3)
    assert game.task.opponents["buyer"] is BUYERS[opponent]
    assert game.task.learner == "seller"
    after = answer(game, Offer(game.observation.table.item.list_price))
    assert after.play.turns[1].agent == "buyer"


def test_another_opponent_answers_otherwise_on_the_same_seed():
    after = {}
    for opponent in ("aggressive", "naive"):
        game = start(SELLING, opponent, 3)
        after[opponent] = answer(game, Offer(game.observation.table.item.list_price))
    bids = {name: game.observation.bid for name, game in after.items()}
    assert bids["aggressive"] < bids["naive"]


def test_without_a_choice_the_task_keeps_its_own_opponents():
    assert start(SELLING, "", 3).task is BAZAAR_TASKS[SELLING]


@pytest.mark.parametrize(
    ("task_name", "opponent", "fault"),
    [
        (SELLING, "nobody", "no buyer 'nobody' to sell to; buyers are expert,"),
        (SINGLE, "firm", "no seller type 'firm' in classic/single_deal; the tasks bazaar/open,"),
        ("bazaar/open", "linear", "no seller type 'linear' in bazaar/open; .* firm, fair, hasty"),
    ],
)
def test_an_opponent_that_cannot_sit_there_is_refused_with_those_who_can(
    task_name, opponent, fault
):
    with pytest.raises(ValueError, match=fault):
        start(task_name, opponent, 0)


def test_a_chosen_type_of_seller_changes_nothing_else_of_the_deal():
    drawn, firm = start("bazaar/open", "", 5), start("bazaar/open", "firm", 5)
    (one,), (other,) = (game.play.state.private["nature"] for game in (drawn, firm))
    assert other.seller["stance"].type.name == "firm" != one.seller["stance"].type.name
    assert (other.item, other.buyer, other.rounds) == (one.item, one.buyer, one.rounds)
    assert other.seller["reservation"] == one.seller["reservation"]


# Buttons


@every_task
@pytest.mark.parametrize("pick", [1, 2])
def test_every_button_makes_a_legal_move_in_every_state_it_is_offered_in(task_name: str, pick: int):
    opponents = ("", "expert", "naive", "random") if task_name == SELLING else ("",)
    for opponent in opponents:
        for seed in SEEDS:
            for game in states(task_name, opponent, seed, pick):
                for quick in quick_moves(game.observation):
                    if quick.action is not None:
                        after = answer(game, quick.action)
                        assert len(after.play.turns) > len(game.play.turns)


@every_task
def test_no_button_names_a_price_at_a_loss(task_name: str):
    for seed in SEEDS:
        for game in states(task_name, "", seed, 1):
            obs = game.observation
            for quick in quick_moves(obs):
                if isinstance(quick.action, Offer):
                    gain = quick.action.price - obs.reservation
                    assert (gain if obs.agent == "seller" else -gain) >= 0


def test_the_buttons_stay_in_their_places_while_a_game_runs():
    for game in states(SINGLE, "", 0, 2):
        accept, _, _, walk = quick_moves(game.observation)
        assert (accept.label, walk.label) == ("accept", "walk")
        assert isinstance(walk.action, WalkAway)


def test_a_seller_who_has_heard_no_bid_cannot_accept():
    assert quick_moves(start(SELLING, "", 0).observation)[0].action is None


def test_the_second_button_meets_the_other_side_halfway():
    game = answer(start(SINGLE, "", 0), Offer(20))
    assert quick_moves(game.observation)[1].action == Offer(37)  # between 20 and 54


@every_task
def test_no_two_buttons_show_one_price_and_none_takes_a_price_back(task_name: str):
    opponents = ("", "expert", "tit_for_tat") if task_name == SELLING else ("",)
    for opponent in opponents:
        for seed in range(1_000_000, 1_000_012):
            for pick in (1, 2):
                for game in states(task_name, opponent, seed, pick):
                    obs = game.observation
                    own = obs.table.asks if obs.agent == "seller" else obs.table.bids
                    moves = [quick.action for quick in quick_moves(obs)[1:3]]
                    prices = [offer.price for offer in moves if offer is not None]
                    assert len(set(prices)) == len(prices)
                    sign = -1 if obs.agent == "seller" else 1
                    assert not own or all(sign * (price - own[-1]) > 0 for price in prices)


def test_where_the_limit_holds_both_prices_the_second_button_names_a_bolder_one():
    game = start(SELLING, "expert", 3)
    limit = game.observation.reservation
    game = answer(game, Offer(limit + 10))
    assert game.observation.bid < limit - 10
    _, halfway, little, _ = quick_moves(game.observation)
    assert halfway.action == Offer(limit)
    assert limit < little.action.price < limit + 10


# The comparison


@every_task
def test_the_comparison_holds_the_visitor_and_every_policy_best_grade_first(task_name: str):
    game = start(task_name, "", 1_000_000)
    while not game.over:
        game = answer(game, quick_moves(game.observation)[1].action or WalkAway())
    rows = standings(game)
    assert sorted(row.name for row in rows) == sorted(["you", *policies_of(game.task)])
    assert [row.visitor for row in rows].count(True) == 1
    grades = [row.grade for row in rows]
    assert grades == sorted(grades, reverse=True)


def test_the_visitors_row_is_their_own_game():
    game = ended(start(SINGLE, "", 0), Offer(20), Accept())
    (you,) = [row for row in standings(game) if row.visitor]
    assert (you.name, you.price) == ("you", 54)
    assert you.share == you.grade == shares(finished(game).final, "buyer")[0] == 46 / 70


def test_a_visitor_who_plays_a_policys_moves_gets_its_grade():
    game = ended(start(SINGLE, "", 0), Offer(48), Offer(51))  # the moves of naive
    rows = {row.name: row for row in standings(game)}
    assert (rows["you"].grade, rows["you"].price) == (rows["naive"].grade, rows["naive"].price)


def test_the_policies_meet_the_buyer_that_the_visitor_met():
    def prices(opponent: str) -> dict[str, float | None]:
        game = ended(start(SELLING, opponent, 5), WalkAway())
        return {row.name: row.price for row in standings(game)}

    assert set(prices("naive")) == {"you", *SELLERS}
    assert prices("naive") != prices("aggressive")


def test_leaving_wins_nothing():
    (you,) = [row for row in standings(ended(start(SINGLE, "", 0), WalkAway())) if row.visitor]
    assert (you.share, you.grade, you.price) == (0, 0, None)


def test_a_place_is_shared_where_somebody_did_as_well():
    you = Standing("you", 0.5, 0.5, 10, visitor=True)
    better, same, worse = (Standing(n, g, g, 10) for n, g in (("a", 0.9), ("b", 0.5), ("c", 0.1)))
    assert rank([better, you, worse]) == (2, False)
    assert rank([better, you, same, worse]) == (2, True)


# A language model across the table


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
    limit = selling.model_observation.reservation
    assert f"Naya hai, {900 / limit:.0%}"[:-1] in question.messages[-1]["content"]
    after = after_reply(selling, Reply('{"offer":50,"say":"# do"}', "mini, bf16 on CPU"))
    assert not after.waiting
    bid = after.observation.bid
    assert bid == round(limit / 2)
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


def test_the_counterfactual_request_has_the_same_seed_and_no_last_words(selling):
    after = after_reply(selling, Reply('{"offer":50}', "mini"))
    silent, spoken = counterfactual_request(after), request(selling)
    assert silent.seed == spoken.seed
    assert silent.messages != spoken.messages
    assert "Naya" not in str(silent.messages)


def test_a_wrapper_keeps_the_model_within_its_limit_and_says_so(selling):
    limit = selling.model_observation.reservation
    after = after_reply(selling, Reply('{"offer":110}', "mini"))
    assert after.observation.bid <= limit
    assert after.model_moves[0].changes == ("held to its limit",)


def test_a_model_that_sells_words_what_code_decided():
    game = start("bazaar/open", "mini:firm", 5)
    assert game.waiting
    decided = after_reply(
        after_reply(after_reply(game, Reply("x", "m")), Reply("y", "m")), Reply("z", "m")
    )
    assert decided.model_moves[0].source.startswith("scripted words: 3 tries")
    opening = decided.observation.ask
    refused = after_reply(game, Reply("It is yours for ₹1!", "m"))
    assert (refused.play, refused.out_of_tries) == (game.play, False)
    text = f"I ask {rupees(opening)} for this {game.observation.table.item.name}."
    worded = after_reply(game, Reply(text, "m"))
    assert worded.observation.ask == opening
    assert worded.play.state.table.moves[-1].action.message == text
    assert str(round(game.model_observation.reservation)) not in str(request(game).messages)


@pytest.mark.parametrize(
    ("place", "name"), [("bazaar/open", "mini"), (SELLING, "mini:firm"), (SELLING, "mini:nobody")]
)
def test_a_model_in_a_seat_that_is_not_its_own_is_refused(place, name):
    with pytest.raises(ValueError, match=r"no seller for|sells in|no persona"):
        start(place, name, 1)


# Doubts


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
