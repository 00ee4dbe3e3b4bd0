"""What the Haggle tab does with a language model: stream its move, stop it, watch it load.

Callbacks as in `callbacks.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, replace

import gradio as gr

from env import IllegalAction
from panels.haggle.game_view import bubbles, sells
from panels.haggle.layout import ReplyRequest, SessionGeneration
from panels.haggle.models import STAND_IN, health_list
from panels.haggle.opponents.model_view import effect_of
from panels.haggle.opponents.stages import persona_of
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.trouble import translated
from panels.haggle.words import Translate
from panels.ui.look import note, trouble
from sauda.fairness import Visitor
from sauda.language.lines import ENGLISH
from sauda.language.phrases import language_of
from sauda.llm.server import Loading, Ready, Waiting
from sauda.llm.types import Reply, ReplyError
from sauda.sessions.bazaar import (
    Game,
    after_reply,
    before_unanswered,
    forfeit,
    moves_of,
    play_on,
    request,
    start,
)

QUOTED = 160  # characters of a reply without a legal move


async def stream_reply(
    screen: Screen,
    visitor: Visitor,
    generation: SessionGeneration,
    reply_request: ReplyRequest | None,
    visit: Visit,
) -> AsyncIterator[Updates]:
    """The language model's move while it is written, then the game after it.

    Changes nothing where none is requested. A reply without a legal move is asked for again, up
    to the model's limit; then the model forfeits. What takes more than a moment runs in a thread,
    since all visitors share the event loop.
    """
    # The last piece of a stream that was cut may come after the answer that cut it. Gradio empties
    # the outputs of a generator that yields nothing.
    yield _chat(screen, visit) if visit.game and generation.mend() else screen.unchanged
    if reply_request is None or not reply_request.claim():
        return
    page, game, problem = screen.page, visit.game, ""
    current = generation.begin_stream()
    while game.waiting and not problem:
        thinking = visit.translate("thinking", name=visit.model_name)
        yield _typing(screen, replace(visit, game=game), thinking) | {page.problem: ""}
        try:
            async with aclosing(_pieces(screen, visitor, replace(visit, game=game))) as pieces:
                async for text, piece in pieces:
                    if generation.number != current:
                        yield screen.unchanged  # Gradio sends what was yielded last once more
                        return
                    reply = piece
                    yield _typing(screen, replace(visit, game=game), text)
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


def _chat(screen: Screen, visit: Visit, *more: Mapping[str, str]) -> Updates:
    """The chat as it is, and `more` messages."""
    told = chat_of(visit.game, visit.talk, visit.language).messages
    return {screen.page.chat: bubbles([*told, *more])}


def _typing(screen: Screen, visit: Visit, text: str) -> Updates:
    """The chat, with a message of the other side that is still being written."""
    return _chat(screen, visit, {"role": "assistant", "content": text})


async def _pieces(
    screen: Screen, visitor: Visitor, visit: Visit
) -> AsyncIterator[tuple[str, Reply | Waiting]]:
    """What the model streams for its move, each piece with its text for the chat.

    Words in another language than the chat's do not show: the chat will tell the move in its own.
    """
    game, thinking = visit.game, visit.translate("thinking", name=visit.model_name)
    question = await asyncio.to_thread(request, game)
    obs, model = game.model_observation, screen.model_facing(visit).for_visitor(visitor)
    chat = await asyncio.to_thread(chat_of, game, visit.talk, visit.language)
    async for piece in model.stream_async(question.messages, question.seed, question.schema):
        if isinstance(piece, Waiting):
            yield visit.translate("line", name=visit.model_name, **asdict(piece)), piece
        else:
            words = game.model_seat.preview(piece.text, obs)
            in_its_language = (language_of(words) or ENGLISH) == chat.language
            yield (words if words and in_its_language else thinking), piece


def stop(screen: Screen, generation: SessionGeneration, visit: Visit) -> Updates:
    """The game without the reply that was being written."""
    generation.advance()
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


def play_stand_in(screen: Screen, generation: SessionGeneration, visit: Visit) -> Updates:
    """The game from where it stands, a script in the place of the language model.

    A script that sells is of the same type as the model.
    """
    generation.advance()
    try:
        game = visit.kept_game
        script = STAND_IN if sells(game) else persona_of(game.opponent)
        played = play_on(game, script)
    except IllegalAction as error:
        return screen.problem(error, visit.language)
    return screen.show(
        replace(visit, game=played),
        note(visit.translate("stand_in_why", name=visit.model_name)),
    )


def show_effect(screen: Screen, visit: Visit) -> Updates:
    """What the visitor's words changed in the finished game."""
    try:
        told = effect_of(visit.kept_game, visit.translate)
    except IllegalAction as error:
        return {screen.page.effect: trouble(translated(error, visit.language))}
    return {screen.page.effect: note(told)}


def tick(screen: Screen, generation: SessionGeneration, visit: Visit) -> Updates:
    """The load status; a model that has loaded before the first move takes its seat.

    The clock stops once nothing is loading. Where the visitor has chosen another game meanwhile,
    the next tick looks at that.
    """
    current = generation.number
    game, buyers = visit.game, screen.models["buyer"]
    models = [*buyers.values(), *([screen.model_facing(visit)] if game else [])]
    loading = any(isinstance(model.stage, Loading) for model in models)
    status = {
        screen.page.health: health_list(buyers, visit.translate),
        screen.page.clock: gr.Timer(active=loading),
    }
    if game is None:
        return status
    model = screen.model_facing(visit)
    if game.stands_in_for and not moves_of(game) and isinstance(model.stage, Ready):
        begun = start(game.task_name, game.stands_in_for, game.play.seed)
        game = replace(begun, hidden=game.hidden)
        shown = screen.show(replace(visit, game=game, talk=visit.talk.back_to(0))) | status
        again = status | {screen.page.clock: gr.Timer(active=True)}
        return shown if generation.number == current else again
    return status | {screen.page.badge: screen.badge(visit)}


def check_health(screen: Screen, visit: Visit) -> Updates:
    """Load the models that failed once more."""
    buyers = screen.models["buyer"]
    for model in [*buyers.values(), *([screen.model_facing(visit)] if visit.game else [])]:
        model.start(again=True)
    updates = {
        screen.page.health: health_list(buyers, visit.translate),
        screen.page.clock: gr.Timer(active=True),
    }
    if visit.game:
        updates[screen.page.badge] = screen.badge(visit)
    return updates
