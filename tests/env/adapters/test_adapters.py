"""Gymnasium's and PettingZoo's own checkers on our adapters, and what the numbers stand for."""

import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from env import (
    ARENA_TASKS,
    BAZAAR_TASKS,
    TASKS,
    Accept,
    IllegalAction,
    WalkAway,
    begin,
    get_task,
    rollout,
)
from env.adapters.aec_env import NegotiationAEC
from env.adapters.gym_env import MOST_STEPS, BargainingEnv, encoding_of, legal
from sauda.records.store import ROOT

every_task = pytest.mark.parametrize("task_name", TASKS)
GAMES = (
    "bazaar/open",
    "classic/marketplace_arena",
    "classic/career_10",
    "classic/single_deal",
    *ARENA_TASKS,
)
some_tasks = pytest.mark.parametrize("task_name", GAMES)
ACCEPT = 0
gymnasium.register("sauda/Masked-test", BargainingEnv)


@some_tasks
def test_gymnasiums_checker_passes(task_name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*")
        check_env(BargainingEnv(task_name))


@some_tasks
def test_pettingzoos_checkers_pass(task_name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It knows observations with a mask by the names of its own games alone.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably")
        warnings.filterwarnings("ignore", message="Environment has not defined a render")
        warnings.filterwarnings("ignore", message="We recommend agents to be named")
        # Nobody moves after the end, and one agent at a time before.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        api_test(NegotiationAEC(task_name), num_cycles=60)
        seed_test(lambda: NegotiationAEC(task_name), num_cycles=40)


def test_a_seed_is_the_game_that_is_measured():
    env = BargainingEnv("classic/single_deal")
    env.reset(seed=7)
    *_, info = env.step(ACCEPT)
    task = get_task("classic/single_deal")
    episode = rollout(task, lambda obs, rng: Accept(), 7)
    assert info["grade"] == task.grade(episode.final)
    assert info["payoffs"] == episode.payoffs


def test_an_illegal_action_changes_nothing_and_too_many_end_the_episode():
    env = BargainingEnv("bazaar/open")
    before, info = env.reset(seed=7)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[-1])
    for step in range(1, MOST_STEPS + 1):
        observation, reward, terminated, truncated, info = env.step(illegal)
        assert (reward, terminated, truncated) == (0.0, False, step == MOST_STEPS)
        assert np.array_equal(observation, before)
        assert "the budget is" in info["error"]


@some_tasks
def test_maskable_trainers_find_the_mask_where_they_look_for_it(task_name):
    env = gymnasium.make("sauda/Masked-test", task=task_name)
    with pytest.raises(ValueError, match="no episode is running"):
        env.unwrapped.action_masks()
    for step in range(3):
        _, info = env.reset(seed=step)
        mask = env.get_wrapper_attr("action_masks")()  # as sb3-contrib does
        assert (mask.dtype, mask.shape) == (np.dtype(bool), (env.action_space.n,))
        assert np.array_equal(mask, info["action_mask"].astype(bool))
        while mask.any():
            _, _, over, _, info = env.step(env.action_space.sample(mask.astype(np.int8)))
            mask = env.unwrapped.action_masks()
            assert mask.any() != over


@every_task
def test_the_mask_is_what_the_rules_take(task_name):
    task = get_task(task_name)
    encoding, state = encoding_of(task), begin(task, 3).state
    rng = np.random.default_rng(0)
    for _ in range(6):
        agent = task.env.to_act(state)
        if agent is None:
            break
        choices = encoding.choices(task.env.observe(state, agent))
        mask = legal(task, state, choices, encoding.actions)
        assert mask.shape == (encoding.actions,)
        assert not mask[len(choices) :].any()
        for number in rng.choice(np.flatnonzero(mask), 4):
            after = task.env.step(state, choices[number])
            if task_name in ARENA_TASKS:
                assert after.private[agent].results[0].ok
        if task_name in BAZAAR_TASKS:
            for number in np.flatnonzero(mask[: len(choices)] == 0)[::40]:
                with pytest.raises(IllegalAction):
                    task.env.step(state, choices[number])
            walks = choices.index(WalkAway())
            assert mask[walks]
            state = task.env.step(state, choices[np.flatnonzero(mask)[-1]])
        else:
            assert [choice.action_type for choice in choices[:2]] == ["wait", "finish"]
            state = task.env.step(state, choices[0])


def test_the_loops_of_the_documentation_run_as_they_stand():
    text = (ROOT.parent / "docs" / "openenv.md").read_text(encoding="utf-8")
    _, code, _ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert names["terminated"]
    assert not names["seats"].agents


def test_an_empty_seat_has_nothing_to_observe():
    market = NegotiationAEC("arena/coalition_market")
    market.reset(seed=3)  # four labs for five seats
    with pytest.raises(ValueError, match="lab_4 is empty"):
        market.observe("lab_4")
