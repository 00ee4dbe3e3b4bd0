"""Lets the stages of the language model play the visitor's seed, and adds them to the leaderboard.

Callbacks as in `callbacks.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from env import IllegalAction, rollout
from panels.haggle.layout import SessionGeneration
from panels.haggle.opponents.stages import bare_stages, stage_name, weights_of
from panels.haggle.review.card import card
from panels.haggle.review.result_view import Board, board_of, result
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.talk.trouble import translated
from panels.transcripts.episodes import loaded, within
from panels.ui.look import note, trouble
from sauda.fairness import Visitor
from sauda.games import game_of
from sauda.llm.registry import player_spec
from sauda.llm.server import ModelWorker
from sauda.llm.types import ReplyError
from sauda.sessions.bazaar import Game, Standing, stand


async def ask_stages(
    screen: Screen, visitor: Visitor, generation: SessionGeneration, visit: Visit
) -> AsyncIterator[Updates]:
    """The card and the leaderboard after each stage has played the seed of the finished game.

    Ends once the visitor has gone on to another game.
    """
    page, game, current = screen.page, visit.game, generation.number
    if game is None or not game.over:
        yield {page.ask_stages: gr.update(visible=False)}
        return
    stages, board = bare_stages(game.task_name), await asyncio.to_thread(board_of, game)
    fault = ""  # of the last stage that could not play
    for done, stage in enumerate(stages):
        name = stage_name(stage, visit.translate)
        progress = visit.translate("board_asking", name=name, done=done, all=len(stages))
        yield _shown(screen, visit, board, note(progress))
        model = screen.by_name(weights_of(stage)).for_visitor(visitor)
        try:
            board = board.with_rows([await asyncio.to_thread(played, game, stage, model)])
        except ReplyError as error:
            fault = f"{name}: {translated(error, visit.language)}"
        if generation.number != current:
            yield {page.ask_stages: gr.skip()}  # Gradio sends what was yielded last once more
            return
    stopped = visit.translate("board_stopped", reason=fault)
    yield _shown(screen, visit, board, trouble(IllegalAction(stopped)) if fault else Markup(""))


def played(game: Game, stage: str, model: ModelWorker) -> Standing:
    """How a stage, bare, fares in the visitor's place at the seed of `game`.

    Waits for a model that loads. Raises ReplyError where it cannot reply in time.
    """
    player = replace(player_spec(stage), generate=loaded(model))
    policy = within(player.policy(game_of(game.task)))
    return stand(stage, game.task, rollout(game.task, policy, game.play.seed))


def _shown(screen: Screen, visit: Visit, board: Board, remark: Markup) -> Updates:
    page, game, translate = screen.page, visit.game, visit.translate
    return {
        page.card_text: card(game, translate, board),
        page.result: result(game, translate, visit.language, board) + remark,
        page.ask_stages: gr.update(visible=False),
    }
