"""What the GPU arena tab does on each event, by hand, by a player and from an address.

What it answers to each action stands in tests/golden/arena-actions.txt.
"""

import json
import re
import time
from urllib.parse import unquote_plus

import gradio as gr
import pytest

from env import arena
from panels.gpu_arena import address, callbacks, players
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import Layout, lay_out
from panels.gpu_arena.players import FIRST_PLAYER
from panels.gpu_arena.settlement import settlement
from panels.results.questions.reproduce import rows_of
from panels.ui.tables import with_interval
from sauda.fairness import PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import NotReady
from sauda.records.store import load
from sauda.sessions.arena import ArenaGame, standings
from tests.support.golden import assert_golden, plain
from tests.support.models import Booker

WORLD, LAB = "arena/single_trade", "mini+grpo-arena"
BID = {"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 10,
       "requested_block_ids": ["b_1_1"], "message": "b_1_1 for j_0_1"}  # fmt: skip
POOL = {"action_type": "form_coalition", "target_lab_id": "lab_1"}
PRESSES = (  # the pressed blocks, a job, a block of another lab
    (["b_0_2"], None, None), (["b_0_2"], "j_0_0", None), ([], "j_0_0", None),
    (["b_0_2"], "j_0_1", None), (["b_0_0"], "j_0_0", None), (["b_0_2"], "j_9_9", None),
    (["b_9_9"], None, None), ([], None, "b_0_2"), ([], None, "b_1_1"), ([], None, "b_2_0"),
)  # fmt: skip
ACTIONS = (  # as JSON
    BID, BID | {"payment": 94}, {"action_type": "steal"}, {"action_type": "wait"}, "give",
    {"action_type": "accept_offer", "offer_id": "o_7"}, {"action_type": "finish"},
    {"action_type": "allocate_to_job", "job_id": "j_0_1", "block_ids": ["b_1_1"]},
)  # fmt: skip
FORMS = (  # the chosen action; payment, price asked, owner's share
    (None, 0, 0, 0), (BID, -5, 0, 0.5), (BID, 1e300, 0, 0.5), (BID, 5, -1, 0.5),
    (BID, 5, "much", 0.5), (BID, 94, 0, 0.5), (BID, 10, 0, 0.5), (POOL, 0, 0, -0.1),
    (POOL, 0, 0, 1.5), (POOL, 0, 0, None), (POOL, 0, 0, 0.5),
)  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(WORLD, "5"))


@pytest.fixture
def first() -> ArenaGame:
    """The first world: b_0_2 serves the job j_0_0, b_1_1 of lab_1 would serve j_0_1."""
    return new_game(TASK, str(SEED))


def test_the_page_answers_each_action_with_the_same_sentences(page, first):
    def told(updates: dict) -> str:
        parts = (page.problem, page.hint, page.last_step, page.offers, page.message_board)
        shown = " | ".join(plain(updates[part]) for part in parts if plain(updates.get(part, "")))
        return f"{'played' if page.game in updates else 'costs no action'}: {shown}"

    lines = []
    for press in PRESSES:
        lines.append(f"{press} {told(callbacks.press_calendar(page, first, *press))}")
    for action in ACTIONS:
        text = action if isinstance(action, str) else json.dumps(action)
        lines.append(f"{action} {told(callbacks.act_by_json(page, first, None, text))}")
    for action, *numbers in FORMS:
        choice = action and json.dumps(action)
        updates = callbacks.act_by_form(page, first, None, choice, *numbers, "hello")
        lines.append(f"{action}, {numbers} {told(updates)}")
    lines += [told(callbacks.advise(page, first, player)) for player in ("broker", "nobody")]
    assert_golden("arena-actions.txt", "\n".join(lines) + "\n")


def test_a_run_starts_pauses_and_takes_steps_until_it_is_paused(page):
    game = new_game(WORLD, "5")
    started = callbacks.toggle_run(page, game, running=False)
    assert (started[page.run].value, started[page.clock].active) == ("Pause", True)
    ticked = callbacks.tick(page, game, "broker", None)
    assert (len(ticked[page.game].movers), ticked[page.running]) == (1, True)
    paused = callbacks.toggle_run(page, ticked[page.game], running=True)
    assert (paused[page.run].value, paused[page.running]) == ("Run", False)


def test_an_event_without_its_game_or_seed_is_answered_in_words(page):
    for updates in (
        callbacks.begin(page, WORLD, "many", "broker"),
        callbacks.take_step(page, None, "broker", None),
        callbacks.take_step(page, new_game(WORLD, "5"), "nobody", None),
        callbacks.toggle_run(page, None, running=False),
        callbacks.wait_for_round(page, None, None),
    ):
        assert list(updates) == [page.problem]
        assert plain(updates[page.problem])


@pytest.mark.parametrize("odd", [None, 5, {}, [[1]], "x" * 5000, [None]])
def test_whatever_a_client_sends_for_a_press_leaves_the_game_as_it_is(page, first, odd):
    for updates in (
        callbacks.press_calendar(page, first, odd, odd, None),
        callbacks.press_calendar(page, first, None, None, odd),
        callbacks.press_calendar(page, None, odd, odd, odd),
        callbacks.press_offer(page, first, odd, odd),
    ):
        assert page.game not in updates


def test_a_press_of_anothers_block_fills_the_form_with_an_offer_for_it(page, first):
    updates = callbacks.press_calendar(page, first, [], None, "b_1_1")
    assert updates[page.other_actions].open
    assert updates[page.kind].value == "send_offer"
    assert '"requested_block_ids": ["b_1_1"]' in updates[page.choice].value
    assert updates[page.payment].visible


def test_an_offer_is_taken_or_answered_by_its_buttons(page, first):
    game = callbacks.act_by_json(page, first, None, json.dumps(BID))[page.game]
    accept = '{"action_type": "accept_offer", "offer_id": "o_2"}'
    taken = callbacks.press_offer(page, game, accept, None)
    assert taken[page.game].steps[-1].results[0].code == "offer_accepted"
    countered = callbacks.press_offer(page, game, None, "o_2")
    assert (countered[page.kind].value, page.game in countered) == ("counter_offer", False)


def test_once_the_game_is_over_nothing_can_be_done_in_it(page):
    ended = callbacks.act_by_json(page, new_game(WORLD, "5"), None, '{"action_type": "finish"}')
    assert ended[page.game].over
    assert not ended[page.other_actions].visible
    assert not any(ended[button].interactive for button in (page.advice, page.step, page.run))
    assert callbacks.begin(page, WORLD, "5", "broker")[page.other_actions].visible


# Addresses


def test_an_address_opens_the_world_that_it_names_and_no_secret_seed_stands_in_one(page):
    updates = address.open_world(page, FIRST_PLAYER, {"task": WORLD, "seed": "7"})
    game = updates[page.game]
    assert (game.task_name, game.play.seed) == (WORLD, 7)
    assert address.named_in_address(game) == {"task": WORLD, "seed": "7"}
    assert address.named_in_address(new_game(TASK, str(SEED))) == {}
    secret = address.begin_here(page, WORLD, "", FIRST_PLAYER)
    assert address.named_in_address(secret[page.game]) == {"task": WORLD}
    assert "seed" not in secret[page.address.shown]


@pytest.mark.parametrize("query", [{"task": "<b>x</b>"}, {"task": WORLD, "seed": "-1"}])
def test_an_address_that_names_no_world_is_answered_in_words(page, query):
    updates = address.open_world(page, FIRST_PLAYER, query)
    assert page.game not in updates
    assert 'role="alert"' in updates[page.problem]
    assert "<b>x" not in updates[page.problem]


# Players


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


def test_every_player_shows_a_measured_grade_of_its_own_and_leads_to_its_row():
    comparison = load(players.LAB_FILE)
    badges = {name: str(players.badge(name, TASK)) for name in players.players()}
    rows = rows_of([load(file) for file in (players.HOLDOUT, players.LAB_FILE)])
    for name, badge in badges.items():
        assert f"row={name.replace('+', '%2B')}" in badge
        assert unquote_plus(re.search(r'again=([^"]+)"', badge)[1]) in rows
    row = next(row for row in comparison.data.rows if row.policy == LAB)
    assert with_interval(row.grade) in badges[LAB]


def test_a_model_moves_once_it_has_loaded_and_is_named_at_the_end(monkeypatch):
    model = Served(Loading(LAB, time.monotonic()))
    monkeypatch.setattr(players, "in_page", lambda name: model)
    with pytest.raises(players.StillLoading, match="still loading"):
        players.policy_of(LAB, PAGE)
    model.stage = Failed(LAB, "no room")
    with pytest.raises(NotReady, match="no room"):
        players.policy_of(LAB, PAGE)
    model.stage = Ready(LAB, "toy", 1.0)
    game = new_game(WORLD, "3")
    while not game.over:
        game = callbacks.stepped(game, LAB)
    assert model.asked_by == PAGE
    assert {type(step.action) for step in game.steps} <= {arena.Action, arena.Malformed}
    assert LAB in {row.name for row in standings(game)}
    assert f"--policy {LAB} --seed 3" in str(settlement(game))


@pytest.mark.parametrize("name", ["mini+/etc/passwd", "mini+sft", "sauda-8b", "", None, ["mini"]])
def test_a_player_without_a_row_cannot_be_picked(name):
    with pytest.raises(ValueError, match="the policies of lab_0 are broker"):
        players.policy_of(name, PAGE)
