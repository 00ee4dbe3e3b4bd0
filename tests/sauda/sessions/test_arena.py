"""A game of the arena on the page: steps, a visitor's own moves, what is shown and what is not."""

import json

import pytest

from env import ARENA_TASKS, IllegalAction, arena, get_task, rollout
from panels.gpu_arena import form, offers, view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.settlement import settlement
from panels.ui.curve import curve
from sauda.policies import LABS
from sauda.sessions.arena import (
    LEARNER,
    ArenaGame,
    act,
    held,
    refusal,
    standings,
    start,
    step,
)

COALITION = "arena/coalition_market"
every_task = pytest.mark.parametrize("name", ARENA_TASKS)


def played_out(game: ArenaGame, name: str) -> ArenaGame:
    while not game.over:
        game = step(game, name)
    return game


# Steps


@every_task
@pytest.mark.parametrize("player", LABS)
def test_stepping_a_policy_to_the_end_is_its_rollout(name: str, player: str):
    for seed in range(3):
        game = played_out(start(name, seed), player)
        whole = rollout(get_task(name), LABS[player], seed)
        assert game.play.turns == whole.turns
        assert game.play.state == whole.final


@every_task
def test_the_rewards_of_the_steps_are_those_of_the_episode(name: str):
    game = played_out(start(name, 4), "planner")
    first = start(name, 4).play.state
    whole = arena.episode_rewards(first, game.play.turns, LEARNER)
    assert tuple(one.reward for one in game.steps) == whole
    assert len(game.steps) == sum(turn.agent == LEARNER for turn in game.play.turns)


def test_a_finished_game_stays_as_it_is():
    over = act(start(COALITION, 5), arena.Action("finish"))
    assert over.over
    assert step(over, "planner") is over
    with pytest.raises(IllegalAction, match="over"):
        act(over, arena.Action("wait"))


def test_only_tasks_of_the_arena_can_be_started():
    with pytest.raises(ValueError, match="no task of the arena"):
        start("bazaar/open", 0)
    with pytest.raises(ValueError, match="one of the arena’s tasks"):
        new_game("bazaar/open", "0")
    with pytest.raises(ValueError, match="a seed is a whole number"):
        new_game(COALITION, "five")


def test_a_visitor_is_compared_with_every_policy_on_the_same_world():
    game = act(start(COALITION, 5), arena.Action("finish"))
    rows = {row.name: row for row in standings(game)}
    assert set(rows) == {*LABS, "you"}
    assert rows["you"].utility == rows["wait"].utility == 0
    watched = played_out(start(COALITION, 5), "planner")
    assert {row.name for row in standings(watched)} == set(LABS)


@pytest.mark.slow
def test_a_game_of_several_hands_says_so_and_offers_the_planners_game():
    game = step(step(start(COALITION, 7), "random"), "wait")
    mixed = played_out(game, "planner")
    assert "this game" in {row.name for row in standings(mixed)}
    shown = str(settlement(mixed))
    assert "1 by random, 1 by wait" in shown
    assert "Play it again" not in shown
    assert "Play the planner at this seed" in shown
    ended = played_out(act(start(COALITION, 7), arena.Action("wait")), "planner")
    assert "1 by you" in str(settlement(ended))


# Taking over


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


def test_credits_of_an_open_offer_are_held_and_cannot_be_promised_twice():
    game = start(COALITION, 5)
    wanted = next(
        block for block in game.observation.market.blocks.values() if block.owner_lab_id == "lab_1"
    )
    bid = arena.Action("send_offer", "lab_1", requested_block_ids=(wanted.block_id,), payment=0.5)
    after = act(game, bid)
    assert (held(game.observation), held(after.observation)) == (0, 0.5)
    rest = bid._replace(payment=after.observation.own.budget)
    assert refusal(after, rest).code == "budget_overspend"
    shown = str(view.papers(after.observation))
    assert "0.5 held for your open offers" in shown
    assert f"{after.observation.own.budget - 0.5:.1f}</dd>" in shown


def test_a_step_lists_what_the_others_did_until_the_next_one():
    game = step(step(start(COALITION, 5), "planner"), "planner")
    answers = [answer for one in game.steps for answer in one.answers]
    others = [turn for turn in game.play.turns if turn.agent != LEARNER]
    assert answers
    assert {(lab, action) for lab, action in answers} <= {(t.agent, t.action) for t in others}
    assert not any(action.action_type == "wait" for _, action in answers)


@pytest.mark.slow
@every_task
def test_every_choice_that_a_form_offers_is_taken_by_the_rules(name: str):
    for seed in range(3):
        game = start(name, seed)
        while not game.over:
            for options in form.choices(game).values():
                for _, choice in options[:6]:
                    action = arena.action_from(json.loads(choice))
                    assert act(game, action).steps[-1].results[0].ok, choice
            game = step(game, "planner")


def test_the_terms_of_a_form_replace_those_of_the_choice():
    offer = json.dumps({"action_type": "send_offer", "target_lab_id": "lab_1", "payment": 2.0})
    action = form.composed(offer, 7.5, 3.0, 0.9, "fair?")
    assert (action.payment, action.conditions, action.message) == (7.5, (("ask", 3.0),), "fair?")
    pool = json.dumps({"action_type": "form_coalition", "target_lab_id": "lab_1"})
    assert form.composed(pool, None, None, 0.25, "").conditions == (("share", 0.25),)
    wait = json.dumps({"action_type": "wait"})
    assert form.composed(wait, 9.0, 9.0, 0.9, "ignored") == arena.Action("wait")


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -3.0, 1e9])
def test_an_amount_that_makes_no_sense_is_refused_before_it_costs_an_action(amount):
    choice = form.choices(start(COALITION, 5))["send_offer"][0][1]
    with pytest.raises(ValueError, match=r"“You pay, credits” takes a number from 0 to 1,000,000"):
        form.composed(choice, amount, None, None, "")


def test_an_amount_above_the_budget_is_refused_by_a_code_and_changes_nothing_else():
    game = start(COALITION, 5)
    choice = form.choices(game)["send_offer"][0][1]
    after = act(game, form.composed(choice, 900_000, None, None, ""))
    assert after.steps[-1].results[0].code == "budget_overspend"
    own, before = (g.play.state.private[LEARNER] for g in (after, game))
    assert (own.budget, own.jobs) == (before.budget, before.jobs)
    assert not any(o.from_lab_id == LEARNER for o in after.observation.market.offers.values())


@pytest.mark.parametrize("text", ["", "wait", "{", "[" * 100_000, "9" * 5_000])
def test_what_is_no_json_is_refused_in_one_sentence(text: str):
    with pytest.raises(ValueError, match="an action is JSON such as"):
        form.from_text(text)


def test_json_of_another_shape_is_a_malformed_action():
    assert isinstance(form.from_text("[1, 2]"), arena.Malformed)
    after = act(start(COALITION, 5), form.from_text('{"action_type": "steal"}'))
    assert after.steps[-1].results[0].code == "malformed_action"


# What is shown


def texts(game: ArenaGame) -> str:
    parts = (
        calendar.calendar,
        calendar.others,
        view.message_board,
        view.reward,
        view.log,
        view.last_step,
    )
    obs = game.observation
    return str(view.papers(obs) + offers.offers(obs)) + "".join(str(part(game)) for part in parts)


@pytest.mark.slow
@every_task
def test_nothing_that_another_lab_alone_knows_is_shown_while_the_game_runs(name: str):
    for seed in range(5):
        game = start(name, seed)
        while not game.over:
            shown = texts(game)
            assert str(settlement(game)) == ""
            for lab, own in game.play.state.private.items():
                if lab in (LEARNER, "nature") or own is None:
                    continue
                assert not any(job.job_id in shown for job in own.jobs)
                if own.archetype:
                    assert own.archetype.replace("_", " ") not in shown
            game = step(game, "planner")


def test_the_calendar_holds_every_block_once_under_its_owner():
    game = played_out(start(COALITION, 5), "planner")
    shown = str(calendar.calendar(game) + calendar.others(game))
    for block in game.observation.market.blocks.values():
        assert shown.count(f"{block.block_id}:") == 1  # in the tooltip


def test_blocks_of_one_lane_do_not_overlap():
    game = start(COALITION, 7)
    horizon = game.observation.market.max_rounds
    blocks = list(game.observation.market.blocks.values())
    lanes: dict[int, list[range]] = {}
    for block, lane in calendar.packed(blocks, horizon):
        lanes.setdefault(lane, []).append(
            range(block.start_round, min(block.start_round + block.duration, horizon))
        )
    assert sum(map(len, lanes.values())) == len(blocks)
    for spans in lanes.values():
        rounds = [r for span in spans for r in span]
        assert len(rounds) == len(set(rounds))


def test_the_end_names_the_command_that_plays_it_again():
    game = played_out(start("arena/single_trade", 3), "planner")
    shown = str(settlement(game))
    assert "python -m sauda play --task arena/single_trade --policy planner --seed 3" in shown
    assert f"{game.play.state.private[LEARNER].utility:.1f}" in shown


def test_what_a_visitor_says_is_shown_as_text():
    game = act(start(COALITION, 5), arena.Action("send_message", message="<b>hello</b>"))
    assert "&lt;b&gt;hello" in str(view.message_board(game))
    assert "<b>hello" not in texts(game)


def test_a_curve_says_what_it_shows_and_survives_a_flat_line():
    assert 'aria-label="Flat."' in str(curve({"one": [0.0, 0.0]}, 10, "reward", "Flat."))
    assert "polyline" in str(curve({"one": [0.0, -0.5, 1.2], "other": [0.0]}, 2, "reward", "Up."))
