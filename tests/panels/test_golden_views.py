"""What a visitor sees of one game of each kind, in the middle and at the end, as plain text."""

import re
from dataclasses import replace
from datetime import date

import gradio as gr
import pytest

from env import Accept, Offer, WalkAway
from panels.gpu_arena import view
from panels.gpu_arena.offers import offers
from panels.gpu_arena.words import EXPERT
from panels.haggle import callbacks as haggle
from panels.haggle.challenges import daily, spot
from panels.haggle.challenges.spot import find_untrained, pairs_with
from panels.haggle.conversation import SILENT, chat_of, converse
from panels.haggle.game_view import brief, chart, reading
from panels.haggle.result import card, result
from panels.haggle.review import show_review
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from panels.measured import rows_by_policy
from sauda.records.schemas.episodes import SPOT_FILE
from sauda.records.store import load
from sauda.sessions import arena, bazaar, review
from sauda.sessions.daily import bargain_of, encode
from sauda.sessions.spot import load_duel
from tests.support.cases import rows
from tests.support.golden import assert_golden, plain, without_numbers

# A game against the task's own sellers, one with rivals, one of several deals, and the other seat.
DAY = date(2026, 1, 5)
TASKS = {
    "classic/single_deal": "",
    "classic/marketplace_arena": "",
    "classic/career_10": "",
    "bazaar/open-3": "",
    "bazaar/sell": "linear",
}


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
        translate = translator(language)
        shown = [
            result(game, translate, language),
            reading(game, chat_of(game, language=language).asks, translate),
        ]
        judged = show_review(review.review(game), translator(language), language)
        lines += ["## over", *parts(game, language), *map(plain, [*shown, judged])]
    assert_golden(f"views-{language}.txt", "\n".join(lines) + "\n")


def test_a_visitor_sees_the_same_of_a_lab_after_six_steps():
    game = arena.start("arena/coalition_market", 7)
    for _ in range(6):
        game = arena.step(game, EXPERT)
    shown = [
        view.calendar(game),
        view.others(game),
        offers(game.observation),
        view.papers(game.observation),
        view.message_board(game),
        view.last_step(game),
        view.reward(game),
        view.log(game),
    ]
    over = arena.start("arena/single_trade", 7)
    while not over.over:
        over = arena.step(over, EXPERT)
    shown += ["", "over", view.settlement(over), view.log(over)]
    assert_golden("views-arena.txt", "\n".join(map(plain, shown)) + "\n")


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_visitor_reads_the_same_answers_to_what_is_typed(language: str):
    """In tests/cases/chats.csv "2x" is twice the list price."""
    lines = []
    for chat in rows("chats.csv"):
        game, talk = bazaar.start(chat["task"], chat["opponent"], 5), SILENT
        for text in chat["typed"].split("|"):
            shares = re.split(r"([\d.]+)x", text)
            list_price = game.observation.table.item.list_price
            shares[1::2] = [f"{float(share) * list_price:.0f}" for share in shares[1::2]]
            game, talk = converse(game, talk, "".join(shares))
        lines.append(f"# {chat['task']} {chat['opponent']}")
        for message in chat_of(game, talk, language).messages:
            lines.append(f"{message['role']}: {plain(message['content'])}")
        lines += [plain(part(game, translator(language))) for part in (card, result)]
        lines.append(plain(reading(game, chat_of(game, talk, language).asks, translator(language))))
    assert_golden(f"chats-{language}.txt", "\n".join(lines) + "\n")


def told(updates: dict, *parts: gr.components.Component) -> list[str]:
    """What some components show after an event, as plain text."""
    values = [updates.get(part, "") for part in parts]
    return [plain(str(value["value"] if isinstance(value, dict) else value)) for value in values]


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_visitor_sees_the_same_of_a_bargain_of_the_day_and_of_a_friends(language: str):
    with gr.Blocks():
        screen = daily.DailyScreen(daily.DailyPage(), {})
    page, game = screen.page, bargain_of(DAY)
    for share in (0.3, 0.35):
        game = bazaar.answer(game, Offer(round(share * game.observation.table.item.list_price)))
    address = {"day": DAY.isoformat(), "moves": encode(bazaar.answer(game, Accept()))}
    visit = daily.DailyVisit(language=language, origin="https://sauda.example")
    opened = daily.open_day(screen, address, "", visit)
    visit = replace(opened[page.visit], talk=SILENT)
    watched = daily.watch(screen, visit)
    left = haggle.send(screen, visit, "bye")
    over = left[page.visit]
    after = haggle.send(screen, over, "₹500")
    parts = (page.title, page.head, page.brief, page.moves, page.result, page.players)
    lines = told(screen.words(visit), page.title)
    lines += [line for shown in (opened, watched, left, after) for line in told(shown, *parts)]
    assert_golden(f"daily-{language}.txt", "\n".join(filter(None, lines)) + "\n")


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_visitor_sees_the_same_of_a_recorded_pair_before_and_after_the_guess(language: str):
    rows = rows_by_policy(load("evaluation/model-comparison.json"), "bazaar/people")
    with gr.Blocks():
        page = spot.SpotPage(True)
    pairs = pairs_with(find_untrained(rows), load(SPOT_FILE))
    hall = spot.Spot(page, rows, pairs, language=language)
    duel = replace(load_duel(pairs[0]), shown=3)
    shown = told(spot.words(hall) | spot.show(hall, duel), page.title, page.about, page.columns)
    guessed = spot.press(hall, "guess:0", duel, {"right": 1, "guessed": 2})
    shown += told(guessed, page.columns, page.verdict, page.tally)
    assert_golden(f"spot-{language}.txt", without_numbers("\n".join(shown)) + "\n")
