"""A game of the arena on the page: steps, a visitor's own moves, what is shown and what is not."""

import json

import pytest

from env import ARENA_TASKS, IllegalAction, arena, get_task, rollout
from panels.gpu_arena import offers, view
from panels.gpu_arena.offers import Visit
from panels.gpu_arena.tab import REGIONS
from sauda.policies import LABS
from sauda.sessions.arena import (
    LEARNER,
    ArenaGame,
    act,
    best_missed_trade,
    message_effects,
    play_out,
    refusal,
    share_of_gains,
    standings,
    start,
    step,
)

COALITION = "arena/coalition_market"
every_task = pytest.mark.parametrize("name", ARENA_TASKS)


@every_task
@pytest.mark.parametrize("player", LABS)
def test_stepping_a_policy_to_the_end_is_its_rollout(name: str, player: str):
    for seed in range(3):
        game = play_out(start(name, seed), player)
        whole = rollout(get_task(name), LABS[player], seed)
        assert game.play.turns == whole.turns
        assert game.play.state == whole.final


def test_a_visitor_is_compared_with_every_policy_on_the_same_world():
    game = act(start(COALITION, 5), arena.Action("finish"))
    rows = {row.name: row for row in standings(game)}
    assert set(rows) == {*LABS, "you"}
    assert rows["you"].utility == rows["wait"].utility == 0
    watched = play_out(start(COALITION, 5), "broker")
    assert {row.name for row in standings(watched)} == set(LABS)


def test_what_the_rules_would_refuse_is_known_before_it_costs_an_action():
    game = start(COALITION, 5)
    unknown = arena.Action("accept_offer", offer_id="o_99")
    assert refusal(game, unknown).code == "unknown_offer"
    assert refusal(game, arena.Malformed("no action")).code == "malformed_action"
    assert refusal(game, arena.Action("wait")) is None
    assert act(game, unknown).steps[-1].results[0] == refusal(game, unknown)
    assert game.steps == ()
    with pytest.raises(IllegalAction, match="over"):
        refusal(act(game, arena.Action("finish")), arena.Action("wait"))


@pytest.mark.slow
@every_task
def test_every_choice_that_a_form_offers_is_taken_by_the_rules(name: str):
    for seed in range(3):
        game = start(name, seed)
        while not game.over:
            for _, choice in offers.choices(game):
                action = arena.action_from(json.loads(choice))
                assert act(game, action).steps[-1].results[0].ok, choice
            game = step(game, "broker")


def test_a_missed_trade_is_one_that_the_other_lab_takes_and_that_pays():
    game = start(COALITION, 5)
    missed = best_missed_trade(act(game, arena.Action("finish")))
    offer = arena.Action(
        "send_offer",
        target_lab_id=missed.lab_id,
        block_ids=missed.given,
        requested_block_ids=missed.received,
        payment=max(0.0, missed.payment + 0.01),
        conditions=(("ask", max(0.0, -missed.payment - 0.01)),),
    )
    assert missed.round_index == 0
    assert missed.gain > 0
    state = game.task.env.step(game.play.state, offer)
    other = game.task.env.observe(state, missed.lab_id)
    assert any(arena.accepts(other, one) for one in other.incoming if one.from_lab_id == LEARNER)


def test_a_lab_that_never_trades_has_no_share_of_the_gains_from_trade():
    for seed in range(5):
        alone, traded = (
            share_of_gains(play_out(start("arena/market_round", seed), name), 5.0)
            for name in ("autarky", "broker")
        )
        assert abs(alone[0]) < 0.05
        assert alone[0] <= traded[0] <= 1


def test_the_effect_of_a_message_is_what_it_changed_in_the_price_of_the_lab_that_heard_it():
    game = start("arena/market_round", 5)
    (lab,) = (
        name
        for name, own in game.play.state.private.items()
        if name != "nature" and own.archetype == "selfish"
    )
    said = arena.Action("send_message", target_lab_id=lab, message="This is urgent for us.")
    (effect,) = message_effects(act(game, said))
    assert effect.lab_id == lab
    assert effect.change > 0  # a selfish lab asks for more from who is in need
    silent = arena.Action("send_message", target_lab_id=lab, message="Hello.")
    assert [one.change for one in message_effects(act(game, silent))] == [0.0]


def test_a_message_that_closes_the_last_round_has_no_effect():
    game, said = (
        start(COALITION, 5),
        arena.Action("send_message", target_lab_id="lab_1", message="!"),
    )
    while not game.over:
        market = game.observation.market
        game = act(
            game, said if market.round_index == market.max_rounds - 1 else arena.Action("wait")
        )
    assert len(message_effects(game)) < len(game.steps[-1].after.market.messages)


def texts(game: ArenaGame) -> str:
    """The whole tab, and the lab's papers in the Judge's tab."""
    shown = "".join(region(Visit(game)) for region in REGIONS.values())
    return shown + view.papers(game.observation)


@pytest.mark.slow
@every_task
def test_nothing_that_another_lab_alone_knows_is_shown_while_the_game_runs(name: str):
    for seed in range(5):
        game = start(name, seed)
        while not game.over:
            shown = texts(game)
            for lab, own in game.play.state.private.items():
                if lab in (LEARNER, "nature") or own is None:
                    continue
                assert not any(job.job_id in shown for job in own.jobs)
                if own.archetype:
                    assert own.archetype.replace("_", " ") not in shown
            game = step(game, "broker")


def test_what_a_visitor_says_is_shown_as_text():
    game = act(start(COALITION, 5), arena.Action("send_message", message="<b>hello</b>"))
    assert "&lt;b&gt;hello" in str(view.message_board(game))
    assert "<b>hello" not in texts(game)
