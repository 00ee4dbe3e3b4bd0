"""The arena's evaluation: figures that follow from columns, and columns from episodes."""

import json

import numpy as np
import pytest

import sauda.__main__ as command_line
from env import ARENA_TASKS, IllegalAction, arena, begin, rollout
from sauda.evaluation.evaluate import Config, evaluate, play_cell
from sauda.experiments.verify import verify
from sauda.games.arena_columns import (
    COMPONENTS,
    DRAWN,
    OTHERS,
    against,
    episode_row,
    events,
    worlds_of,
)
from sauda.policies import LABS
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact, load, renew_checksums, save, write
from sauda.statistics import correlation

SINGLE, MARKET = "arena/single_trade", "arena/coalition_market"
PENALTIES = ("invalid_action_penalty", "spam_penalty", "breach_penalty")


def row_of(artifact: Artifact, task: str, policy: str, others: str = DRAWN) -> dict:
    cell = (others, task, policy)
    (row,) = [
        r for r in artifact.data.as_json()["rows"] if (r["others"], r["task"], r["policy"]) == cell
    ]
    return row


def cells(artifact: Artifact):
    """Every recorded cell: its task, its worlds, its columns."""
    for by_task in artifact.data.as_json()["episodes"].values():
        for task, by_policy in by_task.items():
            for columns in by_policy.values():
                yield task, artifact.data.as_json()["worlds"][task], columns


# Columns and worlds


def test_every_company_task_and_policy_has_a_row_and_a_column_of_each_episode(arena_evaluation):
    config = arena_evaluation.config
    rows = [(r["others"], r["task"], r["policy"]) for r in arena_evaluation.data.as_json()["rows"]]
    assert rows == [
        (o, t, p) for o in config["others"] for t in config["tasks"] for p in config["policies"]
    ]
    for _, worlds, columns in cells(arena_evaluation):
        lengths = {len(values) for name, values in columns.items() if name != "components"}
        lengths |= {len(values) for values in columns["components"].values()}
        lengths |= {len(worlds[name]) for name in ("stake", "batna")}
        assert lengths == {6}


def test_a_reward_is_the_utility_less_the_promised_batna_and_the_penalties(arena_evaluation):
    for _, worlds, columns in cells(arena_evaluation):
        earned = np.array(columns["utility"]) - arena.PLAN_WEIGHT * np.array(worlds["batna"])
        fines = sum(np.array(columns["components"][name]) for name in PENALTIES)
        rewards = earned / np.array(worlds["stake"]) + fines
        assert columns["reward"] == pytest.approx(rewards, abs=1e-4)
        assert columns["reward"] == pytest.approx(
            sum(np.array(columns["components"][name]) for name in COMPONENTS), abs=1e-5
        )


def test_a_grade_is_the_surplus_as_a_share_of_the_stake(arena_evaluation):
    for _, worlds, columns in cells(arena_evaluation):
        surplus = np.array(columns["utility"]) - np.array(worlds["batna"])
        grades = np.clip(surplus / np.array(worlds["stake"]), -1, 1)
        assert columns["grade"] == pytest.approx(grades, abs=1e-5)


def test_who_waits_acts_validly_completes_nothing_and_earns_nothing(arena_evaluation):
    row = row_of(arena_evaluation, SINGLE, "wait")
    assert (row["valid"], row["jobs"]["mean"], row["utility"]["mean"]) == (1, 0, 0)
    assert row["actions"] == 6 * ARENA_TASKS[SINGLE].env.size.max_rounds
    assert row["correlation"] is None


def test_refused_actions_are_not_valid(arena_evaluation):
    row = row_of(arena_evaluation, MARKET, "greedy_hoarder")
    columns = arena_evaluation.data.as_json()["episodes"][DRAWN][MARKET]["greedy_hoarder"]
    refused = -sum(columns["components"]["invalid_action_penalty"]) / 0.10
    assert refused > 0
    assert sum(columns["actions"]) - sum(columns["valid"]) == pytest.approx(refused)
    assert row["valid"] == pytest.approx(sum(columns["valid"]) / sum(columns["actions"]), abs=1e-6)


def test_a_forfeit_is_an_action_that_is_not_valid_and_an_end_of_its_own():
    def gives_up(obs, rng):
        if obs.own.recent:
            raise IllegalAction("no more")
        return arena.Action("send_message", message="hello")

    task = ARENA_TASKS[SINGLE]
    row = episode_row(task, rollout(task, gives_up, 3))
    assert (row["end"], row["actions"], row["valid"]) == ("F", 2, 1)


def test_the_same_cell_comes_out_again_and_two_workers_give_what_one_gives(arena_evaluation):
    seeds = SPLITS["holdout"][:6]
    recorded = arena_evaluation.data.as_json()["episodes"]["selfish"][MARKET]["planner"]
    assert play_cell("selfish", MARKET, "planner", seeds) == recorded
    config = Config((SINGLE,), ("wait", "planner"), episodes=3, baseline="wait")
    assert evaluate(config, (DRAWN,), workers=1) == evaluate(config, (DRAWN,), workers=2)


def test_worlds_are_those_that_are_played():
    worlds = worlds_of(SINGLE, range(3))
    for seed in range(3):
        own = rollout(ARENA_TASKS[SINGLE], LABS["planner"], seed).final.private["lab_0"]
        assert (worlds["stake"][seed], worlds["batna"][seed]) == (own.stake, own.batna)


# Figures


def test_means_differences_and_correlations_are_those_of_the_columns(arena_evaluation):
    recorded = arena_evaluation.data.as_json()["episodes"][DRAWN][MARKET]
    worlds = arena_evaluation.data.as_json()["worlds"][MARKET]
    planner, base = (np.array(recorded[p]["utility"]) for p in ("planner", "rule_based_expert"))
    row = row_of(arena_evaluation, MARKET, "planner")
    assert row["utility"]["mean"] == pytest.approx(planner.mean(), abs=1e-5)
    assert row["utility"]["difference"] == pytest.approx((planner - base).mean(), abs=1e-5)
    assert row["utility"]["low"] <= row["utility"]["mean"] <= row["utility"]["high"]
    expected = np.corrcoef(recorded["planner"]["reward"], planner / worlds["stake"])[0, 1]
    assert row["correlation"]["mean"] == pytest.approx(expected, abs=1e-5)
    baseline = row_of(arena_evaluation, MARKET, "rule_based_expert")["grade"]
    assert [baseline[f"difference{end}"] for end in ("", "_low", "_high")] == [0, 0, 0]


def test_the_pooled_correlation_is_over_every_episode_of_every_policy(arena_evaluation):
    (pooled,) = [
        row
        for row in arena_evaluation.data.as_json()["correlations"]
        if (row["others"], row["task"]) == (DRAWN, MARKET)
    ]
    recorded = arena_evaluation.data.as_json()["episodes"][DRAWN][MARKET].values()
    stake = np.array(arena_evaluation.data.as_json()["worlds"][MARKET]["stake"])
    rewards = np.concatenate([columns["reward"] for columns in recorded])
    shares = np.concatenate([np.array(columns["utility"]) / stake for columns in recorded])
    assert pooled["n"] == 24 == rewards.size
    assert pooled["correlation"]["mean"] == pytest.approx(
        np.corrcoef(rewards, shares)[0, 1], abs=1e-5
    )


def test_an_example_is_a_step_that_can_be_played_again(arena_evaluation):
    shown = {
        example["component"]: example for example in arena_evaluation.data.as_json()["examples"]
    }
    assert {"job_utility_score", "budget_efficiency_score", "invalid_action_penalty"} <= set(shown)
    assert "judge_argument_score" not in shown
    for name, example in shown.items():
        task = ARENA_TASKS[example["task"]]
        played = rollout(task, LABS[example["policy"]], example["seed"])
        own = [event for event in events(played, "lab_0") if event.reward is not None]
        step = own[example["step"] - 1]
        assert (step.words, step.code) == (example["words"], example["code"])
        amounts = [getattr(event.reward, name) for event in own]
        assert example["amount"] == pytest.approx(max(amounts, key=abs), abs=1e-6) != 0


# Events


def test_events_tell_every_action_and_every_shock_and_their_rewards_add_up():
    task = ARENA_TASKS[MARKET]
    played = rollout(task, LABS["planner"], 5)
    recorded = events(played, "lab_0")
    shocks = played.final.market.shock_history
    assert [event.words for event in recorded if not event.lab] == [s.message for s in shocks]
    assert len(recorded) == len(played.turns) + len(shocks)
    own = [event for event in recorded if event.reward is not None]
    steps = arena.episode_rewards(begin(task, 5).state, played.turns, "lab_0")
    assert tuple(event.reward for event in own) == steps
    assert own[-1].cumulative == pytest.approx(arena.total(steps).normalized_reward)
    assert [event.round_index for event in recorded] == sorted(
        event.round_index for event in recorded
    )


# Other labs


def test_all_selfish_labs_seek_no_coalition_and_drawn_ones_do():
    task = ARENA_TASKS[MARKET]
    kinds = {DRAWN: 0, "selfish": 0}
    for others in kinds:
        for seed in range(6):
            played = rollout(against(task, others), LABS["wait"], seed)
            kinds[others] += len(played.final.market.coalitions)
    assert kinds["selfish"] == 0 < kinds[DRAWN]


def test_only_the_opponents_hash_tells_other_labs_from_those_that_are_drawn(arena_evaluation):
    drawn, selfish = (
        row_of(arena_evaluation, MARKET, "planner", others)["hashes"]
        for others in (DRAWN, "selfish")
    )
    assert drawn["opponents"] != selfish["opponents"]
    assert (drawn["task"], drawn["policy"]) == (selfish["task"], selfish["policy"])


def test_training_is_with_labs_as_drawn_and_hold_out_also_with_planners():
    assert OTHERS["train"] == (DRAWN,)
    assert OTHERS["holdout"] == (DRAWN, "planner")


def test_unknown_other_labs_are_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no other labs 'kind'; they may be as drawn, cooperative"):
        against(ARENA_TASKS[SINGLE], "kind")


# Artifacts and commands


@pytest.fixture
def saved(arena_evaluation, tmp_path):
    """A root that holds a small evaluation as its command would write it."""
    config = {
        **arena_evaluation.config,
        "tasks": (SINGLE,),
        "policies": ("wait", "planner"),
        "episodes": 2,
        "baseline": "wait",
        "others": (DRAWN,),
    }
    own_config = Config(**{name: field for name, field in config.items() if name != "others"})
    save(arena_evaluation.file, config, evaluate(own_config, config["others"], 1), tmp_path)
    return tmp_path


def test_an_evaluation_can_be_read_and_comes_out_again(arena_evaluation, saved):
    assert load(arena_evaluation.file, saved).kind == "arena/2"
    assert verify(arena_evaluation.file, workers=1, root=saved) == []


def test_a_digit_of_a_reward_is_found(arena_evaluation, saved):
    path = saved / arena_evaluation.file
    content = json.loads(path.read_text(encoding="utf-8"))
    content["data"]["episodes"][DRAWN][SINGLE]["planner"]["reward"][1] += 1e-6
    write(path, json.dumps(content))
    renew_checksums([arena_evaluation.file], saved)
    (place,) = verify(arena_evaluation.file, workers=1, root=saved)
    assert place.startswith(f"data.episodes['as drawn']['{SINGLE}'].planner.reward[1]: recorded")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--family", "arena", "--policies", "wait"], "a part of the table needs a file of its"),
        (["--family", "arena", "--policies", "expert"], "no policy 'expert' for the lab_0"),
        (["--family", "arena", "--episodes", "0"], "episodes must be from 1 to 50,000, not 0"),
        (["--family", "arena", "--out", "evaluation/mine.json"], "evaluation/mine.json is of kind"),
        (["--out", "evaluation/arena-mine.json"], "evaluation/arena-mine.json is of kind arena/2"),
        (["--tasks", SINGLE, "classic/single_deal"], "the arena is evaluated apart"),
    ],
)
def test_what_the_arena_cannot_evaluate_is_one_sentence(capsys, arguments, sentence):
    assert command_line.main(["evaluate", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"sauda: {sentence}")


# Statistics and speed


def test_a_correlation_of_a_line_is_one_and_of_a_constant_is_none():
    x = np.arange(10.0)
    assert correlation(x, 3 * x - 1) == pytest.approx((1, 1, 1))
    assert correlation(x, -x) == pytest.approx((-1, -1, -1))
    assert correlation(x, np.ones(10)) is None


def test_a_correlation_keeps_the_columns_of_several_rows_together():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 3, 40))
    y += x
    r, low, high = correlation(x, y)
    assert r == pytest.approx(np.corrcoef(x.ravel(), y.ravel())[0, 1])
    assert low < r < high
