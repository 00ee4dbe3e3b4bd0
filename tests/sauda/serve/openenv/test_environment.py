"""The OpenEnv environment in this process: the same games, nothing hidden shown, limits kept."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from pydantic import ValidationError

from env import ARENA_TASKS, TASKS, arena, begin
from sauda.records.seeds import LEADERBOARD, SPLITS
from sauda.serve.episodes import IDLE_SECONDS, OF_ADDRESS, Episodes, Refused
from sauda.serve.openenv import game as games
from sauda.serve.openenv import task_list
from sauda.serve.openenv.actions import ARENA, BAZAAR, FIELDS, SaudaAction
from sauda.serve.openenv.environment import SaudaEnvironment
from sauda.serve.openenv.observations import observation_of, state_of
from tests.support.served_games import blinded, played, wire_actions

every_task = pytest.mark.parametrize("task_name", TASKS)
OFFER = SaudaAction(action_type="offer", price=1)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@every_task
def test_a_served_episode_is_the_one_that_is_measured(task_name):
    task, served = TASKS[task_name], SaudaEnvironment()
    for seed in (7, 50_001):
        episode = played(task_name, seed)
        observation, total = served.reset(seed=seed, task=task_name), 0.0
        for action in wire_actions(episode):
            assert not observation.done
            observation = served.step(SaudaAction.model_validate(action))
            assert observation.error == ""
            total += observation.reward
        assert observation.done
        outcome = observation.outcome
        assert outcome["grade"] == task.grade(episode.final)
        assert outcome["payoffs"] == episode.payoffs
        assert (outcome["end"], outcome["seed"]) == (str(episode.end), seed)
        if task_name in ARENA_TASKS:
            start = begin(task, seed).state
            parts = arena.total(arena.episode_rewards(start, episode.turns, task.learner))
            assert total == pytest.approx(parts.normalized_reward)
        else:
            assert total == outcome["grade"]


@every_task
def test_what_goes_out_does_not_depend_on_what_the_seat_may_not_see(task_name):
    """Everybody else's private values are blanked: the observation and the state stay the same."""
    game = games.start(task_name, 11, "one", 0.0)
    for action in wire_actions(played(task_name, 11)):
        blind = replace(blinded(game), seed_is_chosen=False)
        hidden = replace(game, seed_is_chosen=False)
        assert observation_of(blind) == observation_of(hidden)
        assert state_of(blind) == state_of(hidden)
        assert state_of(hidden).seed is None
        game = games.acted(game, SaudaAction.model_validate(action), 0.0)
    assert game.over


def test_a_seed_that_nobody_chose_is_told_at_the_end_and_plays_the_same_game_again():
    served = SaudaEnvironment()
    first = served.reset()
    assert served.state.seed is None
    last = served.step(SaudaAction(action_type="walk"))
    seed = last.outcome["seed"]
    assert int(seed) > 2**64  # drawn from so many that nobody can search them
    assert str(seed) not in first.model_dump_json()
    assert SaudaEnvironment().reset(seed=seed).bazaar == first.bazaar
    assert SaudaEnvironment().reset().bazaar != first.bazaar


def test_an_illegal_move_changes_nothing_and_says_why():
    served = SaudaEnvironment()
    before = served.reset(seed=3)
    for action, why in (
        ({"action_type": "offer", "price": 10**7}, "the budget is"),
        ({"action_type": "offer"}, "an offer needs a price"),
        ({"action_type": "offer", "price": 0.5}, "prices here have whole rupees"),
        ({"action_type": "wait"}, "an action of the bazaar is one of offer, accept, walk"),
        ({"action_type": "accept", "payment": 5}, "an action of the bazaar has no payment"),
    ):
        after = served.step(SaudaAction.model_validate(action))
        assert why in after.error
        assert (after.bazaar, after.reward, after.done) == (before.bazaar, 0.0, False)
    assert served.state.step_count == 5
    assert served.step(OFFER).error == ""


def test_the_arena_answers_an_illegal_move_with_its_own_code():
    served = SaudaEnvironment()
    served.reset(task="arena/market_round", seed=3)
    after = served.step(SaudaAction(action_type="accept_offer", offer_id="o_99"))
    assert after.error == ""
    assert after.arena["own"]["results"][0]["code"] == "unknown_offer"
    assert after.reward_parts["invalid_action_penalty"] == -0.1


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"action_type": "steal"},
        {"action_type": "offer", "price": "500"},
        {"action_type": "offer", "price": True},
        {"action_type": "offer", "price": float("nan")},
        {"action_type": "offer", "price": 5, "reservation": 1},
        {"action_type": "walk", "message": "x" * 2001},
        {"action_type": "wait", "block_ids": ["b"] * 25},
        {"action_type": "wait", "conditions": {str(i): 1 for i in range(5)}},
    ],
)
def test_what_is_no_action_is_refused_by_its_type(action):
    with pytest.raises(ValidationError):
        SaudaAction.model_validate(action)


def test_the_fields_of_the_two_games_are_all_fields_of_the_action():
    assert FIELDS["bazaar"] | FIELDS["arena"] == set(SaudaAction.model_fields) - {
        "action_type",
        "metadata",
    }


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"task": "bazaar/none"}, "no task 'bazaar/none'"),
        ({"task": ["bazaar/open"]}, "a task is the name of one"),
        ({"seed": -1}, "a seed is a whole number"),
        ({"seed": True}, "a seed is a whole number"),
        ({"seed": 10**60}, "a seed is a whole number"),
        ({"split": "train"}, "a task and a seed, or a split and an index"),
        ({"index": 4}, "a task and a seed, or a split and an index"),
        ({"split": "train", "index": 4, "seed": 4}, "a task and a seed, or a split and an index"),
        ({"split": "test", "index": 4}, "a split is one of train, holdout"),
        ({"split": "train", "index": -1}, "an index of train is a whole number from 0"),
        ({"split": "train", "index": "4"}, "an index of train is a whole number from 0"),
        ({"episode_id": ""}, "an episode_id is a text"),
        ({"episode_id": "x" * 256}, "an episode_id is a text"),
        ({"episode_id": 7}, "an episode_id is a text"),
    ],
)
def test_a_reset_that_makes_no_sense_is_refused_in_a_sentence(options, why):
    served = SaudaEnvironment()
    with pytest.raises((ValueError, IndexError), match=why):
        served.reset(**options)
    assert served.state.task is None


def test_a_field_of_an_action_that_a_model_fills_with_an_empty_text_is_absent():
    move = SaudaAction.model_validate({"action_type": "accept", "offer_id": "", "price": ""})
    assert move == SaudaAction(action_type="accept")


@every_task
def test_the_first_observation_says_the_task_the_aim_the_moves_and_the_grading(task_name):
    task, served = TASKS[task_name], SaudaEnvironment()
    words = served.reset(task=task_name, seed=7).briefing
    for told in (task_name, task.about, f"`{task.learner}`", "limit", "Legal moves", "Grading"):
        assert told in words or (told == "limit" and task_name in ARENA_TASKS)
    for kind in ARENA if task_name in ARENA_TASKS else BAZAAR:
        assert kind in words
    assert served.reset(task=task_name, seed=8).briefing == words  # nothing of what is drawn
    assert served.step(SaudaAction(action_type="wait")).briefing == ""


@every_task
def test_the_moves_of_a_briefing_can_be_made_and_its_fields_are_there(task_name):
    """A model that is given the observation alone copies the examples and looks up the fields."""
    served = SaudaEnvironment()
    first = served.reset(task=task_name, seed=7)
    share = 0.7 if first.seat == "buyer" else 1.4
    for example in re.findall(r"\{.*?\}", first.briefing):
        action = SaudaAction.model_validate_json(example)
        seen = served.reset(task=task_name, seed=7)
        if seen.bazaar:
            price = round(share * seen.bazaar["own"]["reservation"])
            if action.action_type == "offer":
                action.price = price
            elif not (seen.bazaar["asks"] or seen.bazaar["bids"]):  # whoever sells names the first
                served.step(SaudaAction(action_type="offer", price=price))
        assert served.step(action).error == ""
    for path in re.findall(r"`((?:bazaar|arena)\.[\w.]+)`", first.briefing):
        place = first.model_dump()
        for name in path.split("."):
            assert name in place, path
            place = place[name]


def test_there_is_no_step_before_a_reset_or_after_the_end():
    served = SaudaEnvironment()
    with pytest.raises(ValueError, match="no episode is running; reset starts one"):
        served.step(OFFER)
    served.reset(seed=1)
    served.step(SaudaAction(action_type="walk"))
    with pytest.raises(ValueError, match="this episode is over; reset starts a new one"):
        served.step(OFFER)


def test_an_episode_that_uses_up_its_steps_is_forfeited():
    served = SaudaEnvironment()
    observation = served.reset(seed=1)
    for _ in range(games.MOST_STEPS):
        observation = served.step(SaudaAction(action_type="wait"))
        assert not observation.done
    last = served.step(OFFER)
    assert (last.done, last.outcome["end"]) == (True, "forfeit")
    assert last.outcome["forfeit"] == f"an episode has at most {games.MOST_STEPS} steps"
    assert last.reward == last.outcome["grade"] == 0.0


def test_an_episode_that_uses_up_its_time_is_forfeited():
    clock = Clock()
    served = SaudaEnvironment(clock)
    served.reset(seed=1)
    clock.now += games.MOST_SECONDS + 1
    last = served.step(OFFER)
    assert last.outcome["forfeit"] == f"an episode lasts at most {games.MOST_SECONDS:.0f} seconds"


@every_task
def test_every_game_fits_into_the_steps_of_an_episode(task_name):
    start = games.start(task_name, 0, "one", 0.0)
    if task_name in ARENA_TASKS:
        moves = arena.ACTIONS_PER_ROUND * start.observation.market.max_rounds
    else:
        moves = start.task.env.rounds * start.observation.table.deals
    assert 2 * moves <= games.MOST_STEPS


def test_the_reward_is_the_sum_of_named_rubrics():
    served = SaudaEnvironment()
    served.reset(task="arena/coalition_market", seed=7)
    rewards = [
        served.step(SaudaAction.model_validate(action)).reward
        for action in wire_actions(played("arena/coalition_market", 7))
    ]
    rubrics = dict(served.rubric.named_rubrics())
    names = {f"arena.{part.name}" for part in arena.COMPONENTS}
    assert names | {"arena", "bazaar", "bazaar.grade"} == set(rubrics)
    assert sum(rubrics[name].last_score for name in names) == pytest.approx(rewards[-1])
    assert any(rewards)


def test_the_numbered_tasks_of_a_split_are_every_task_at_every_seed():
    count = task_list.count("holdout")
    assert count == len(TASKS) * len(SPLITS["holdout"])
    assert [row["task"] for row in task_list.listed("holdout", 0, len(TASKS))] == list(TASKS)
    last = task_list.numbered("holdout", count - 1)
    assert (last["task"], last["seed"]) == (list(TASKS)[-1], SPLITS["holdout"][-1])
    assert len(task_list.listed("train")) == task_list.PREVIEW
    assert task_list.listed("train", 5, 5) == []
    served = SaudaEnvironment()
    observation = served.reset(split="holdout", index=count - 1)
    assert (observation.task, served.state.seed) == (last["task"], last["seed"])


def test_an_observation_is_json_of_the_published_type():
    schema = json.dumps(SaudaEnvironment().reset(seed=1).model_json_schema())
    assert '"reservation"' in schema
    assert not any(word in schema for word in ("stance", "archetype", "chance", "nature"))


def kept(episodes: Episodes, address: str, *names: str) -> Mapping[str, SaudaEnvironment]:
    """Environments that are kept for an address under these ids."""
    new = {name: SaudaEnvironment() for name in names}
    for name, environment in new.items():
        episodes.keep((address, name), address, environment)
    return new


def test_an_episode_over_http_is_found_by_the_address_that_named_it_alone():
    episodes = Episodes()
    own = kept(episodes, "10.0.0.1", "game")
    with episodes.using(("10.0.0.1", "game")) as environment:
        assert environment is own["game"]
    with (
        pytest.raises(Refused, match="no episode of this id"),
        episodes.using(("10.0.0.2", "game")),
    ):
        pass


def test_an_address_that_keeps_too_many_episodes_loses_the_one_unused_for_longest():
    episodes = Episodes()
    kept(episodes, "10.0.0.1", *map(str, range(OF_ADDRESS)))
    kept(episodes, "10.0.0.2", "other")
    with episodes.using(("10.0.0.1", "0")):
        pass
    kept(episodes, "10.0.0.1", "new")
    for name in ("0", "2", "new"):
        with episodes.using(("10.0.0.1", name)):
            pass
    with pytest.raises(Refused), episodes.using(("10.0.0.1", "1")):
        pass
    assert len(episodes) == OF_ADDRESS + 1


def test_an_episode_over_http_is_dropped_when_it_is_left():
    clock = Clock()
    episodes = Episodes(clock=clock)
    kept(episodes, "10.0.0.1", "left", "used")
    clock.now += IDLE_SECONDS
    with episodes.using(("10.0.0.1", "used")):
        pass
    clock.now += 1
    with pytest.raises(Refused), episodes.using(("10.0.0.1", "left")):
        pass
    with episodes.using(("10.0.0.1", "used")):
        pass


def test_a_full_house_of_episodes_over_http_refuses_one_more():
    episodes = Episodes()
    full, number = False, 0
    while not full:
        number += 1
        try:
            kept(episodes, f"10.0.{number // OF_ADDRESS}.1", str(number))
        except Refused as refused:
            full = refused.status == 429
    assert len(episodes) == number - 1 == 256


@pytest.mark.parametrize("written", [int, str])
def test_a_seed_of_the_leaderboards_range_is_refused_in_a_sentence(written):
    for seed in (LEADERBOARD.start, LEADERBOARD.stop - 1):
        with pytest.raises(ValueError, match="entries of the leaderboard"):
            SaudaEnvironment().reset(task="bazaar/open", seed=written(seed))
    SaudaEnvironment().reset(task="bazaar/open", seed=written(LEADERBOARD.start - 1))
