"""The pilot reads what the prompt shows, moves within the rules, and plays alike in a batch."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from env import (
    Accept,
    Offer,
    TimeDependent,
    WalkAway,
    games_of,
    get_task,
    play_batch,
    rollout,
)
from sauda.games.bazaar_prompt import percent_of, render
from sauda.policies.pilot import (
    FEATURES,
    NEAR,
    Network,
    Pilot,
    features,
    network,
    of_observation,
)
from sauda.policies.unsteady import BatchUnsteady, Unsteady

TASKS = ("bazaar/open", "bazaar/rushed")
LINEAR = TimeDependent(1.0)
RNG = np.random.default_rng(0)


def untrained(seed: int, scale: float = 1.0) -> Pilot:
    """A pilot of random weights, whose prices rise with the round."""
    rng = np.random.default_rng(seed)
    sizes = (len(FEATURES), 8, 2)
    weights = [scale * rng.normal(size=(b, a)) / a**0.5 for a, b in pairwise(sizes)]
    part = Network(tuple(weights), (np.zeros(8), np.array([-0.2, 2.0])))
    return Pilot(part, part)


def bidding(price: float, walk: float = -9.0) -> Pilot:
    """A pilot that means the same price in percent everywhere."""
    outputs = [(price - 60) / 40, walk + 4]
    part = network([np.zeros((2, len(FEATURES)))], [outputs])
    return Pilot(part, part)


def states(name: str, seeds, player=LINEAR):
    """The buyer's observations in games of `player`."""
    games = (rollout(get_task(name), player, seed) for seed in seeds)
    return [turn.observation for game in games for turn in game.trajectory("buyer")]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("error", [0.0, 4.0])
def test_a_batch_makes_the_moves_of_single_games(name: str, error: float):
    n = 40
    for seed in range(2):
        pilot = untrained(seed)
        single = Unsteady(pilot, error)
        batch = play_batch(games_of(name, range(n)), BatchUnsteady(pilot.batch, error)).grade
        task = get_task(name)
        alone = [task.grade(rollout(task, single, i).final) for i in range(n)]
        np.testing.assert_allclose(batch, alone, atol=1e-9)
        assert np.ptp(batch) > 0


def test_the_inputs_are_the_whole_percents_of_the_prompt():
    places = {name: i for i, name in enumerate(FEATURES)}
    for obs in states("bazaar/rushed", range(20)):
        (row,) = features(of_observation(obs))
        text = " ".join(message["content"] for message in render(obs))
        for name, price in (("ask", obs.ask), ("list price", obs.table.item.list_price)):
            assert row[places[name]] == min(3.0, percent_of(obs, price) / 100)
            assert f"{percent_of(obs, price)}" in text
        keeps = round(100 * (1 - row[places["cost of a round"]] / 10))
        assert f"Keeps {keeps}%" in text
        useful = min(obs.rounds_left, obs.own["deadline"] - obs.round)
        assert row[places["useful moves left"]] == pytest.approx(useful / 12)


def test_it_takes_an_ask_next_to_its_price_and_offers_whole_percents_below():
    obs = next(o for o in states("bazaar/open", range(40)) if 60 < percent_of(o, o.ask) < 95)
    ask = percent_of(obs, obs.ask)
    assert bidding(ask - NEAR)(obs, RNG) == Accept()
    offered = bidding(ask - NEAR - 1)(obs, RNG)
    assert isinstance(offered, Offer)
    assert offered.price == obs.priced(obs.reservation * (ask - NEAR - 1) / 100)
    assert bidding(50, walk=1.0)(obs, RNG) == WalkAway()


def test_it_never_pays_more_than_its_limit_or_its_purse():
    for obs in states("bazaar/open", range(12)):
        poor = replace(obs, own=obs.own | {"purse": int(0.3 * obs.reservation)})
        for seen in (obs, poor):
            move = bidding(250)(seen, RNG)
            price = seen.ask if isinstance(move, Accept) else move.price
            assert price <= seen.budget
    broke = replace(obs, own=obs.own | {"purse": 0})
    assert bidding(50)(broke, RNG) == WalkAway()
