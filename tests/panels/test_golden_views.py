"""What a visitor sees of one game of each kind, in the middle and at the end, as plain text."""

import html
import re

import pytest

from env import Offer, WalkAway
from panels.gpu_arena import view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.offers import offers
from panels.haggle.game_view import brief, chart
from panels.haggle.review.card import card
from panels.haggle.talk.conversation import chat_of
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.sessions import arena, bazaar
from tests.support.golden import assert_golden

# A game against the task's own sellers, one with rivals, one of several deals, and the other seat.
TASKS = {
    "classic/single_deal": "",
    "classic/marketplace_arena": "",
    "classic/career_10": "",
    "bazaar/open": "",
    "bazaar/seller_brief": "linear",
}


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def parts(game: bazaar.Game, language: str) -> list[str]:
    translate = translator(language)
    shown = [brief(game, translate, language), chart(game, translate=translate)]
    chat = [message["content"] for message in chat_of(game, language=language).messages]
    return [plain(part) for part in (*shown, card(game, translate), *chat)]


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_visitor_sees_the_same_of_a_game_of_each_kind(language: str):
    lines = []
    for task, opponent in TASKS.items():
        game = bazaar.start(task, opponent, 7)
        limit, first = game.observation.reservation, 0.35 if game.you == "buyer" else 1.4
        game = bazaar.answer(game, Offer(game.observation.priced(first * limit)))
        lines += [f"# {task}", *parts(game, language)]
        while not game.over:
            game = bazaar.answer(game, WalkAway())
        lines += ["## over", *parts(game, language)]
    assert_golden(f"views-{language}.txt", "\n".join(lines) + "\n")


def test_a_visitor_sees_the_same_of_a_lab_after_six_steps():
    game = arena.start("arena/coalition_market", 7)
    for _ in range(6):
        game = arena.step(game, "planner")
    shown = [
        calendar.calendar(game),
        calendar.others(game),
        offers(game.observation),
        view.papers(game.observation),
        view.message_board(game),
        view.last_step(game),
        view.reward(game),
        view.log(game),
    ]
    assert_golden("views-arena.txt", "\n".join(map(plain, shown)) + "\n")
