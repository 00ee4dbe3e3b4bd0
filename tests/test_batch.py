"""The batch engine plays the very games that the scalar one plays: every ask, end and price."""

from dataclasses import replace

import numpy as np
import pytest

from env import (
    BATCH_TASKS,
    Accept,
    BatchSchedule,
    BatchTimeDependent,
    EndReason,
    Episode,
    Games,
    Offer,
    Results,
    TimeDependent,
    WalkAway,
    batch_rule_based,
    batch_wait,
    draw_games,
    games_of,
    play_batch,
    rollout,
    rule_based,
    shares,
    task,
)
from env.bazaar.batch import rounded
from env.bazaar.sellers import TYPES
from sauda.policies.bazaar import wait

GAMES = 1_000
ENDS = tuple(EndReason)
every_task = pytest.mark.parametrize("name", BATCH_TASKS)


def told(results: Results, i: int) -> tuple:
    """Game `i` of a batch: asks, bids, end, price, rounds, share and grade."""
    asks, bids = (p[~np.isnan(p)].tolist() for p in (results.asks[:, i], results.bids[:, i]))
    price = None if np.isnan(results.price[i]) else float(results.price[i])
    numbers = (int(results.rounds[i]), float(results.share[i]), float(results.grade[i]))
    return asks, bids, ENDS[results.end[i]], price, *numbers


def told_of(game: Episode) -> tuple:
    """The same of an episode."""
    table = game.final.table
    price = table.past[0].price if table.past else None
    share, grade = shares(game.final, "buyer")[0], task(game.task).grade(game.final)
    return list(table.asks), list(table.bids), game.end, price, table.round, share, grade


def schedule(games: Games) -> BatchSchedule:
    """Fixed moves of many manners, with an illegal one now and then.

    Bids jump, rise, stall, start near the ask, or lie low and then jump, or bid the very ask that
    would come next.
    """
    rng = np.random.default_rng(list(games.task.encode()))
    rounds, n = games.chance.shape
    scale = np.minimum(games.reservation, games.opening)
    jumps, when = rng.random((rounds, n)), np.arange(rounds)[:, None] < rng.integers(rounds, size=n)
    patient = np.round(0.48 * scale + np.zeros((rounds, 1)), games.decimals)
    asks = play_batch(games, BatchSchedule(np.zeros((rounds, n), int), patient)).asks[1:]
    styles = [jumps, np.sort(jumps, axis=0), 0.2 + 0.4 * jumps[0] + 0 * jumps, 0.6 + 0.4 * jumps]
    styles += [np.where(when, 0.48, jumps), np.where(when | np.isnan(asks), patient, asks) / scale]
    bids = np.array(styles)[rng.integers(6, size=n), :, np.arange(n)].T * scale
    bids = np.maximum(np.round(bids, games.decimals), 10.0**-games.decimals)
    slips = np.array([0.0, -5.0, 0.123, 1e9, np.nan, np.inf])
    bids = np.where(rng.random((rounds, n)) < 0.005, rng.choice(slips, (rounds, n)), bids)
    return BatchSchedule(rng.choice(3, (rounds, n), p=(0.94, 0.04, 0.02)), bids)


@every_task
def test_fixed_moves_meet_the_same_answers_ends_and_grades(name: str):
    games = games_of(name, range(GAMES))
    moves = schedule(games)
    results = play_batch(games, moves)
    for i in range(GAMES):

        def fixed(obs, rng, kinds=moves.kinds[:, i], prices=moves.prices[:, i]):
            actions = (Offer(float(prices[obs.round])), Accept(), WalkAway())
            return actions[kinds[obs.round]]

        assert told(results, i) == told_of(rollout(task(name), fixed, i))
    assert set(results.end.tolist()) == set(range(len(ENDS)))  # every way to end was met


@pytest.mark.parametrize(
    ("buyers", "buyer"),
    [
        (batch_rule_based, rule_based),
        (batch_wait, wait),
        (BatchTimeDependent(0.25), TimeDependent(0.25)),
        (BatchTimeDependent(4.0, 0.5), TimeDependent(4.0, 0.5)),
    ],
    ids=["rule_based", "wait", "boulware", "conceder"],
)
@every_task
def test_a_policy_and_its_batch_play_the_same_episodes(name: str, buyers, buyer):
    results = play_batch(games_of(name, range(GAMES // 10)), buyers)
    for i in range(GAMES // 10):
        assert told(results, i) == told_of(rollout(task(name), buyer, i))


def test_the_covered_games_meet_every_seller_and_every_kind_of_deal():
    kinds = games_of("bazaar/open", range(GAMES)).sellers.stance.type.name
    assert set(kinds.tolist()) == set(TYPES)
    personas = {games_of(n, [0]).sellers.terms.persona for n in BATCH_TASKS if "classic" in n}
    assert personas == {"default", "deceptive", "impatient", "collaborative"}


@every_task
def test_drawn_games_are_distributed_as_those_of_seeds(name: str):
    drawn, seeded = draw_games(name, 20_000, np.random.default_rng(0)), games_of(name, range(600))
    buyers = BatchTimeDependent(1.0)
    ours, theirs = play_batch(drawn, buyers), play_batch(seeded, buyers)
    pairs = [(getattr(drawn, f), getattr(seeded, f)) for f in NUMBERS]
    pairs += [(getattr(ours, f), getattr(theirs, f)) for f in ("grade", "rounds", "end")]
    for many, few in pairs:
        many, few = (np.nan_to_num(np.asarray(a, float), posinf=1e9) for a in (many, few))
        assert many.mean() == pytest.approx(few.mean(), abs=1e-9 + 4 * few.std() / len(few) ** 0.5)


NUMBERS = ("rounds", "opening", "list_price", "seller_reservation", "reservation", "purse")
NUMBERS += ("discount", "deadline", "chance")


def test_a_batch_plays_the_same_whatever_stands_beside_a_game():
    whole = play_batch(games_of("bazaar/open", range(20)), batch_wait)
    alone = play_batch(games_of("bazaar/open", [7]), batch_wait)
    assert told(whole, 7) == told(alone, 0)


def test_prices_are_rounded_as_python_rounds_them_ties_included():
    ties = np.arange(1, 40_000, 2) / 200
    prices = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, 1e9), 1000 * ties])
    assert rounded(prices, 2).tolist() == [round(p, 2) for p in prices.tolist()]
    assert rounded(-prices, 2).tolist() == [round(-p, 2) for p in prices.tolist()]
    assert rounded(prices, 0).tolist() == [round(p) for p in prices.tolist()]


def test_a_purse_too_small_for_the_ask_forfeits():
    games = games_of("bazaar/open", [1])
    poor = replace(games, purse=games.opening - 1)
    results = play_batch(poor, lambda view: (np.array([1]), np.array([np.nan])))
    assert ENDS[results.end[0]] == EndReason.FORFEIT


def test_a_task_that_is_not_covered_is_refused_by_name():
    with pytest.raises(ValueError, match=r"no batch of 'bazaar/career'; there are classic/single"):
        draw_games("bazaar/career", 3, np.random.default_rng(0))
