"""What the Haggle tab does after a game: works out the review, goes back to one of its moves.

Callbacks as in `callbacks.py`.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing

from loky import get_reusable_executor
from loky.process_executor import TerminatedWorkerError

from env import IllegalAction
from panels.haggle.callbacks import branch
from panels.haggle.layout import ReplyRequest, ReviewRequest, SessionGeneration
from panels.haggle.model_callbacks import stream_reply
from panels.haggle.review.review_view import remark, review_shown
from panels.haggle.screen import Screen, Updates, Visit
from sauda.fairness import Visitor
from sauda.llm.types import ReplyError
from sauda.sessions.bazaar import Game, after_reply, request
from sauda.sessions.review import (
    ASKED_PRICES,
    Review,
    ask_findings,
    closing_findings,
    is_asked,
    offers_to_ask,
    search,
)

IDLE = 300  # seconds after which the process that searches ends
NICE = 10  # its priority: lower than the page's


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
    visitor: Visitor,
    generation: SessionGeneration,
    review_request: ReviewRequest | None,
    visit: Visit,
) -> AsyncIterator[Updates]:
    """The review of a finished game: whole against code, growing with each reply of a model.

    Changes nothing where none is requested, or once the visitor has gone on to another game.
    """
    current = generation.number
    yield screen.unchanged  # Gradio empties the outputs of a generator that yields nothing
    if review_request is None or not review_request.claim():
        return
    reviews = _asked(screen, visitor, visit) if is_asked(visit.game) else _searched(visit)
    async with aclosing(reviews):
        async for review, remarks in reviews:
            if generation.number != current:
                yield screen.unchanged  # Gradio sends what was yielded last once more
                return
            yield {screen.page.review: review_shown(review, remarks, visit.translate)}


async def _searched(visit: Visit) -> AsyncIterator[tuple[Review, list[str]]]:
    try:
        review = await _in_process(visit.game)
    except TerminatedWorkerError:  # somebody ended the process, or memory was short: once more
        review = await _in_process(visit.game)
    yield review, [remark(review, "", 0, visit.translate)]


async def _in_process(game: Game) -> Review:
    """The review by a search, made in a process of its own, one search at a time.

    A search takes a second of one core, and would hold up the moves of all visitors here.
    """
    searcher = get_reusable_executor(1, timeout=IDLE, initializer=os.nice, initargs=(NICE,))
    return await asyncio.get_running_loop().run_in_executor(searcher, search, game)


async def _asked(
    screen: Screen, visitor: Visitor, visit: Visit
) -> AsyncIterator[tuple[Review, list[str]]]:
    game, name, translate = visit.game, visit.model_name, visit.translate
    model, asked = screen.model_facing(visit).for_visitor(visitor.for_review()), 0

    async def reply(other: Game) -> Game:
        nonlocal asked
        question = await asyncio.to_thread(request, other)
        async with aclosing(
            model.stream_async(question.messages, question.seed, question.schema)
        ) as pieces:
            async for piece in pieces:
                written = piece
        asked += 1
        return await asyncio.to_thread(after_reply, other, written)

    known = await asyncio.to_thread(list, closing_findings(game))
    most, stopped = ASKED_PRICES * len(offers_to_ask(game)), []
    yield (
        Review(game, tuple(known)),
        [translate("review_asking", name=name, done=0, all=most)],
    )
    try:
        async with aclosing(ask_findings(game, known, reply)) as found:
            async for one in found:
                known.append(one)
                progress = translate("review_asking", name=name, done=asked, all=most)
                yield Review(game, tuple(known)), [progress]
    except ReplyError as error:
        stopped = [translate("review_stopped", reason=str(error))]
    review = Review(game, tuple(known))
    yield review, [remark(review, name, asked, translate), *stopped]


def what_if(screen: Screen, generation: SessionGeneration, number: object, visit: Visit) -> Updates:
    """The reviewed game before its move `number`, counted from 0, beside the first game."""
    generation.advance()
    try:
        return branch(screen, visit, visit.kept_game, number)
    except IllegalAction as error:
        return screen.problem(error, visit.language)
