"""What the Haggle tab does that takes longer: a model's move, its loading, review, stages.

Callbacks as in `callbacks.py`. What takes more than a moment runs in a thread, since all visitors
share the event loop. Gradio empties the outputs of a generator that yields nothing, and sends what
was yielded last once more.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from env import IllegalAction, rollout
from panels.haggle.conversation import chat_of
from panels.haggle.game_view import bubbles, sells
from panels.haggle.layout import Visit
from panels.haggle.opponents import STAND_IN, bare_stages, persona_of, stage_name, weights_of
from panels.haggle.result import board_of, review_shown
from panels.haggle.screen import Screen, Updates
from panels.haggle.words import Translate, translated
from panels.transcripts.episodes import loaded, within
from panels.ui.look import note, trouble
from sauda.games import game_of
from sauda.language.lines import ENGLISH
from sauda.language.phrases import language_of
from sauda.llm.registry import player_spec
from sauda.llm.server import Loading, ModelWorker, Ready, Waiting
from sauda.llm.types import Reply, ReplyError
from sauda.sessions.bazaar import (
    Game,
    Standing,
    after_reply,
    before_unanswered,
    forfeit,
    moves_of,
    play_on,
    rank_standings,
    request,
    stand,
    start,
)
from sauda.sessions.review import review

QUOTED = 160  # characters of a reply without a legal move


# The model's move ---------------------------------------------------------------------------------


async def reply_then_review(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The language model's move if one is requested; once the game is over, its review is due."""
    page, shown = screen.page, visit
    async with aclosing(stream_reply(screen, visit)) as replies:  # a visitor who leaves ends it
        async for updates in replies:
            if updates != screen.unchanged:
                shown = updates.get(page.visit, shown)
            yield updates
    if shown.review_request is not None:
        yield {page.review_due: shown.review_request}


async def stream_reply(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The language model's move while it is written, then the game after it.

    Changes nothing where none is requested. A reply without a legal move is asked for again, up
    to the model's limit; then the model forfeits.
    """
    generation = visit.generation
    # The last piece of a stream that was cut may come after the answer that cut it.
    yield _typing(screen, visit) if visit.game and generation.mend() else screen.unchanged
    if visit.reply_request is None or not visit.reply_request.claim():
        return
    page, game, problem = screen.page, visit.game, ""
    current = generation.begin_stream()
    while game.waiting and not problem:
        now = replace(visit, game=game)
        thinking = visit.translate("thinking", name=visit.model_name)
        yield _typing(screen, now, thinking) | {page.moves: screen.moves(visit)}
        try:
            async with aclosing(_pieces(screen, now)) as pieces:
                async for text, piece in pieces:
                    if generation.number != current:
                        yield screen.unchanged
                        return
                    reply = piece
                    yield _typing(screen, now, text)
            game = await asyncio.to_thread(after_reply, game, reply)
        except ReplyError as error:
            why = trouble(translated(error, visit.language))
            problem = why + _way_on(game, visit.translate)
            break
        if game.out_of_tries:
            game, wrote = forfeit(game), game.invalid_replies[-1][:QUOTED]
            problem = note(visit.translate("no_move", name=visit.model_name, wrote=wrote))
    shown = await asyncio.to_thread(screen.show, replace(visit, game=game), problem)
    yield shown if generation.end_stream(current) else screen.unchanged


def _typing(screen: Screen, visit: Visit, *texts: str) -> Updates:
    """The chat as it is, with messages of the other side that are still being written."""
    told = chat_of(visit.game, visit.talk, visit.language).messages
    written = [{"role": "assistant", "content": text} for text in texts]
    return {screen.page.chat: bubbles([*told, *written])}


async def _pieces(screen: Screen, visit: Visit) -> AsyncIterator[tuple[str, Reply | Waiting]]:
    """What the model streams for its move, each piece with its text for the chat.

    Words in another language than the chat's do not show: the chat will tell the move in its own.
    """
    game, thinking = visit.game, visit.translate("thinking", name=visit.model_name)
    question = await asyncio.to_thread(request, game)
    obs, model = game.model_observation, screen.model_facing(visit).for_visitor(visit.visitor)
    chat = await asyncio.to_thread(chat_of, game, visit.talk, visit.language)
    async for piece in model.stream_async(question.messages, question.seed, question.schema):
        if isinstance(piece, Waiting):
            yield visit.translate("line", name=visit.model_name, **piece._asdict()), piece
        else:
            words = game.model_seat.preview(piece.text, obs)
            in_its_language = (language_of(words) or ENGLISH) == chat.language
            yield (words if words and in_its_language else thinking), piece


def stop(screen: Screen, visit: Visit) -> Updates:
    """The game without the reply that was being written."""
    visit.generation.advance()
    if visit.game is None or not visit.game.waiting:
        return screen.unchanged
    stopped = note(visit.translate("stopped"))
    return screen.show(visit, stopped + _way_on(visit.game, visit.translate))


def _way_on(game: Game, translate: Translate) -> str:
    """What a visitor may do whose last move has no answer; empty where there is no such move."""
    return "" if before_unanswered(game) is game else note(translate("unanswered"))


def show_again(screen: Screen, visit: Visit) -> Updates:
    """The game as it is; a language model that is to move is asked again."""
    return screen.show(visit) if visit.game else screen.unchanged


def play_stand_in(screen: Screen, visit: Visit) -> Updates:
    """The game from where it stands, a script in the place of the language model.

    A script that sells is of the same type as the model.
    """
    visit.generation.advance()
    try:
        game = visit.kept_game
        played = play_on(game, STAND_IN if sells(game) else persona_of(game.opponent))
    except IllegalAction as error:
        return screen.problem(error, visit)
    why = note(visit.translate("stand_in_why", name=visit.model_name))
    return screen.show(replace(visit, game=played), why)


# Whether the models reply -------------------------------------------------------------------------


def tick(screen: Screen, visit: Visit) -> Updates:
    """The load status; a model that has loaded before the first move takes its seat.

    The clock stops once nothing is loading. Where the visitor has chosen another game meanwhile,
    the next tick looks at that.
    """
    page, game, current = screen.page, visit.game, visit.generation.number
    is_loading = any(isinstance(model.stage, Loading) for model in _models(screen, visit))
    status = {page.model: screen.model(visit), page.clock: gr.Timer(active=is_loading)}
    if game is None:
        return status
    is_ready = isinstance(screen.model_facing(visit).stage, Ready)
    if not (game.stands_in_for and not moves_of(game) and is_ready):
        return status | {page.brief: screen.brief(visit)}
    begun = start(game.task_name, game.stands_in_for, game.play.seed)
    game = replace(begun, hidden=game.hidden)
    shown = screen.show(replace(visit, game=game, talk=visit.talk.back_to(0)))
    again = {page.clock: gr.Timer(active=True)}
    return status | (shown if visit.generation.number == current else again)


def check_health(screen: Screen, visit: Visit) -> Updates:
    """Load the models that failed once more."""
    for model in _models(screen, visit):
        model.start(again=True)
    shown = {screen.page.model: screen.model(visit)}
    return shown | ({screen.page.brief: screen.brief(visit)} if visit.game else {})


def _models(screen: Screen, visit: Visit) -> list[ModelWorker]:
    """The language models that buy, and the one across from the visitor."""
    across = [screen.model_facing(visit)] if visit.game else []
    return [*screen.models["buyer"].values(), *across]


# After the end ------------------------------------------------------------------------------------


async def stream_review(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The review of a finished game, worked out beside the page's event loop.

    Changes nothing where none is requested, or once the visitor has gone on to another game.
    """
    current = visit.generation.number
    yield screen.unchanged
    if visit.review_request is None or not visit.review_request.claim():
        return
    found = await asyncio.to_thread(review, visit.game)
    if visit.generation.number == current:
        yield {screen.page.review: review_shown(found, visit.translate, visit.language)}
    else:
        yield screen.unchanged


async def ask_stages(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The card and the leaderboard after each stage has played the seed of the finished game.

    Ends once the visitor has gone on to another game.
    """
    page, game, current = screen.page, visit.game, visit.generation.number
    if game is None or not game.over:
        yield {page.side: gr.skip()}
        return
    stages, board = bare_stages(game.task_name), await asyncio.to_thread(board_of, game)
    fault = ""  # of the last stage that could not play

    def show(remark: Markup) -> Updates:
        return {
            page.after: screen.after(visit, board),
            page.side: screen.side(visit, board, remark),
        }

    for done, stage in enumerate(stages):
        name = stage_name(stage, visit.translate)
        yield show(note(visit.translate("board_asking", name=name, done=done, all=len(stages))))
        model = screen.by_name(weights_of(stage)).for_visitor(visit.visitor)
        try:
            standing = await asyncio.to_thread(_play_stage, game, stage, model)
            board = rank_standings([*board, standing])
        except ReplyError as error:
            fault = f"{name}: {translated(error, visit.language)}"
        if visit.generation.number != current:
            yield {page.side: gr.skip()}
            return
    stopped = visit.translate("board_stopped", reason=fault)
    yield show(trouble(IllegalAction(stopped)) if fault else Markup(""))


def _play_stage(game: Game, stage: str, model: ModelWorker) -> Standing:
    """How a stage, bare, fares in the visitor's place at the seed of `game`.

    Waits for a model that loads. Raises ReplyError where it cannot reply in time.
    """
    player = replace(player_spec(stage), generate=loaded(model))
    policy = within(player.policy(game_of(game.task)))
    return stand(stage, game.task, rollout(game.task, policy, game.play.seed))
