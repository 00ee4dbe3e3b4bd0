"""What the GPU arena tab does on each event, by hand, by a player and from an address."""

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
from sauda.llm.serving.events import Failed, Loading, Ready
from sauda.llm.serving.line import PAGE
from sauda.llm.types import NotReady
from sauda.records.store import load
from sauda.sessions.arena import ArenaGame, standings
from tests.support.models import Booker

WORLD = "arena/single_trade"


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(WORLD, "5"))


@pytest.fixture
def first() -> ArenaGame:
    """The first world: b_0_2 serves the job j_0_0, b_1_1 of lab_1 would serve j_0_1."""
    return new_game(TASK, str(SEED))


def test_a_run_starts_pauses_and_takes_steps_until_it_is_paused(page):
    game = new_game(WORLD, "5")
    started = callbacks.toggle_run(page, game, running=False)
    assert (started[page.run].value, started[page.clock].active) == ("Pause", True)
    ticked = callbacks.tick(page, game, "planner", None)
    assert (len(ticked[page.game].movers), ticked[page.running]) == (1, True)
    paused = callbacks.toggle_run(page, ticked[page.game], running=True)
    assert (paused[page.run].value, paused[page.running]) == ("Run", False)


def test_advice_is_the_action_that_a_step_takes_and_leaves_the_game_as_it_is(page, first):
    advice = callbacks.advise(page, first, "planner")
    assert list(advice) == [page.problem]
    assert "Planner’s advice: offer Lab A 16.46 credits for its block 2" in advice[page.problem]
    stepped = callbacks.take_step(page, first, "planner", None)
    assert "Your lab offers Lab A 16.46 credits for its block 2" in stepped[page.last_step]


def test_an_action_that_fails_shows_one_sentence_and_changes_nothing_else(page):
    game = new_game(WORLD, "5")
    for updates, expected in (
        (callbacks.begin(page, WORLD, "many", "planner"), "A seed is a whole number"),
        (callbacks.take_step(page, None, "planner", None), "put away after an hour"),
        (callbacks.take_step(page, game, "nobody", None), "The policies of lab_0 are planner"),
        (callbacks.advise(page, None, "planner"), "put away after an hour"),
        (callbacks.toggle_run(page, None, running=False), "put away after an hour"),
        (callbacks.wait_for_round(page, None, None), "put away after an hour"),
        (callbacks.act_by_form(page, game, None, None, 0, 0, 0, ""), "Choose an action first"),
        (callbacks.act_by_json(page, game, None, "give"), "An action is JSON such as"),
    ):
        assert list(updates) == [page.problem]
        assert expected in updates[page.problem]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"action_type": "steal"}', "The rules refuse this: there is no action_type"),
        (
            '{"action_type": "accept_offer", "offer_id": "o_7"}',
            "The rules refuse this: there is no offer 7",
        ),
        (
            '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 94}',
            "You have 93.53 credits to spend, and this offer pays 94.00",
        ),
        (
            '{"action_type": "allocate_to_job", "job_id": "j_0_1", "block_ids": ["b_1_1"]}',
            "The rules refuse this: Lab A’s block 2 is neither yours nor in a pool of yours",
        ),
    ],
)
def test_what_the_rules_would_refuse_is_said_in_a_sentence_and_costs_no_action(
    page, first, text, expected
):
    updates = callbacks.act_by_json(page, first, None, text)
    assert list(updates) == [page.problem]
    assert expected in updates[page.problem]
    assert "; this cost no action." in updates[page.problem]


@pytest.mark.parametrize(
    ("payment", "ask", "share", "expected"),
    [
        (-5, 0, 0.5, "“You pay, credits” takes a number from 0 to 1,000,000, not -5"),
        (1e300, 0, 0.5, "“You pay, credits” takes a number from 0 to 1,000,000"),
        (5, -1, 0.5, "“They pay you, credits” takes a number from 0 to 1,000,000, not -1"),
        (5, "much", 0.5, "“They pay you, credits” takes a number from 0 to 1,000,000"),
        (94, 0, 0.5, "You have 93.53 credits to spend, and this offer pays 94.00"),
    ],
)
def test_a_number_that_cannot_be_is_answered_in_a_sentence_and_costs_no_action(
    page, first, payment, ask, share, expected
):
    choice = '{"action_type": "send_offer", "target_lab_id": "lab_1"}'
    updates = callbacks.act_by_form(page, first, None, choice, payment, ask, share, "")
    assert list(updates) == [page.problem]
    assert expected in updates[page.problem]
    assert "; this cost no action." in updates[page.problem]


def test_pressed_blocks_say_what_they_would_do_and_a_pressed_job_books_them(page, first):
    outlook = callbacks.press_calendar(page, first, ["b_0_2"], None, None)
    assert list(outlook) == [page.hint]
    assert "2 of 2 GPU-hours on time" in outlook[page.hint]
    assert "Paper experiments 2 takes all its 8 GPU-hours in one booking" in outlook[page.hint]
    booked = callbacks.press_calendar(page, first, ["b_0_2"], "j_0_0", None)[page.game]
    assert booked.steps[0].results[0].code == "job_allocated"


@pytest.mark.parametrize(
    ("blocks", "job", "want", "expected"),
    [
        ([], "j_0_0", None, "Press one or more of your blocks first, then the job"),
        (["b_0_2"], "j_0_1", None, "takes all its 8 GPU-hours in one booking, and there are 6"),
        (["b_0_0"], "j_0_0", None, "reliability 0.89 or more, and your block 1 has 0.72"),
        (["b_0_2"], "j_9_9", None, "The rules refuse this: you have no job j_9_9"),
        (["b_9_9"], None, None, "There is no block b_9_9 on the calendar"),
        ([], None, "b_0_2", "Choose a block of another lab"),
    ],
)
def test_a_press_that_cannot_be_is_answered_beside_the_calendar_and_costs_nothing(
    page, first, blocks, job, want, expected
):
    updates = callbacks.press_calendar(page, first, blocks, job, want)
    assert list(updates) == [page.hint]
    assert expected in updates[page.hint]


@pytest.mark.parametrize("odd", [None, 5, {}, [[1]], "x" * 5000, [None]])
def test_whatever_a_client_sends_for_a_press_leaves_the_game_as_it_is(page, first, odd):
    pressed = (
        callbacks.press_calendar(page, first, odd, odd, None),
        callbacks.press_calendar(page, first, None, None, odd),
        callbacks.press_calendar(page, None, odd, odd, odd),
        callbacks.press_offer(page, first, odd, odd),
    )
    for updates in pressed:
        assert page.game not in updates


def test_a_press_of_anothers_block_fills_the_form_with_an_offer_for_it(page, first):
    updates = callbacks.press_calendar(page, first, [], None, "b_1_1")
    assert "Lab A’s block 2 would add 78.1 credits" in updates[page.hint]
    assert updates[page.other_actions].open
    assert updates[page.kind].value == "send_offer"
    assert '"requested_block_ids": ["b_1_1"]' in updates[page.choice].value
    assert updates[page.payment].visible
    useless = callbacks.press_calendar(page, first, [], None, "b_2_0")
    assert "would add nothing" in useless[page.hint]


def test_an_offer_is_taken_or_answered_by_its_buttons(page, first):
    bid = '{"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 10,'
    bid += ' "requested_block_ids": ["b_1_1"]}'
    game = callbacks.act_by_json(page, first, None, bid)[page.game]
    shown = callbacks.show(page, game)
    assert "You give your block 3 (worth" in shown[page.offers]
    assert "and get 34.71 credits" in shown[page.offers]
    taken = callbacks.press_offer(
        page, game, '{"action_type": "accept_offer", "offer_id": "o_2"}', None
    )
    assert taken[page.game].steps[-1].results[0].code == "offer_accepted"
    countered = callbacks.press_offer(page, game, None, "o_2")
    assert (countered[page.kind].value, page.game in countered) == ("counter_offer", False)


def test_once_the_game_is_over_nothing_can_be_done_in_it(page):
    ended = callbacks.act_by_json(page, new_game(WORLD, "5"), None, '{"action_type": "finish"}')
    assert ended[page.game].over
    assert not ended[page.other_actions].visible
    for button in (page.advice, page.step, page.run):
        assert not ended[button].interactive
    assert callbacks.begin(page, WORLD, "5", "planner")[page.other_actions].visible
    assert "Played now: single trade at seed 5." in ended[page.settlement]


@pytest.fixture(scope="module")
def first_page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(TASK, str(SEED)))


def test_an_address_opens_the_world_that_it_names(first_page):
    updates = address.open_world(first_page, FIRST_PLAYER, {"task": WORLD, "seed": "7"})
    game = updates[first_page.game]
    assert (game.task_name, game.play.seed) == (WORLD, 7)
    assert (updates[first_page.task], updates[first_page.seed]) == (WORLD, "7")
    assert address.named_in_address(game) == {"task": WORLD, "seed": "7"}


def test_a_secret_seed_is_in_no_address(first_page):
    updates = address.begin_here(first_page, WORLD, "", FIRST_PLAYER)
    assert address.named_in_address(updates[first_page.game]) == {"task": WORLD}
    assert "seed" not in updates[first_page.address.shown]


@pytest.mark.parametrize("query", [{"task": "<b>x</b>"}, {"task": WORLD, "seed": "-1"}])
def test_an_address_that_names_no_world_is_answered_in_words(first_page, query):
    updates = address.open_world(first_page, FIRST_PLAYER, query)
    assert first_page.game not in updates
    assert 'role="alert"' in updates[first_page.problem]
    assert "<b>x" not in updates[first_page.problem]


LAB = "mini+grpo-arena"


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
    assert {"mini", "mini+sft-arena", LAB} <= trained <= set(players.players())
    badges = {name: str(players.badge(name, TASK)) for name in players.players()}
    rows = rows_of([load(file) for file in (players.HOLDOUT, players.LAB_FILE)])
    for name, badge in badges.items():
        assert "Measured grade" in badge
        assert "hold-out worlds" in badge
        assert f"row={name.replace('+', '%2B')}" in badge
        assert unquote_plus(re.search(r'again=([^"]+)"', badge)[1]) in rows
    row = next(row for row in comparison.data.rows if row.policy == LAB)
    assert with_interval(row.grade) in badges[LAB]
    assert f"n = {row.n}" in badges[LAB]


def test_a_model_that_has_loaded_moves_as_its_visitors_request_and_is_named_at_the_end(served):
    model = served(Ready(LAB, "toy", 1.0))
    game = new_game("arena/single_trade", "3")
    while not game.over:
        game = callbacks.stepped(game, LAB)
    assert model.asked_by == PAGE
    assert {type(step.action) for step in game.steps} <= {arena.Action, arena.Malformed}
    assert LAB in {row.name for row in standings(game)}
    assert f"--policy {LAB} --seed 3" in str(settlement(game))


def test_a_model_that_still_loads_or_cannot_be_loaded_is_named_and_no_move_is_made(served):
    served(Loading(LAB, time.monotonic()))
    with pytest.raises(players.StillLoading, match="still loading"):
        players.policy_of(LAB, PAGE)
    served(Failed(LAB, "no room"))
    with pytest.raises(NotReady, match="no room"):
        players.policy_of(LAB, PAGE)


@pytest.mark.parametrize("name", ["mini+/etc/passwd", "mini+sft", "sauda-8b", "", None, ["mini"]])
def test_a_player_without_a_row_cannot_be_picked(name):
    with pytest.raises(ValueError, match="the policies of lab_0 are planner"):
        players.policy_of(name, PAGE)
