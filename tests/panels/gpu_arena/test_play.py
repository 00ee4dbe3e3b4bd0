"""What the GPU arena tab does on each event, by hand, by a player and from an address.

What it answers to each action stands in tests/golden/arena-actions.txt.
"""

import json
import re
import time
from typing import Any
from urllib.parse import unquote_plus, urlencode

import pytest

from env import IllegalAction, arena
from panels.gpu_arena import players, tab
from panels.gpu_arena.offers import ASK, PAY, Visit, read
from panels.gpu_arena.players import SEED, TASK
from panels.gpu_arena.tab import BEGINNINGS, REGIONS, named_in_address, new_game
from panels.gpu_arena.view import settlement
from panels.gpu_arena.words import EXPERT, PUBLISHED, suggested_price, why
from panels.measured import FORM
from panels.results.reproduce import rows_of
from panels.ui.tables import with_interval
from panels.ui.visitor import CALLER
from sauda.fairness import PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import NotReady
from sauda.players import policy_label
from sauda.records.store import load
from sauda.sessions.arena import standings
from tests.support.arena_games import block, do, job, market, seen
from tests.support.golden import assert_golden, plain
from tests.support.haggle import Model

WORLD, LAB = "arena/single_trade", "mini+sft-arena"
HAND = "arena/market_round", "98"  # a world whose blocks and jobs the cases below name
PAGE_OF_NAMES = {name: name for name in (*REGIONS, "visit", "clock")}  # draws by name
PRESSES = (  # a press on the calendar, with what the button holds and the pressed blocks
    ("preview", "b_0_2", ["b_0_2"]), ("book", "j_0_0", ["b_0_2"]), ("book", "j_0_0", []),
    ("book", "j_0_1", ["b_0_0"]), ("book", "j_9_9", ["b_0_2"]), ("preview", "b_9_9", ["b_9_9"]),
    ("bid", "b_0_2", []), ("bid", "b_1_2", []), ("bid", "b_2_0", []),
)  # fmt: skip
SENTENCES = (  # what I give, pay or ask for, credits, what for, to whom, words, the answered offer
    ([], PAY, "10", ["b_1_2"], "lab_2", "b_1_2 for j_0_1", ""),
    (["b_0_0"], ASK, "7", [], "lab_2", "", ""),
    (["b_0_0"], PAY, "3", ["b_1_2"], "lab_1", "", "o_1"),
    ([], PAY, "500", ["b_1_2"], "lab_1", "", ""),
    ([], PAY, "-5", ["b_1_2"], "lab_1", "", ""),
    ([], PAY, "1e300", ["b_1_2"], "lab_1", "", ""),
    ([], PAY, "much", ["b_1_2"], "lab_1", "", ""),
    ([], PAY, "", [], "lab_1", "", ""),
    (["b_9_9"], ASK, "5", [], "lab_1", "", ""),
    ([], PAY, "5", ["b_1_2", "b_2_0"], "lab_1", "", ""),
    (5, PAY, 5, {}, None, None, None),
)  # fmt: skip
POOL = json.dumps({"action_type": "form_coalition", "target_lab_id": "lab_1"})
FINISH = {"move": '{"action_type": "finish"}'}
FORMS = (  # the chosen move, the owner's share, the words
    (None, "0", ""), ("give", "0", ""), (POOL, "1.5", ""), (POOL, "", ""), (POOL, "0.5", "hello"),
    (FINISH["move"], "0", ""), ('{"action_type": "send_message"}', "0", ""),
)  # fmt: skip
OFFER = "give", "way", "credits", "want", "to", "say", "answered"
MOVE = "move", "share", "message"


def at(task: str = WORLD, seed: str = "5") -> Visit:
    return Visit(new_game(task, seed))


def answer(visit: Visit | None, name: str, value: Any = "", blocks: Any = (), **typed: Any) -> dict:
    """The regions that a press changes, by name."""
    sent = {"value": value, "blocks": list(blocks), **typed}
    return tab.answer(PAGE_OF_NAMES, visit, name, sent)


def after(visit: Visit, name: str, *sent: Any, **typed: Any) -> Visit:
    return answer(visit, name, *sent, **typed)["visit"]


def checked(html: str, name: str) -> list[str]:
    return re.findall(rf'name="{name}" value="([^"]*)"[^>]* checked', html)


def test_the_page_answers_each_action_with_the_same_sentences():
    visit, said = at(*HAND), ("problem", "hint", "deal", "purpose", "advice", "last")

    def told(updates: dict) -> str:
        html = "".join(updates.get(name, "") for name in REGIONS)
        regions = [
            re.findall(rf'(?s)<div id="arena-{name}"[^>]*>(.*?)</div>', html) for name in said
        ]
        shown = " | ".join(filter(None, (plain(text) for found in regions for text in found)))
        played = "visit" in updates and updates["visit"].game is not visit.game
        return f"{'played' if played else 'costs no action'}: {shown}"

    lines = [f"{press} {told(answer(visit, *press))}" for press in PRESSES]
    for sentence in SENTENCES:
        typed = dict(zip(OFFER, sentence, strict=True))
        lines.append(f"{sentence} {told(answer(visit, 'send', **typed))}")
    for move in FORMS:
        lines.append(f"{move} {told(answer(visit, 'act', **dict(zip(MOVE, move, strict=True))))}")
    lines.append(told(answer(visit, "advise")))
    assert_golden("arena-actions.txt", "\n".join(lines) + "\n")


def test_a_press_lets_the_expert_play_by_itself_until_it_is_paused():
    started = answer(at(), "watch", PUBLISHED)
    assert f'value="{PUBLISHED}" selected' in started["foot"]
    assert "Pause" in started["top"]
    assert started["clock"].active
    step = answer(started["visit"], "tick", player=EXPERT)
    ticked = step["visit"]
    assert (ticked.running, step["clock"].active) == (True, True)
    assert set(ticked.game.movers) == {EXPERT}
    paused = answer(ticked, "watch", EXPERT)
    assert not paused["visit"].running
    assert paused["visit"].game is ticked.game
    assert not paused["clock"].active
    over = after(at(*HAND), "act", **FINISH)
    anew = after(over, "watch", EXPERT)
    assert (anew.game, anew.running) == (new_game(*HAND), True)


def test_who_takes_every_advice_plays_the_game_of_the_expert():
    visit, watched = after(at(*HAND), "advise"), new_game(*HAND)
    while not visit.game.over:
        (action,) = re.findall(r'data-id="take_advice:([^"]+)"', visit.advice)
        visit = after(visit, "take_advice", action.replace("&#34;", '"'))
    while not watched.over:
        watched = tab.step_once(watched, EXPERT)
    assert [step.action for step in visit.game.steps] == [step.action for step in watched.steps]


def test_once_every_other_lab_has_left_the_rest_is_played_at_once():
    game = new_game(WORLD, "5")
    while game.observation.others:
        game = tab.play_on(game, arena.Action("wait"))
        if game.over:
            break
    assert game.over
    assert all(mover in ("you", EXPERT) for mover in game.movers)


def test_an_event_without_its_game_or_seed_is_answered_in_words():
    for updates in (
        answer(at(), "begin", task=WORLD, seed="many"),
        answer(at(), "step", player="nobody"),
        answer(at(), "watch", "nobody"),
        *(answer(None, name) for name in tab.PRESSES if name not in BEGINNINGS),
    ):
        assert 'role="alert"' in updates.pop("top")
        assert not any(clock.active for clock in updates.values())


@pytest.mark.parametrize("odd", [None, 5, {}, [[1]], "x" * 5000, [None]])
def test_whatever_a_client_sends_leaves_the_game_as_it_is(odd):
    visit = at(*HAND)
    for name in ("preview", "book", "bid", "counter", "take", "take_advice", "price", "weigh",
                 "send", "act", "choose_move"):  # fmt: skip
        value, blocks = odd if isinstance(odd, str) else "", ["x", "b_9_9"]
        typed = dict.fromkeys((*OFFER, *MOVE), odd)
        for updates in (answer(visit, name, value, blocks, **typed), answer(visit, name)):
            assert "visit" not in updates
        assert "visit" not in tab.answer(PAGE_OF_NAMES, visit, name, odd)


def test_an_offer_is_taken_or_answered_by_its_buttons():
    visit = at(*HAND)
    (offer, *_) = visit.game.observation.incoming
    accept = json.dumps({"action_type": "accept_offer", "offer_id": offer.offer_id})
    assert after(visit, "take", accept).game.steps[-1].results[0].code == "offer_accepted"
    other = answer(visit, "counter", offer.offer_id)["table"]
    assert checked(other, "give") == list(offer.requested_blocks)
    assert f'name="answered" value="{offer.offer_id}"' in other
    sent = after(visit, "send", give=list(offer.requested_blocks), way=ASK, credits="50",
                 to=offer.from_lab_id, answered=offer.offer_id)  # fmt: skip
    action = sent.game.steps[-1].action
    assert (action.action_type, action.offer_id) == ("counter_offer", offer.offer_id)


def test_once_the_game_is_over_nothing_can_be_done_in_it():
    ended = answer(at(), "act", **FINISH)
    shown = "".join(ended[name] for name in REGIONS)
    assert ended["visit"].game.over
    for name in ("wait", "send", "act", "price", "choose_move", "preview", "bid", "book"):
        assert not re.search(rf'data-id="{name}\b', shown)
    for name in ("advise", "step"):
        assert re.search(rf'data-id="{name}"[^>]* disabled', shown)
    with pytest.raises(IllegalAction, match="over"):
        tab.play_on(ended["visit"].game, arena.Action("wait"))
    assert 'data-id="send"' in answer(ended["visit"], "begin", task=WORLD, seed="5")["floor"]


def test_an_address_opens_the_world_that_it_names_and_no_secret_seed_stands_in_one():
    game = tab.follow(at().fill(search=f"?task={WORLD}&seed=7")).game
    assert (game.task_name, game.play.seed) == (WORLD, 7)
    assert named_in_address(game) == {"task": WORLD, "seed": "7"}
    assert named_in_address(new_game(TASK, str(SEED))) == {}
    secret = answer(at(), "begin", task=WORLD)
    assert named_in_address(secret["visit"].game) == {"task": WORLD}
    assert secret["visit"].game.play.seed > 2**64  # drawn from 128 bits
    assert str(secret["visit"].game.play.seed) not in "".join(secret[name] for name in REGIONS)


@pytest.mark.parametrize("query", [{"task": "<b>x</b>"}, {"task": WORLD, "seed": "-1"}])
def test_an_address_that_names_no_world_is_answered_in_words(query):
    search = "?" + urlencode({"tab": "gpu_arena"} | query)
    opened = tab.open_tab(PAGE_OF_NAMES, None, read({"search": search}))
    assert opened["visit"].game == new_game(TASK, str(SEED))
    assert 'role="alert"' in opened["top"]
    assert "<b>x" not in opened["top"]


class Booker(Model):
    """A model of the page; it books the first part of its plan, or waits."""

    asked_by = None

    def start(self) -> None:
        """It is as far as it will be."""

    def for_visitor(self, visitor) -> "Booker":
        self.asked_by = visitor
        return self

    def __call__(self, messages, seed, schema=None):
        self.texts = ['{"book":1}' if "\nbook: " in messages[1]["content"] else '{"wait":true}']
        return super().__call__(messages, seed, schema)


def test_every_player_shows_a_measured_grade_of_its_own_and_leads_to_its_row():
    comparison = load(players.LAB_FILE)
    badges = {name: str(players.badge(name, TASK)) for name in players.players()}
    rows = rows_of([load(file) for file in (players.ARENA_HOLDOUT, players.LAB_FILE)])
    for badge in badges.values():
        assert unquote_plus(re.search(r'again=([^"]+)"', badge)[1]) in rows
    row = next(row for row in comparison.data.rows if (row.policy, row.task) == (LAB, TASK))
    assert with_interval(row.grade, FORM) in badges[LAB]


def test_a_lab_has_one_name_on_the_whole_page():
    for name in (EXPERT, PUBLISHED):
        assert players.player_title(name).lower() == policy_label(name)
        assert f"Watch the {policy_label(name)}" in tab.top(Visit(None))
    assert policy_label(EXPERT) != policy_label(PUBLISHED)


def test_a_model_moves_once_it_has_loaded_and_is_named_at_the_end(monkeypatch):
    model = Booker(stage=Loading(LAB, time.monotonic()))
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
        game = tab.step_once(game, LAB)
    assert model.asked_by == PAGE
    assert {type(step.action) for step in game.steps} <= {arena.Action, arena.Malformed}
    assert LAB in {row.name for row in standings(game)}
    assert f"--policy {LAB} --seed 3" in str(settlement(game))


def test_the_price_that_a_lab_has_named_for_a_trade_is_suggested_first():
    state = market([block("a"), block("c", lab=1)], {0: [job("j0")], 1: []})
    fields = {"block_ids": ("c",), "conditions": (("ask", 7.0),)}
    asked = do(state, 1, "send_offer", target_lab_id="lab_0", **fields)
    assert suggested_price(seen(asked, 0), "lab_1", (), ("c",)) == 7.0
    assert suggested_price(seen(state, 0), "lab_1", (), ("c",)) != 7.0


@pytest.mark.parametrize(("jobs", "told"), [([job("j0", 8)], "serve"), ([], "no job of yours")])
def test_why_a_bid_is_made_names_the_jobs_that_need_the_hours_or_that_none_does(jobs, told):
    state = market([block("a"), block("c", lab=1)], {0: jobs, 1: []})
    terms = {"target_lab_id": "lab_1", "requested_block_ids": ("c",), "payment": 1.0}
    reason = why(seen(state, 0), arena.Action("send_offer", **terms))
    assert told in reason
    assert "nothing" not in reason
