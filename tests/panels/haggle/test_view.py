"""What the Haggle tab draws of a game: nothing hidden before the end, nothing typed as markup.

What each kind of game shows stands in the golden views and chats.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from markupsafe import Markup

from env import SELLER_TYPES, Offer, WalkAway, get_task, rollout, rupees
from panels.haggle.choices import BUY, SELL, SELLING_TASK
from panels.haggle.game_view import brief, bubbles, chart, limits
from panels.haggle.opponents.model_view import believed
from panels.haggle.review import belief_picture as picture
from panels.haggle.review.card import card, unranked
from panels.haggle.review.recorded_sellers import FILE, beside
from panels.haggle.review.result_view import board_of, result
from panels.haggle.review.review_view import bar_picture, on_the_table, review_pending, review_shown
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import converse, play_text
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.games import policies_of
from sauda.llm.model import SAUDA
from sauda.llm.types import Reply
from sauda.policies import SELLERS
from sauda.policies.belief import Belief, belief_buyer, believe
from sauda.records.store import load
from sauda.sessions.bazaar import Game, after_reply, answer, start
from sauda.sessions.review import Review, search

IN_ENGLISH, IN_HINDI = translator(ENGLISH), translator(HINDI)


def played(game: Game, *actions) -> Game:
    for action in actions:
        game = answer(game, action)
    return game


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


@pytest.mark.parametrize("seat", [BUY, SELL])
def test_nothing_hidden_is_shown_before_the_end(seat):
    for seed in range(2_000_000, 2_000_020):
        game = start(SELLING_TASK if seat == SELL else "classic/amazon_realistic", "", seed)
        seller, buyer = limits(game)
        secret = buyer if seat == SELL else round(seller, 2)
        assert secret != game.observation.table.item.list_price  # or it would be public
        shown = "".join(map(str, (brief(game), chart(game), result(game))))
        assert str(game.play.seed) not in shown
        assert rupees(secret) not in shown
        assert (card(game), board_of(game).rows, review_pending(game)) == ("", (), "")


def test_a_visitor_who_leaves_before_naming_a_price_is_believed_nothing():
    game = play_text(start(SELLING_TASK, "sauda-mini", 7), "walk away")
    assert believed(game, IN_ENGLISH) == ""


def own_bubbles(game: Game, *texts: str) -> list[str]:
    """The visitor's bubbles after these texts, their tags of HTML left out."""
    talk = SILENT
    for text in texts:
        game, talk = converse(game, talk, text)
    own = [m["content"] for m in bubbles(chat_of(game, talk).messages) if m["role"] == "user"]
    return [Markup(text.replace("</b> ", "</b> · ")).striptags() for text in own]


@pytest.mark.parametrize(
    ("text", "bubble"),
    [
        ("₹30.", "₹30"),
        ("30 rupees", "₹30"),
        ("30 for this old thing", "₹30 · 30 for this old thing"),
        ("तीस रुपये", "तीस रुपये = ₹30"),
        ("I have thirty rupees on me", "thirty rupees = ₹30 · I have thirty rupees on me"),
        ("₹30 <b>now</b>", "₹30 · ₹30 <b>now</b>"),
        ("deal", "₹60 · deal"),
    ],
)
def test_an_own_bubble_shows_the_price_that_was_read_and_words_that_were_read_as_it(text, bubble):
    assert own_bubbles(start("classic/single_deal", "", 5), text) == [bubble]


@pytest.mark.parametrize("task", ["bazaar/seller_brief", "bazaar/open", "classic/read_the_tells"])
def test_in_hindi_only_names_and_the_command_are_latin(task):
    game = start(task, "linear" if task == SELLING_TASK else "", 3)
    while not game.over:
        game = answer(game, WalkAway())
    shown = card(game, IN_HINDI) + result(game, IN_HINDI, HINDI)
    shown += review_shown(search(game), [], IN_HINDI)
    text = re.sub(r"python -m sauda play [^।<]*", "", words(shown))
    names = " ".join([*policies_of(game.task), *SELLER_TYPES, "n"]).replace("_", " ").split()
    assert set(re.findall(r"[A-Za-z]+", text)) <= set(names)


# Beside a sale to a language model stand recorded scripts, as the tournament has them


def test_a_share_stands_above_the_recorded_scripts_whose_mean_is_lower():
    tournament, buyer = load(FILE), f"mini+{SAUDA}"
    means = {
        cell.seller: cell.share.seller.mean
        for cell in tournament.data.cells
        if cell.buyer == buyer and cell.seller in SELLERS
    }
    nothing, everything = beside(tournament, buyer, -1.0), beside(tournament, buyer, 1.0)
    assert (nothing.below, everything.below) == (0, len(means))
    assert everything.best == max(means, key=means.__getitem__)
    assert (everything.best_share, everything.scripts) == (max(means.values()), len(means))
    assert beside(tournament, "nobody", 0.5) is None
    assert unranked("mini+distill-seed1", 0.5, IN_HINDI) == IN_HINDI("no_rank")
    assert unranked(buyer, 0.5, IN_HINDI).startswith(f"{IN_HINDI('no_rank')} ")
    assert unranked(f"{buyer}+honest", 0.5, IN_HINDI) == unranked(buyer, 0.5, IN_HINDI)


# The review


def test_every_own_move_has_its_cost_and_what_was_typed_never_becomes_markup():
    """A purchase at ₹52 where ₹31 would have done."""
    game = start("classic/single_deal", "", 5)
    review = search(played(game, Offer(20, "<b>twenty</b>"), Offer(52, "<i>₹52</i>")))
    shown = review_shown(review, ["<u>remark</u>"], IN_ENGLISH)
    costs = re.findall(r'class="sauda-cost[^"]*">([^<]*)<', shown)
    assert costs == ["₹0", f"−{rupees(review.missed.rupees)}"]
    assert re.findall(r'data-move="(\d)"', shown) == ["0", "1"]
    assert not re.search("<[biu]>", shown)
    assert "&lt;u&gt;remark" in shown
    assert f">{review.moves[-1].left:.0%}<" in bar_picture(review, IN_ENGLISH)


def test_where_nothing_could_be_won_there_is_no_bar():
    """This buyer pays less than the seller's limit, whatever is asked."""
    review = search(answer(start("bazaar/seller_brief", "aggressive", 3), WalkAway()))
    assert review.moves[0].most.grade == 0
    assert bar_picture(review, IN_ENGLISH) == ""
    assert "You left nothing" in review_shown(review, [], IN_ENGLISH)


def test_a_model_that_was_asked_nothing_is_not_said_to_leave_nothing():
    """Only its replies tell what it would have paid, and there are none yet."""
    left = answer(start("bazaar/seller_brief", "mini", 3), WalkAway())
    shown = review_shown(Review(left, ()), [], IN_ENGLISH)
    assert "You left nothing" not in shown
    assert "No better line is known" in shown


def test_against_a_model_the_bars_show_what_was_on_the_table():
    """A model's prices are percents of its limit."""
    game = start("bazaar/seller_brief", "mini", 3)
    for ask, percent in ((900, 88), (800, 92)):
        reply = Reply(f'{{"offer":{percent}}}', "model", 9, "stop")
        game = after_reply(answer(game, Offer(ask)), reply)
    low, high = limits(game)
    shares = [f"{(bid - low) / (high - low):.0%}" for bid in game.observation.table.bids]
    shown = on_the_table(answer(game, WalkAway()), IN_ENGLISH)
    assert re.findall(r">(\d+%)<", shown) == shares
    assert f"The most, {shares[-1]}, was on the table before your move 3." in shown


def test_a_loss_of_grade_alone_is_told_as_grade():
    """Without a ZOPA nothing but time can be lost by staying."""
    games = (start("bazaar/open", "", seed) for seed in range(100))
    game = next(
        game
        for game in games
        if game.observation.reservation < game.play.state.private["seller"]["reservation"]
    )
    review = search(played(game, Offer(1), WalkAway()))
    assert review.missed.rupees == 0
    assert f"{review.missed.grade:.2f} of the grade" in review_shown(review, [], IN_ENGLISH)


# The picture of a belief


@pytest.fixture(scope="module")
def beliefs() -> list[Belief]:
    game = rollout(get_task("bazaar/open"), belief_buyer, 1)
    return [believe(turn.observation.table) for turn in game.trajectory("buyer")]


def test_a_picture_of_beliefs_stays_within_its_frame(beliefs):
    sure = replace(beliefs[-1], weights=np.eye(len(beliefs[-1].weights))[0])
    for pair in ((None, beliefs[0]), (beliefs[0], beliefs[-1]), (beliefs[0], sure), (None, sure)):
        shown = str(picture.belief_picture(*pair, IN_ENGLISH))
        assert "nan" not in shown
        points = re.findall(r'points="([^"]+)"', shown)
        assert len(points) == 2 - (pair[0] is None)  # a hill for each belief
        x, y = np.array(re.findall(r"([-\d.]+),([-\d.]+)", " ".join(points)), float).T
        assert 0 <= x.min() < x.max() <= picture.WIDTH
        assert 0 <= y.min() < y.max() <= picture.HILL
