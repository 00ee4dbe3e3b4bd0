"""A scripted policy that plays through acts and words plays as it does without them."""

from dataclasses import replace

import pytest

from env import BAZAAR_TASKS, Episode, IllegalAction, get_task, rollout
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.games import policies_of
from sauda.language.acts import Acts
from sauda.llm.registry import get_policy

SCRIPTS = ("linear", "tit_for_tat", "random")


def silent(played: Episode) -> list[tuple[str, object, str]]:
    """The moves of an episode without their words."""
    return [
        (turn.agent, turn.action and replace(turn.action, message=""), turn.error)
        for turn in played.turns
    ]


@pytest.mark.parametrize("name", BAZAAR_TASKS)
def test_the_round_trip_is_exact(name):
    task = get_task(name)
    for policy in SCRIPTS:
        for seed in (1, 50_001):
            plain = rollout(task, get_policy(task, policy), seed)
            spoken = rollout(task, get_policy(task, f"acts({policy})"), seed)
            assert silent(spoken) == silent(plain)
            assert spoken.payoffs == plain.payoffs
            assert all(turn.action.message for turn in spoken.trajectory(task.learner))


@pytest.mark.slow
def test_the_round_trip_is_exact_for_every_buyer():
    task = get_task("bazaar/open")
    for policy in policies_of(task):
        for seed in range(20):
            plain = rollout(task, get_policy(task, policy), seed)
            spoken = rollout(task, get_policy(task, f"acts({policy})"), seed)
            assert silent(spoken) == silent(plain), (policy, seed)


def test_a_strategy_without_a_move_has_none_in_words():
    def none(obs, rng):
        raise IllegalAction("no move")

    episode = rollout(get_task("bazaar/open"), Acts(none), 1)
    assert episode.turns[-1].error == "no move"


@pytest.mark.parametrize(
    ("task", "name", "fault"),
    [
        ("bazaar/open", "acts(nobody)", "no policy 'acts\\(nobody\\)' for the buyer"),
        ("bazaar/open", "acts(mini)", "no policy 'acts\\(mini\\)'"),
        ("bazaar/open", "acts()", "no policy 'acts\\(\\)'"),
        ("arena/single_trade", "acts(planner)", "the arena is played without them"),
    ],
)
def test_a_name_that_is_no_script_is_refused(task, name, fault):
    with pytest.raises(ValueError, match=fault):
        get_policy(get_task(task), name)


def test_it_has_a_row_of_its_own_beside_its_strategy():
    config = EvaluationSpec(
        ("bazaar/open",), ("linear", "acts(linear)"), episodes=8, baseline="linear"
    )
    data = evaluate(config, workers=1)
    plain, spoken = data["rows"]
    assert spoken["policy"] == "acts(linear)"
    assert spoken["share"]["difference"] == 0
    assert spoken["hashes"]["policy"] != plain["hashes"]["policy"]
    assert spoken["hashes"]["task"] == plain["hashes"]["task"]
