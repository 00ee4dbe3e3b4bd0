"""A model as a lab: what its prompt tells, what its completions mean, how its games are learnt."""

import json

import pytest

from env import advance, arena, begin, get_task, move, rollout
from sauda.games.arena_prompt import completion, parse, render, schema
from sauda.policies import LABS
from sauda.train.teacher_rows import ArenaRowSettings, arena_rows, arena_summary, teach_arena

TASK = get_task("arena/market_round")
SEEDS = range(7, 19)


def states(seeds=SEEDS, name="broker"):
    """Every observation of `lab_0` in a policy's games."""
    for seed in seeds:
        for turn in rollout(TASK, LABS[name], seed).trajectory(TASK.learner):
            yield turn.observation


def test_nothing_hidden_is_told():
    """What no lab is told, or only the rules count with, changes nothing in the prompt."""
    for seed in SEEDS:
        play = advance(TASK, TASK.opponents, begin(TASK, seed))
        obs = TASK.env.observe(play.state, TASK.learner)
        own = obs.own._replace(batna=-1.0, stake=-2.0, chance=(0.5,) * len(obs.own.chance))
        assert render(obs._replace(own=own)) == render(obs)


@pytest.mark.parametrize("name", ["broker", "random"])
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
