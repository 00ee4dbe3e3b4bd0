"""The review as an event of its own: after the end, once, in the language of the visitor."""

import asyncio
import os
import signal
from dataclasses import replace

import pytest
from loky import get_reusable_executor

from env import Accept, Offer
from panels.haggle import callbacks
from panels.haggle.layout import SessionGeneration
from panels.haggle.review import review_callbacks
from panels.haggle.screen import Screen, Visit
from sauda.fairness import FairQueue, Visitor
from sauda.llm.types import Reply, ReplyTimeout
from sauda.sessions.bazaar import after_reply, answer, start
from tests.support.coroutines import run
from tests.support.haggle import Model, screen_of, visit_to

VISITOR = Visitor("a session", "10.0.0.1")


def after_move(screen: Screen, updates: dict, visit: Visit, generation=None) -> list[dict]:
    """What the review shows that the event after a move makes due, but for the empty update."""
    page, generation = screen.page, generation or SessionGeneration()
    visit, requested = replace(visit, game=updates[page.game]), updates.get(page.review_request)

    async def collected():
        replied = review_callbacks.reply_then_review(
            screen, VISITOR, generation, updates[page.reply_request], requested, visit
        )
        due = [update[page.review_due] async for update in replied if page.review_due in update]
        if not due:
            return []
        review = review_callbacks.stream_review(screen, VISITOR, generation, requested, visit)
        return [update async for update in review][1:]

    return run(collected())


@pytest.fixture
def bought() -> tuple[Screen, Visit, dict]:
    """A visitor who has just taken the plain seller's ₹60, and what that showed."""
    screen, visit = screen_of(Model()), visit_to(start("classic/single_deal", "", 5), "deal")
    return screen, visit, callbacks.send(screen, visit)


def test_the_last_move_shows_the_result_at_once_and_the_review_after_it(bought):
    screen, visit, updates = bought
    page = screen.page
    assert "Looking for better moves" in updates[page.review]
    assert page.result in updates
    ((part, shown),) = [item for update in after_move(*bought[:1], updates, visit)
                        for item in update.items()]  # fmt: skip
    assert part is page.review
    assert "You left ₹29 on the table" in shown
    assert "playing this seed again" in shown


def test_nothing_is_reviewed_while_the_game_runs():
    screen, visit = screen_of(Model()), visit_to(start("classic/single_deal", "", 5), "₹20")
    updates = callbacks.send(screen, visit)
    assert screen.page.review not in updates
    assert after_move(screen, updates, visit) == []


def test_a_review_that_is_under_way_holds_no_move_of_the_same_visitor(bought):
    """The event after a move ends at once; the review has a queue and a line of its own."""
    screen, visit, updates = bought
    page = screen.page
    visit = replace(visit, game=updates[page.game])

    async def event_after_the_move():
        stream = review_callbacks.reply_then_review(
            screen, VISITOR, SessionGeneration(), None, updates[page.review_request], visit
        )
        return [update async for update in stream]

    assert all(page.review not in update for update in run(event_after_the_move()))
    line = FairQueue()
    line.enter("review", VISITOR.for_review())
    line.enter("move", VISITOR)
    assert [line.start_next(), line.start_next()] == ["move", "review"]


def test_a_review_is_worked_out_once(bought):
    screen, visit, updates = bought
    assert len(after_move(screen, updates, visit)) == 1
    assert after_move(screen, updates, visit) == []


def test_a_review_comes_though_the_process_that_searches_was_ended(bought):
    screen, visit, updates = bought
    searcher = get_reusable_executor()
    searcher.submit(os.kill, searcher.submit(os.getpid).result(), signal.SIGKILL)
    (shown,) = after_move(screen, updates, visit)
    assert "You left ₹29 on the table" in shown[screen.page.review]


def test_a_review_of_a_game_that_was_left_is_not_shown(bought):
    screen, visit, updates = bought
    generation = SessionGeneration()

    async def left():
        page = screen.page
        stream = review_callbacks.stream_review(
            screen, VISITOR, generation, updates[page.review_request],
            replace(visit, game=updates[page.game]),
        )  # fmt: skip
        assert await anext(stream) == screen.unchanged
        coming = asyncio.ensure_future(anext(stream, None))
        await asyncio.sleep(0)  # until the search has begun
        generation.advance()
        return await coming

    assert run(left()) == screen.unchanged


def test_what_if_goes_back_in_the_reviewed_game_and_keeps_the_first(bought):
    screen, visit, updates = bought
    page, ended = screen.page, updates[screen.page.game]
    branched = review_callbacks.what_if(screen, SessionGeneration(), 0, replace(visit, game=ended))
    assert branched[page.first_game] is ended
    assert branched[page.game].play.turns == visit.game.play.turns
    assert branched[page.review] == ""
    for number in (None, 5, "0"):
        refused = review_callbacks.what_if(
            screen, SessionGeneration(), number, replace(visit, game=ended)
        )
        assert list(refused) == [page.problem]


def sold_to(*texts) -> tuple[Screen, Visit, dict]:
    """A visitor who asked ₹900 of a model and takes its bid at a loss, asked back once.

    What the model replies later are `texts`.
    """
    screen = screen_of(Model(*texts))
    game = after_reply(
        answer(start("bazaar/seller_brief", "mini", 3), Offer(900)), Reply('{"offer":50}', "m")
    )
    asked = callbacks.send(screen, visit_to(game, "deal"))[screen.page.game]
    assert asked.play == game.play
    visit = visit_to(asked, "deal")
    updates = callbacks.send(screen, visit)
    assert updates[screen.page.game].play.turns[-1].action == Accept("deal")
    return screen, visit, updates


def test_against_a_model_the_review_grows_with_its_replies():
    screen, visit, updates = sold_to('{"accept":true}', '{"accept":true}')
    first, grown, *_, last = (u[screen.page.review] for u in after_move(screen, updates, visit))
    assert "0 of at most 2 replies" in first
    assert "1 of at most 2 replies" in grown
    assert "was asked about: 2." in last
    assert "it would have accepted" in last


def test_a_model_that_does_not_reply_leaves_the_rest_of_the_review():
    screen, visit, updates = sold_to(ReplyTimeout("it took too long"))
    last = after_move(screen, updates, visit)[-1][screen.page.review]
    assert "Leaving here was better." in last
    assert "Not all replies came: it took too long" in last
