"""A model as a lab: what its prompt tells, what its completions mean, how its games are learnt."""

import json

import pytest

from env import ARENA_TASKS, advance, arena, begin, get_task, move, rollout
from env.arena.broker import broker
from env.arena.prompt import completion, options, parse, render, schema
from sauda.games.arena_words import events
from sauda.policies import LABS
from sauda.train.teacher_rows import ArenaRowSettings, arena_rows, summarize_rows, teach_arena

TASK = get_task("arena/market_round")
SEEDS = range(7, 19)
MIXED = ArenaRowSettings()


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
    for obs in states(SEEDS[:1], name):
        listed = [option.action for some in options(obs).values() for option in some]
        for action in (*arena.legal_actions(obs), *listed):
            assert parse(f"Well: {completion(action, obs)} so be it", obs) == action


def test_the_broker_picks_an_option_and_the_prompt_numbers_all_that_the_schema_allows():
    for obs in states():
        reply = json.loads(completion(broker(obs, None), obs))
        assert reply in [{"wait": True}, *({verb: 1} for verb in options(obs))]
        position = render(obs)[1]["content"]
        lines = dict(line.split(": ", 1) for line in position.splitlines() if ": " in line)
        for form in schema(obs)["anyOf"]:
            ((verb, value),) = form["properties"].items()
            number = value["const"]
            assert verb == "wait" or lines[verb].split("; ")[number - 1].startswith(f"{number} ")


@pytest.mark.parametrize(
    "text",
    ["", "wait", "{", '{"action":"wait"}', '{"action_type":"steal"}', '{"action_type":7}', "[1]",
     '{"buy":0}', '{"buy":99}', '{"buy":true}', '{"accept":"o_1"}', '{"lend":1}',
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


@pytest.mark.parametrize("name", ARENA_TASKS)
def test_the_rules_accept_every_option(name):
    met = set()
    for state in (s for seed in SEEDS[:2] for s in teach_arena(get_task(name), seed, MIXED)):
        for form in schema(state.obs)["anyOf"]:
            row = {verb: value["const"] for verb, value in form["properties"].items()}
            after = state.task.env.step(state.play.state, parse(json.dumps(row), state.obs))
            assert after.private[state.task.learner].results[0].ok, row
            met |= {*row}
    assert {"wait", "book", "buy", "sell"} <= met


def test_a_row_is_a_state_and_the_experts_action_there():
    config = ArenaRowSettings(rows=60)
    rows = arena_rows(config)
    assert len(rows) == 60 == summarize_rows(rows)["completions"]
    for row in rows:
        assert [message["role"] for message in row.messages] == ["system", "user", "assistant"]
        assert row.labels == [row.messages[2]["content"]]
    assert [row.task for row in rows[::20]] == list(ARENA_TASKS)
    state = next(teach_arena(get_task(rows[0].task), config.first_seed, config))
    assert rows[0].messages[:2] == render(state.obs)


def test_the_teachers_action_is_learnt_where_another_policy_moves():
    config = ArenaRowSettings(behaviour=(("wait", 1.0),), rows=20, tasks=(TASK.name,))
    rows = arena_rows(config)
    assert not all('"wait"' in row.labels[0] for row in rows)  # though every move made was to wait
    assert {row.deal for row in rows} == {0, 1, 2, 3, 4}  # five waits, and the rounds are out


def test_events_tell_every_action_and_every_shock_and_their_rewards_add_up():
    market = ARENA_TASKS["arena/coalition_market"]
    played = rollout(market, LABS["broker"], 5)
    recorded = events(played, "lab_0")
    shocks = played.final.market.shock_history
    assert [event.words for event in recorded if not event.lab] == [s.message for s in shocks]
    assert len(recorded) == len(played.turns) + len(shocks)
    own = [event for event in recorded if event.reward is not None]
    steps = arena.episode_rewards(begin(market, 5).state, played.turns, "lab_0")
    assert tuple(event.reward for event in own) == steps
    assert own[-1].cumulative == pytest.approx(arena.total(steps).normalized_reward)
    rounds = [event.round_index for event in recorded]
    assert rounds == sorted(rounds)
