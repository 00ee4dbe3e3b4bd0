"""Who can be picked to play lab_0: scripts and the model's stages, each with its measured row."""

import re
import time
from urllib.parse import unquote_plus

import pytest

from env import arena
from panels.gpu_arena import callbacks, players
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.settlement import settlement
from panels.results.questions.reproduce import rows_of
from panels.ui.tables import with_interval
from sauda.fairness import PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import NotReady
from sauda.records.store import load
from sauda.sessions.arena import standings
from tests.support.models import Booker

MODEL = "mini+grpo-arena"


class Served(Booker):
    """A model of the page at a stage; it replies at once."""

    def __init__(self, stage) -> None:
        self.stage, self.asked_by = stage, None

    def start(self) -> None:
        """It is as far as it will be."""

    def wait(self, seconds: float):
        return self.stage

    def for_visitor(self, visitor) -> "Served":
        self.asked_by = visitor
        return self


@pytest.fixture
def served(monkeypatch):
    """`served(stage)` puts a model at that stage in the place of each of the page's."""

    def serve(stage) -> Served:
        model = Served(stage)
        monkeypatch.setattr(players, "in_page", lambda name: model)
        return model

    return serve


def test_every_player_shows_a_measured_grade_of_its_own_and_leads_to_its_row():
    comparison = load(players.LAB_FILE)
    trained = {row.policy for row in comparison.data.rows if row.policy.startswith("mini")}
    assert {"mini", "mini+sft-arena", MODEL} <= trained <= set(players.players())
    badges = {name: str(players.badge(name, TASK)) for name in players.players()}
    rows = rows_of([load(file) for file in (players.HOLDOUT, players.LAB_FILE)])
    for name, badge in badges.items():
        assert "Measured grade" in badge
        assert "hold-out worlds" in badge
        assert f"row={name.replace('+', '%2B')}" in badge
        assert unquote_plus(re.search(r'again=([^"]+)"', badge)[1]) in rows
    row = next(row for row in comparison.data.rows if row.policy == MODEL)
    assert with_interval(row.grade) in badges[MODEL]
    assert f"n = {row.n}" in badges[MODEL]


def test_a_model_that_has_loaded_moves_as_its_visitors_request_and_is_named_at_the_end(served):
    model = served(Ready(MODEL, "toy", 1.0))
    game = new_game("arena/single_trade", "3")
    while not game.over:
        game = callbacks.stepped(game, MODEL)
    assert model.asked_by == PAGE
    assert {type(step.action) for step in game.steps} <= {arena.Action, arena.Malformed}
    assert MODEL in {row.name for row in standings(game)}
    assert f"--policy {MODEL} --seed 3" in str(settlement(game))


def test_a_model_that_still_loads_or_cannot_be_loaded_is_named_and_no_move_is_made(served):
    served(Loading(MODEL, time.monotonic()))
    with pytest.raises(players.StillLoading, match="still loading"):
        players.policy_of(MODEL, PAGE)
    served(Failed(MODEL, "no room"))
    with pytest.raises(NotReady, match="no room"):
        players.policy_of(MODEL, PAGE)


@pytest.mark.parametrize("name", ["mini+/etc/passwd", "mini+sft", "sauda-8b", "", None, ["mini"]])
def test_a_player_without_a_row_cannot_be_picked(name):
    with pytest.raises(ValueError, match="the policies of lab_0 are planner"):
        players.policy_of(name, PAGE)


def test_the_end_tells_who_the_others_were():
    game = new_game(TASK, str(SEED))
    shown = str(settlement(callbacks.played(game, arena.Action("finish"))))
    for kind in ("deceptive", "retaliatory"):
        assert kind in shown
