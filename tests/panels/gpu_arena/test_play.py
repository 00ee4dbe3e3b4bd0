"""What the GPU arena tab does on each event, by hand, by a player and from an address.

What it answers to each action stands in tests/golden/arena-actions.txt.
"""

import json
import re
import time
from urllib.parse import unquote_plus

import gradio as gr
import pytest

from env import IllegalAction, arena
from panels.gpu_arena import address, callbacks, form, players
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import Layout, lay_out
from panels.gpu_arena.players import FIRST_PLAYER
from panels.gpu_arena.reasons import EXPERT, PUBLISHED
from panels.gpu_arena.settlement import settlement
from panels.results.questions.reproduce import rows_of
from panels.site.visitor import CALLER
from panels.ui.tables import with_interval
from sauda.fairness import PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import NotReady
from sauda.records.store import load
from sauda.sessions.arena import ArenaGame, standings
from tests.support.golden import assert_golden, plain
from tests.support.models import Booker

WORLD, LAB = "arena/single_trade", "mini+sft-arena"
HAND = "arena/market_round", "98"  # a world whose blocks and jobs the cases below name
PRESSES = (  # the pressed blocks, a job, a block of another lab
    (["b_0_2"], None, None), (["b_0_2"], "j_0_0", None), ([], "j_0_0", None),
    (["b_0_0"], "j_0_1", None), (["b_0_2"], "j_9_9", None), (["b_9_9"], None, None),
    ([], None, "b_0_2"), ([], None, "b_1_2"), ([], None, "b_2_0"),
)  # fmt: skip
SENTENCES = (  # what I give, pay or ask for, credits, what for, to whom, words, the answered offer
    ([], form.PAY, 10, ["b_1_2"], "lab_2", "b_1_2 for j_0_1", ""),
    (["b_0_0"], form.ASK, 7, [], "lab_2", "", ""),
    (["b_0_0"], form.PAY, 3, ["b_1_2"], "lab_1", "", "o_1"),
    ([], form.PAY, 500, ["b_1_2"], "lab_1", "", ""),
    ([], form.PAY, -5, ["b_1_2"], "lab_1", "", ""),
    ([], form.PAY, 1e300, ["b_1_2"], "lab_1", "", ""),
    ([], form.PAY, "much", ["b_1_2"], "lab_1", "", ""),
    ([], form.PAY, 0, [], "lab_1", "", ""),
    (["b_9_9"], form.ASK, 5, [], "lab_1", "", ""),
    ([], form.PAY, 5, ["b_1_2", "b_2_0"], "lab_1", "", ""),
    (5, form.PAY, 5, {}, None, None, None),
)  # fmt: skip
POOL = json.dumps({"action_type": "form_coalition", "target_lab_id": "lab_1"})
FORMS = (  # the chosen move, the owner's share, the words
    (None, 0, ""), ("give", 0, ""), (POOL, 1.5, ""), (POOL, None, ""), (POOL, 0.5, "hello"),
    ('{"action_type": "finish"}', 0, ""), ('{"action_type": "send_message"}', 0, ""),
)  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Layout:
    with gr.Blocks():
        return lay_out(new_game(WORLD, "5"))


@pytest.fixture
def first() -> ArenaGame:
    return new_game(*HAND)


def test_the_page_answers_each_action_with_the_same_sentences(page, first):
    def told(updates: dict) -> str:
        parts = (page.problem, page.hint, page.deal, page.purpose, page.advice, page.last_step)
        shown = " | ".join(plain(updates[part]) for part in parts if plain(updates.get(part, "")))
        return f"{'played' if page.game in updates else 'costs no action'}: {shown}"

    lines = []
    for press in PRESSES:
        lines.append(f"{press} {told(callbacks.press_calendar(page, first, *press))}")
    for sentence in SENTENCES:
        lines.append(f"{sentence} {told(callbacks.send_offer(page, first, *sentence))}")
    for move in FORMS:
        lines.append(f"{move} {told(callbacks.act_by_form(page, first, *move))}")
    lines.append(told(callbacks.advise(page, first)))
    assert_golden("arena-actions.txt", "\n".join(lines) + "\n")


def test_a_press_lets_the_expert_play_by_itself_until_it_is_paused(page):
    game = new_game(WORLD, "5")
    started = callbacks.watch(page, game, running=False, player=PUBLISHED)
    assert started[page.policy] == PUBLISHED
    assert (started[page.watch].value, started[page.clock].active) == ("Pause", True)
    ticked = callbacks.tick(page, game, EXPERT)
    assert ticked[page.running]
    assert set(ticked[page.game].movers) == {EXPERT}
    paused = callbacks.watch(page, ticked[page.game], running=True, player=EXPERT)
    assert not paused[page.running]
    assert page.game not in paused


def test_a_finished_world_begins_anew_where_somebody_wants_to_watch_it(page):
    game = new_game(*HAND)
    over = callbacks.act_by_form(page, game, '{"action_type": "finish"}', 0, "")[page.game]
    watched = callbacks.watch(page, over, running=False, player=EXPERT)
    assert (watched[page.game], watched[page.running]) == (game, True)


def test_who_takes_every_advice_plays_the_game_of_the_expert(page, first):
    game, watched = first, first
    shown = callbacks.advise(page, game)[page.advice]
    while not game.over:
        (action,) = re.findall(r'data-action="([^"]+)"', str(shown))
        updates = callbacks.take_advice(page, game, action.replace("&#34;", '"'))
        game, shown = updates[page.game], updates[page.advice]
    while not watched.over:
        watched = callbacks.stepped(watched, EXPERT)
    assert [step.action for step in game.steps] == [step.action for step in watched.steps]


def test_once_every_other_lab_has_left_the_rest_is_played_at_once(page):
    game = new_game(WORLD, "5")
    while game.observation.others:
        game = callbacks.played(game, arena.Action("wait"))
        if game.over:
            break
    assert game.over
    assert all(mover in ("you", EXPERT) for mover in game.movers)


def test_an_event_without_its_game_or_seed_is_answered_in_words(page):
    for updates in (
        callbacks.begin(page, WORLD, "many", EXPERT),
        callbacks.take_step(page, None, EXPERT),
        callbacks.take_step(page, new_game(WORLD, "5"), "nobody"),
        callbacks.watch(page, None, False, EXPERT),
        callbacks.watch(page, new_game(WORLD, "5"), False, "nobody"),
        callbacks.advise(page, None),
        callbacks.wait_for_round(page, None),
    ):
        assert list(updates) == [page.problem]
        assert plain(updates[page.problem])


@pytest.mark.parametrize("odd", [None, 5, {}, [[1]], "x" * 5000, [None]])
def test_whatever_a_client_sends_leaves_the_game_as_it_is(page, first, odd):
    for updates in (
        callbacks.press_calendar(page, first, odd, odd, None),
        callbacks.press_calendar(page, first, None, None, odd),
        callbacks.press_calendar(page, None, odd, odd, odd),
        callbacks.press_offer(page, first, odd, odd),
        callbacks.take_advice(page, first, odd),
        callbacks.price_offer(page, first, odd, odd, odd, odd),
        callbacks.weigh_offer(page, first, odd, odd, odd, odd, odd),
        callbacks.send_offer(page, first, *[odd] * 7),
        callbacks.act_by_form(page, first, odd, odd, odd),
    ):
        assert page.game not in updates


def test_a_press_of_anothers_block_writes_an_offer_with_a_price(page, first):
    updates = callbacks.press_calendar(page, first, [], None, "b_1_2")
    assert (updates[page.want].value, updates[page.to].value) == (["b_1_2"], "lab_1")
    priced = callbacks.price_offer(page, first, [], ["b_1_2"], "lab_2", "")
    assert priced[page.to] == "lab_1"
    assert (priced[page.way], priced[page.credits]) == (updates[page.way], updates[page.credits])


def test_an_offer_is_taken_or_answered_by_its_buttons(page, first):
    (offer, *_) = first.observation.incoming
    accept = json.dumps({"action_type": "accept_offer", "offer_id": offer.offer_id})
    taken = callbacks.press_offer(page, first, accept, None)
    assert taken[page.game].steps[-1].results[0].code == "offer_accepted"
    other = callbacks.press_offer(page, first, None, offer.offer_id)
    assert other[page.give].value == list(offer.requested_blocks)
    action = form.offer_of(
        first.observation, other[page.give].value, form.ASK, 50, [], offer.from_lab_id, "",
        other[page.answered],
    )  # fmt: skip
    assert (action.action_type, action.offer_id) == ("counter_offer", offer.offer_id)


def test_once_the_game_is_over_nothing_can_be_done_in_it(page):
    finish = '{"action_type": "finish"}'
    ended = callbacks.act_by_form(page, new_game(WORLD, "5"), finish, 0, "")
    assert ended[page.game].over
    assert not ended[page.other_moves].visible
    assert not ended[page.sentence].visible
    assert not any(ended[button].interactive for button in (page.ask, page.step, page.run))
    with pytest.raises(IllegalAction, match="over"):
        callbacks.played(ended[page.game], arena.Action("wait"))
    assert callbacks.begin(page, WORLD, "5", EXPERT)[page.other_moves].visible


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
    row = next(row for row in comparison.data.rows if (row.policy, row.task) == (LAB, TASK))
    assert with_interval(row.grade) in badges[LAB]


def test_a_model_moves_once_it_has_loaded_and_is_named_at_the_end(monkeypatch):
    model = Served(Loading(LAB, time.monotonic()))
    CALLER.set(PAGE)
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
