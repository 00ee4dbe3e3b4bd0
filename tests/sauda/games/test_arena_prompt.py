"""A model as a lab: what its prompt tells, what its completions mean, how its games are learnt."""

import json

import numpy as np
import pytest

from env import advance, arena, begin, get_task, move, rollout
from sauda.games import ARENA
from sauda.games.arena_prompt import RULES, completion, parse, render, schema
from sauda.llm.batched_rollout import new_game, play_games
from sauda.llm.registry import PlayerSpec, get_policy, player_spec
from sauda.policies import LABS
from sauda.train.teacher_rows import ArenaRowSettings, arena_rows, arena_summary, teach_arena
from tests.support.models import Booker

TASK = get_task("arena/market_round")
SEEDS = range(7, 19)


def states(seeds=SEEDS, name="planner"):
    """Every observation of `lab_0` in a policy's games."""
    for seed in seeds:
        for turn in rollout(TASK, LABS[name], seed).trajectory(TASK.learner):
            yield turn.observation


def test_the_prompt_tells_of_a_job_and_the_blocks_that_serve_it():
    obs = next(states([10_001]))
    lines = render(obs)[1]["content"].splitlines()
    assert lines[0] == "Round 1/5, 2 actions left. Credits 129."
    assert lines[2] == (
        "j_0_1 lacks 8h by round 5, worth 83, all or nothing. Yours: b_0_0 4h. "
        "To buy: b_1_1 12h, b_2_1 8h, b_1_2 2h."
    )
    assert lines[3] == "lab_1 needs low, has high; lab_2 needs low, has medium."


def test_the_hours_told_are_those_that_a_booking_brings():
    seen = 0
    for seed in SEEDS:
        play = advance(TASK, TASK.opponents, begin(TASK, seed))
        obs = TASK.env.observe(play.state, TASK.learner)
        for job in obs.open_jobs:
            line = next(
                x for x in render(obs)[1]["content"].splitlines() if x.startswith(job.job_id)
            )
            yours = line.partition("Yours: ")[2].partition(".")[0]
            for listed in [] if yours == "none" else yours.split(", "):
                block, hours = listed.split(" ", 1)
                action = arena.Action("allocate_to_job", job_id=job.job_id, block_ids=(block,))
                after = TASK.env.step(play.state, action).private[TASK.learner]
                if after.results[0].ok:
                    booked = next(j for j in after.jobs if j.job_id == job.job_id)
                    on_time, _, late = hours.rpartition("+") if "late" in hours else (hours, "", "")
                    assert on_time == (f"{booked.on_time}h" if booked.on_time else "")
                    assert not late or late == f"{booked.late}h late"
                    seen += 1
    assert seen > 20


def test_nothing_hidden_is_told():
    """What no lab is told, or only the rules count with, changes nothing in the prompt."""
    for seed in SEEDS:
        play = advance(TASK, TASK.opponents, begin(TASK, seed))
        obs = TASK.env.observe(play.state, TASK.learner)
        own = obs.own._replace(batna=-1.0, stake=-2.0, chance=(0.5,) * len(obs.own.chance))
        assert render(obs._replace(own=own)) == render(obs)


@pytest.mark.parametrize("name", ["planner", "random"])
def test_a_completion_means_the_action_it_was_made_of(name):
    for obs in states(name=name):
        for action in arena.legal_actions(obs):
            read = parse(f"Well: {completion(action)} so be it", obs)
            assert read == parse(completion(read), obs)
            needed = "message" in arena.KINDS[action.action_type].required
            plain = action._replace(message=action.message if needed else "")
            bare = {"payment": 0.0, "conditions": ()}
            assert read._replace(**bare) == plain._replace(**bare)
            assert 0 <= action.payment - read.payment < 1


@pytest.mark.slow
def test_the_experts_games_are_worth_as_much_in_the_models_words():
    def worded(obs, rng):
        return parse(completion(LABS["planner"](obs, rng)), obs)

    def mean(player):
        return np.mean([TASK.grade(rollout(TASK, player, seed).final) for seed in range(200)])

    assert mean(worded) == pytest.approx(mean(LABS["planner"]), abs=0.01)


@pytest.mark.parametrize(
    "text",
    ["", "wait", "{", '{"action":"wait"}', '{"action_type":"steal"}', '{"action_type":7}', "[1]",
     '{"action_type":"send_offer","payment":NaN}', '{"action_type":"wait","block_ids":"b_0_0"}'],
)  # fmt: skip
def test_nonsense_is_malformed_and_the_game_goes_on(text):
    obs = next(states())
    action = parse(text, obs)
    assert isinstance(action, arena.Malformed)
    assert action.reason
    play = advance(TASK, TASK.opponents, begin(TASK, SEEDS[0]))
    after = move(TASK, play, action)
    assert not after.forfeit
    assert after.state.private[TASK.learner].results[0].code == "malformed_action"


def test_the_schema_offers_what_the_rules_would_not_refuse():
    for seed in SEEDS:
        play = advance(TASK, TASK.opponents, begin(TASK, seed))
        obs = TASK.env.observe(play.state, TASK.learner)
        kinds = set()
        for form in schema(obs)["anyOf"]:
            row = {name: value["const"] for name, value in form["properties"].items()}
            action = parse(json.dumps(row), obs)
            kinds.add(action.action_type)
            assert TASK.env.step(play.state, action).private[TASK.learner].results[0].ok, row
        assert {"wait", "finish", "send_offer"} <= kinds


def test_a_wrapper_of_the_bazaar_has_no_seat_in_the_arena():
    assert get_policy(TASK, "null+constrained").seat.constrained
    with pytest.raises(ValueError, match="wrapper"):
        get_policy(TASK, "null+honest")


def test_games_in_step_are_the_games_played_alone():
    games = [new_game(TASK, seed) for seed in SEEDS]
    play_games(games, PlayerSpec(Booker()))
    alone = [rollout(TASK, PlayerSpec(Booker()).policy(ARENA), seed) for seed in SEEDS]
    assert [game.play.state for game in games] == [one.final for one in alone]
    broken = [isinstance(t.action, arena.Malformed) for game in games for t in game.turns]
    assert any(broken)
    assert not all(broken)


# What is learnt -----------------------------------------------------------------------------------


def test_a_row_is_a_state_and_the_experts_action_there():
    config = ArenaRowSettings(rows=60)
    rows = arena_rows(config)
    assert len(rows) == 60 == arena_summary(rows)["completions"]
    for row in rows:
        assert [message["role"] for message in row.messages] == ["system", "user", "assistant"]
        assert json.loads(row.messages[2]["content"])["action_type"] == row.kinds[0]
    state = next(teach_arena(TASK, config.first_seed, config))
    assert rows[0].messages[:2] == render(state.obs)


def test_the_teachers_action_is_learnt_where_another_policy_moves():
    config = ArenaRowSettings(behaviour=(("wait", 1.0),), rows=20)
    rows = arena_rows(config)
    assert {row.kinds[0] for row in rows} - {"wait"}  # though every move made was to wait
    assert {row.deal for row in rows} == {0, 1, 2, 3, 4}  # five waits, and the rounds are out


def test_the_null_model_plays_a_whole_game():
    games = [new_game(TASK, 50_000)]
    play_games(games, player_spec("null"))
    assert games[0].grade < 0
    assert RULES.format(lab="lab_0") == games[0].turns[0].request.messages[0]["content"]
