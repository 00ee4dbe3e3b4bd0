"""What the Haggle tab does after a game: works out the review, goes back to one of its moves.

Callbacks as in `callbacks.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from env import IllegalAction
from panels.haggle.callbacks import branch
from panels.haggle.layout import ReplyRequest, ReviewRequest, SessionGeneration
from panels.haggle.model_callbacks import stream_reply
from panels.haggle.review.review_view import review_shown
from panels.haggle.screen import Screen, Updates, Visit
from sauda.fairness import Visitor
from sauda.sessions.review import review


async def reply_then_review(
    screen: Screen,
    visitor: Visitor,
    generation: SessionGeneration,
    reply_request: ReplyRequest | None,
    review_request: ReviewRequest | None,
    visit: Visit,
) -> AsyncIterator[Updates]:
    """The language model's move if one is requested; once the game is over, its review is due."""
    page = screen.page
    replies = stream_reply(screen, visitor, generation, reply_request, visit)
    async with aclosing(replies):  # a visitor who leaves ends the reply
        async for updates in replies:
            review_request = updates.get(page.review_request, review_request)
            yield updates
    if review_request is not None:
        yield {page.review_due: review_request}


async def stream_review(
    screen: Screen,
    generation: SessionGeneration,
    review_request: ReviewRequest | None,
    visit: Visit,
) -> AsyncIterator[Updates]:
    """The review of a finished game, worked out beside the page's event loop.

    Changes nothing where none is requested, or once the visitor has gone on to another game.
    """
    current = generation.number
    yield screen.unchanged  # Gradio empties the outputs of a generator that yields nothing
    if review_request is None or not review_request.claim():
        return
    found = await asyncio.to_thread(review, visit.game)
    yield (
        {screen.page.review: review_shown(found, visit.translate, visit.language)}
        if generation.number == current
        else screen.unchanged
    )


def what_if(screen: Screen, generation: SessionGeneration, number: object, visit: Visit) -> Updates:
    """The reviewed game before its move `number`, counted from 0, beside the first game."""
    generation.advance()
    try:
        return branch(screen, visit, visit.kept_game, number)
    except IllegalAction as error:
        return screen.problem(error, visit.language)
