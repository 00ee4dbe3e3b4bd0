"""The ladder: what its table says is so, and each level can be beaten."""

import re
from dataclasses import replace
from datetime import timedelta
from itertools import chain

import pytest

from env import TYPES, Offer, Policy, WalkAway, get_task, rollout
from env.bazaar.people import PATIENCES
from sauda.players import CUSTOMERS, PEOPLE, scripts_of
from sauda.policies.customers import Vendor
from sauda.policies.people import Planner
from sauda.policies.values import play_informed
from sauda.records.seeds import DAILY, SPLITS, deal_at
from sauda.sessions import daily
from sauda.sessions.bazaar import answer, back, stand, start
from sauda.sessions.ladder import LEVELS, Level, level_of, open_numbers, person_of, stars

OF_A_MAN = re.compile(r"(ta|raha) h(oo|u)n\b|[uo]nga\b|my wife|ता हूँ|रहा हूँ|ूँगा|ऊँगा", re.IGNORECASE)
BY_NAME = [pytest.param(level, id=level.text("name")) for level in LEVELS]


def is_a_woman(level: Level) -> bool:
    return level.text("trade", "hi").endswith("ी हैं")


def manner_of(level: Level) -> str:
    """The manner as the seed draws it."""
    deal = deal_at(get_task(level.task), level.seed)
    if level.task != CUSTOMERS:
        return deal.seller["stance"].type
    person = deal.buyer["stance"]
    return "rival" if person.rival else PATIENCES[person.patience]


def informed(level: Level) -> Policy:
    """A player that is told all of the person across."""
    task = get_task(level.task)
    deal = deal_at(task, level.seed)
    if level.task == CUSTOMERS:
        return Vendor(truth=deal.buyer["stance"])
    if level.task == PEOPLE:
        return Planner(truth=deal.seller["stance"])
    return play_informed(task, level.seed)


def share_of(level: Level, policy) -> float:
    task = get_task(level.task)
    return stand("", task, rollout(task, policy, level.seed)).share


@pytest.mark.parametrize("level", BY_NAME)
def test_the_table_tells_the_manner_and_a_seed_that_nothing_else_uses(level: Level):
    assert level.manner == manner_of(level)
    assert not any(level.seed in used for used in (*SPLITS.values(), DAILY))
    assert 0 < level.shares[0] < level.shares[1] < level.shares[2] < 1
    for what in ("name", "trade", "line"):
        assert all(map(str.isascii, (level.text(what, "hinglish").replace("’", "'"),)))
        assert any("\u0900" <= letter <= "\u097f" for letter in level.text(what, "hi"))


@pytest.mark.parametrize("level", BY_NAME)
def test_the_oracle_earns_all_stars_and_three_scripts_one(level: Level):
    assert share_of(level, informed(level)) >= level.shares[-1]
    scripts = {
        name: share_of(level, policy) for name, policy in scripts_of(get_task(level.task)).items()
    }
    assert sum(share >= level.shares[0] for share in scripts.values()) >= 3, scripts


@pytest.mark.parametrize("level", [each for each in BY_NAME if is_a_woman(each.values[0])])
def test_no_woman_speaks_of_herself_as_a_man(level: Level):
    task = get_task(level.task)
    games = (rollout(task, policy, level.seed) for policy in scripts_of(task).values())
    for turn in chain.from_iterable(game.turns for game in games):
        speaks = turn.agent == ("buyer" if level.task == CUSTOMERS else "seller")
        assert not (speaks and OF_A_MAN.search(turn.action.message)), turn.action.message


def test_stars_are_for_a_finished_game_without_a_move_taken_back():
    level = LEVELS[0]
    begun = start(level.task, "", level.seed)
    game, price = begun, begun.observation.ask // 2
    while not game.over:
        price = min(price + begun.observation.ask // 8, int(game.observation.budget))
        game = answer(game, Offer(min(price, int(game.observation.ask) - 1)))
    assert level_of(game) is level
    assert stars(game) > 0
    assert stars(begun) == stars(answer(begun, WalkAway())) == 0
    assert stars(replace(game, undone=1)) == 0
    assert back(game, 0).undone
    assert level_of(start(level.task, "", level.seed + 1)) is None


def test_a_beaten_level_opens_the_next_and_two_are_open_from_the_start():
    assert open_numbers({}) == {1, 2}
    assert open_numbers({2: 1}) == {1, 2, 3}
    assert open_numbers({level.number: 3 for level in LEVELS}) == set(range(1, 16))


def test_the_bargain_of_a_day_is_with_a_person_of_the_ladder_of_the_sellers_manner():
    met = set()
    assert {level.manner for level in LEVELS if level.task == daily.TASK} == set(TYPES)
    for back_by in range(1, 13):
        game = daily.bargain_of(daily.today() - timedelta(days=back_by))
        person = person_of(game)
        assert person.manner == game.play.state.private["nature"][-1].seller["stance"].type
        assert person.task == game.task_name
        met.add(person.number)
    assert len(met) > 2
