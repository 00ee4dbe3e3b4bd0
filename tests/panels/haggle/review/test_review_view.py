"""What the Haggle tab shows of a review: nothing before the end, then verdict, moves, best line."""

import re

import pytest

from env import Offer, WalkAway, rupees
from panels.haggle.game_view import limits
from panels.haggle.review.review_view import bar_picture, on_the_table, review_pending, review_shown
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.llm.types import Reply
from sauda.sessions.bazaar import Game, after_reply, answer, quick_moves, start
from sauda.sessions.review import Review, outcome_of, searched

IN_ENGLISH = translator(ENGLISH)


def played(game: Game, *actions) -> Game:
    for action in actions:
        game = answer(game, action)
    return game


@pytest.fixture
def mistake() -> Review:
    """A purchase at ₹52 where ₹31 would have done, and what was typed with it is markup."""
    game = start("classic/single_deal", "", 5)
    return searched(played(game, Offer(20, "<b>twenty</b>"), Offer(52, "<i>₹52</i>")))


def test_the_place_of_the_review_is_empty_while_the_game_runs():
    game = start("classic/single_deal", "", 5)
    assert review_pending(game) == ""
    assert review_pending(answer(game, Offer(20))) == ""
    assert "Looking for better moves" in review_pending(answer(game, WalkAway()))


def test_the_verdict_comes_first_and_names_the_amount_and_the_costliest_move(mistake):
    shown = review_shown(mistake, [], IN_ENGLISH)
    verdict = re.search(r'class="sauda-verdict">([^<]*)<', shown)[1]
    amount = rupees(mistake.missed.rupees)
    assert verdict == f"You left {amount} on the table; the costliest was move 2: ₹52."


def test_every_own_move_has_a_row_with_its_cost_and_a_button_to_try_another(mistake):
    shown = review_shown(mistake, [], IN_ENGLISH)
    assert re.findall(r'data-move="(\d)"', shown) == ["0", "1"]
    costs = re.findall(r'class="sauda-cost[^"]*">([^<]*)<', shown)
    assert costs == ["₹0", f"−{rupees(mistake.missed.rupees)}"]


def test_a_price_that_would_have_been_accepted_at_once_is_named():
    game = start("bazaar/seller_brief", "naive", 3)
    high = Offer(game.observation.table.item.list_price)
    game = played(game, high, high)
    review = searched(played(game, Offer(game.observation.bid + 5)))
    price = rupees(outcome_of(review.moves[2].line).price)
    assert f"At {price} it would have accepted." in review_shown(review, [], IN_ENGLISH)


def test_the_best_line_is_told_with_the_replies(mistake):
    shown = review_shown(mistake, [], IN_ENGLISH)
    lines = re.findall(r"<li>(You: [^<]*)</li>", shown)
    assert lines
    assert all("Reply: " in line for line in lines[:-1])
    assert "accept" in lines[-1].lower()


def test_what_was_typed_never_becomes_markup(mistake):
    shown = review_shown(mistake, ["<u>remark</u>"], IN_ENGLISH)
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert "&lt;u&gt;remark" in shown


def test_the_bars_show_what_was_left_after_each_move(mistake):
    picture = bar_picture(mistake, IN_ENGLISH)
    assert re.findall(r">(\d+)%<", picture)[:2] == ["100", "100"]
    left = f"{mistake.moves[-1].left:.0%}"
    assert f"After your last move {left} of the most" in picture
    assert f">{left}<" in picture


def test_where_nothing_could_be_won_there_is_no_bar():
    """This buyer pays less than the seller's limit, whatever is asked."""
    review = searched(answer(start("bazaar/seller_brief", "aggressive", 3), WalkAway()))
    assert review.moves[0].most.grade == 0
    assert bar_picture(review, IN_ENGLISH) == ""
    assert "You left nothing on the table" in review_shown(review, [], IN_ENGLISH)


def test_a_model_that_was_asked_nothing_is_not_said_to_leave_nothing():
    """Only its replies tell what it would have paid, and there are none yet."""
    left = answer(start("bazaar/seller_brief", "mini", 3), WalkAway())
    shown = review_shown(Review(left, ()), [], IN_ENGLISH)
    assert "You left nothing" not in shown
    assert "No better line is known: no other price was tried" in shown


def test_against_a_model_the_bars_show_what_was_on_the_table():
    """A model's prices are percents of its limit."""
    game = start("bazaar/seller_brief", "mini", 3)
    for ask, percent in ((900, 88), (800, 92)):
        reply = Reply(f'{{"offer":{percent}}}', "model", 9, "stop")
        game = after_reply(answer(game, Offer(ask)), reply)
    low, high = limits(game)
    first, second = (f"{(bid - low) / (high - low):.0%}" for bid in game.observation.table.bids)
    shown = on_the_table(answer(game, WalkAway()), IN_ENGLISH)
    assert re.findall(r">(\d+%)<", shown) == [first, second]
    assert f"The most, {second}, was on the table before your move 3." in shown


def test_a_loss_of_grade_alone_is_told_as_grade():
    """Without a ZOPA nothing but time can be lost by staying."""
    games = (start("bazaar/open", "", seed) for seed in range(100))
    game = next(
        game
        for game in games
        if game.observation.reservation < game.play.state.private["seller"]["reservation"]
    )
    review = searched(played(game, Offer(1), WalkAway()))
    shown = review_shown(review, [], IN_ENGLISH)
    assert review.missed.rupees == 0
    assert f"{review.missed.grade:.2f} of the grade" in shown
    assert "Leaving here was better." in shown


@pytest.mark.parametrize("task_name", ["classic/read_the_tells", "bazaar/rushed", "bazaar/open"])
@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_every_kind_of_game_is_shown_in_both_languages(task_name, language):
    game = start(task_name, "", 6)
    while not game.over:
        game = answer(game, quick_moves(game.observation)[2].action or WalkAway())
    review, translate = searched(game), translator(language)
    shown = review_shown(review, [], translate)
    assert translate("review") in shown
    assert shown.count("data-move") == len(review.moves)
    assert (translate("review_deals") in shown) == (task_name == "classic/read_the_tells")
    assert (translate("review_time") in shown) == task_name.startswith("bazaar/")
