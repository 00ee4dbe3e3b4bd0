"""The stages of the language model on the visitor's seed: one row after another, or why none."""

from dataclasses import replace

from env import WalkAway
from panels.haggle.layout import SessionGeneration
from panels.haggle.opponents.stages import bare_stages, opponent_name, weights_of
from panels.haggle.review.board_callbacks import ask_stages
from panels.haggle.screen import Screen
from panels.haggle.words import ENGLISH, translator
from sauda.fairness import Visitor
from sauda.llm.types import ReplyTimeout
from sauda.sessions.bazaar import Game, answer, start
from tests.support.coroutines import run
from tests.support.haggle import Model, screen_of, visit_to

VISITOR = Visitor("a session", "10.0.0.1")
STAGES = bare_stages("bazaar/open")


def bought(task_name: str = "bazaar/open") -> Game:
    return answer(start(task_name, "", 7), WalkAway())


def asked(screen: Screen, game: Game | None, generation: SessionGeneration) -> list[dict]:
    async def collected():
        stream = ask_stages(screen, VISITOR, generation, visit_to(game))
        return [update async for update in stream]

    return run(collected())


def test_each_stage_plays_the_seed_and_the_place_counts_it():
    leaves, asked_for = Model(*['{"walk":true}'] * len(STAGES)), []
    screen = replace(screen_of(leaves), by_name=lambda name: asked_for.append(name) or leaves)
    page, shown = screen.page, asked(screen, bought(), SessionGeneration())
    assert len(shown) == len(STAGES) + 1
    assert f"0 of {len(STAGES)} stages" in shown[0][page.result]
    for stage in STAGES:
        assert f"{opponent_name(stage, translator(ENGLISH))}</th>" in shown[-1][page.result]
    assert asked_for == [weights_of(stage) for stage in STAGES]
    rows = shown[-1][page.result].count("<tr")
    assert f"of {rows - 1}" in shown[-1][page.card_text]


def test_a_stage_that_cannot_play_is_told_and_the_others_stay():
    leaves = ['{"walk":true}'] * (len(STAGES) - 1)
    screen = screen_of(Model(ReplyTimeout("too slow"), *leaves))
    *_, last = asked(screen, bought(), SessionGeneration())
    assert "Not every stage played: Untrained base: too slow" in last[screen.page.result]
    assert "SFT, guard rails off</th>" in last[screen.page.result]
    assert "Untrained base, guard rails off" not in last[screen.page.result]


def test_nothing_is_asked_in_a_game_that_runs_or_is_gone():
    screen = screen_of(Model())
    for game in (start("bazaar/open", "", 7), None):
        (updates,) = asked(screen, game, SessionGeneration())
        assert list(updates) == [screen.page.ask_stages]


def test_the_button_stands_where_stages_were_measured():
    screen = screen_of(Model())
    for task_name, stands in (("bazaar/open", True), ("classic/single_deal", False)):
        shown = screen.show(visit_to(bought(task_name)))
        assert shown[screen.page.ask_stages]["visible"] == stands
