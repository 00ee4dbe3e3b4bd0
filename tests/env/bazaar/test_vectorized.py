"""The batch engine plays the very games that the scalar one plays: every ask, end and price."""

from dataclasses import fields, replace

import numpy as np
import pytest

from env import (
    ACCEPT,
    BATCH_TASKS,
    OFFER,
    Accept,
    EndReason,
    Episode,
    Games,
    Offer,
    Results,
    WalkAway,
    draw_games,
    games_of,
    get_task,
    play_batch,
    rollout,
    rounded,
    shares,
)
from env.rollout import agent_stream
from sauda.policies import BUYERS
from sauda.policies.vectorized import BATCH

AGENTS = ("seller", "buyer", "rival_1", "rival_2")
CAREERS = ("classic/career_10", "classic/read_the_tells")
every_task = pytest.mark.parametrize("name", BATCH_TASKS)


def batch_record(results: Results, i: int) -> tuple:
    """Game `i` of a batch: its grade, and of each deal all that happened, as `told_of` has it."""
    deals = []
    for deal, share in zip(results.deals, results.share, strict=True):
        asks, bids = (path[~np.isnan(path)].tolist() for path in (deal.asks[:, i], deal.bids[:, i]))
        end, winner = tuple(EndReason)[deal.end[i]], deal.buyer[i]
        by = AGENTS[deal.by[i]] if asks else None
        price = None if winner < 0 else (float(deal.price[i]), AGENTS[1 + winner])
        deals.append((asks, bids, end, by, price, int(deal.rounds[i]), float(share[i])))
    return float(results.grade[i]), deals


def episode_record(game: Episode) -> tuple:
    """The same of an episode: asks, bids, end, by whom, price and winner, rounds, share a deal."""
    table, of_share = game.final.table, shares(game.final, "buyer")
    asks, bids = [[] for _ in of_share], [[] for _ in of_share]
    for turn in game.turns:
        before, action = turn.observation.table, turn.action
        if isinstance(action, Offer) and turn.agent in ("seller", "buyer"):
            path = asks if turn.agent == "seller" else bids
            path[len(before.past)].append(action.price)
        elif isinstance(action, Accept) and turn.agent == "buyer" and before.rivals:
            bids[0].append(before.asks[-1])  # under seal an acceptance is a bid
    known = [
        (d.end, d.by, None if d.price is None else (d.price, d.buyer), d.rounds) for d in table.past
    ]
    if len(known) < len(asks):
        known.append((game.end, game.turns[-1].agent, None, table.round))
    known += [(game.end, None, None, 0)] * (len(asks) - len(known))
    grade = get_task(game.task).grade(game.final)
    paths = zip(asks, bids, known, of_share, strict=True)
    return grade, [(a, b, *deal, share) for a, b, deal, share in paths]


class Fixed:
    """Moves of many manners, the same in every deal, with an illegal one now and then.

    Bids are shares of the opening ask, or of the limit where that is lower: they jump, rise, stall,
    start near the ask, lie low and then jump, or are the very ask that comes next.
    """

    def __init__(self, games: Games, n: int, seat: int = 0, walk: float = 0.02) -> None:
        rng = np.random.default_rng([seat, *games.task.encode()])
        rounds = max(len(deal.sellers.walk) for deal in games.deals)
        deal, shape = games.deals[0], (rounds, n)
        unit = np.minimum(deal.own[0].reservation, deal.opening)
        jumps, when = rng.random(shape), np.arange(rounds)[:, None] < rng.integers(rounds, size=n)
        patient = np.round(0.48 * unit + np.zeros((rounds, 1)), games.decimals)
        waited = play_batch(games, lambda view: (OFFER, patient[view.round]))
        asks = waited.deals[0].asks[1:]
        styles = [jumps, np.sort(jumps, axis=0), 0.2 + 0.4 * jumps[0] + 0 * jumps]
        styles += [0.6 + 0.4 * jumps, np.where(when, 0.48, jumps)]
        styles += [np.where(when | np.isnan(asks), patient, asks) / unit]
        self.shares = np.array(styles)[rng.integers(6, size=n), :, np.arange(n)].T
        self.kinds = rng.choice(3, shape, p=(0.97 - walk, 0.03, walk))
        slips = rng.choice([-5.0, 0.123, 1e9, np.nan, np.inf], shape)
        self.slips = np.where(rng.random(shape) < 0.01, slips, 0.0)

    def batch(self, view):
        """The moves of all games."""
        unit = np.minimum(view.reservation, view.opening_ask)
        fine = rounded(self.shares[view.round] * unit, view.decimals)
        slip = self.slips[view.round]
        price = np.where(slip == 0, np.maximum(fine, 10.0**-view.decimals), slip)
        return self.kinds[view.round], price

    def of(self, i: int):
        """Game `i`'s as a policy."""

        def move(obs, rng):
            fine = obs.priced(self.shares[obs.round, i] * min(obs.reservation, obs.opening_ask))
            price = self.slips[obs.round, i] or max(fine, 10.0**-obs.table.decimals)
            return (Offer(float(price)), Accept(), WalkAway())[self.kinds[obs.round, i]]

        return move


def act(action: Offer | Accept | WalkAway) -> tuple:
    """Kind and price, as a batch has them."""
    kind = (Offer, Accept, WalkAway).index(type(action))
    return kind, float(action.price) if kind == OFFER else None


@every_task
def test_each_policy_and_its_batch_make_the_same_move_wherever_play_has_come_to(name: str):
    """Off their own path too: after soft deals, late falls, high bids that they never make."""
    n = 8 if name in CAREERS else 40
    games, task = games_of(name, range(n)), get_task(name)
    moves, seen = Fixed(games, n, seat=3, walk=0.005), {}

    def watched(view):
        batch_moves = [np.broadcast_arrays(*form(view), view.ask)[:2] for form in BATCH.values()]
        deal = sum(round == 0 for _, round in seen) - (view.round > 0)
        seen[deal, view.round] = view, batch_moves
        return moves.batch(view)

    results = play_batch(games, watched)
    for i in range(n):
        game = rollout(task, moves.of(i), i)
        assert batch_record(results, i) == episode_record(game)
        for k, turn in enumerate(game.trajectory("buyer")):
            obs = turn.observation
            view, batch_moves = seen[len(obs.table.past), obs.round]
            assert view.list_price[i] == obs.table.item.list_price
            paid = [np.nan if d.price is None else d.price / d.opening_ask for d in obs.table.past]
            np.testing.assert_array_equal([share[i] for share in view.paid], paid)
            if obs.tells:
                tells = view.tells()
                assert tells.verbal_deception_cue[i] == obs.tells.verbal_deception_cue
                assert tells.looks_away[i] == (obs.tells.eye_contact == "avoidant")
            for policy, (kind, price) in zip(BUYERS.values(), batch_moves, strict=True):
                action = policy(obs, agent_stream(task, i, "buyer", k))
                bid = float(price[i]) if kind[i] == OFFER else None
                assert (int(kind[i]), bid) == act(action)


def numbers(games: Games) -> dict[str, np.ndarray]:
    """What games start from and how a linear buyer fares, one value a game each."""
    results = play_batch(games, BATCH["linear"])
    n, first = len(results.grade), games.deals[0]
    means = {"grade": results.grade, "chance": games.chance(np.zeros(n, int), np.arange(n)).mean(0)}
    for f in ("rounds", "opening", "list_price", "seller_reservation"):
        means[f] = np.mean([getattr(deal, f) for deal in games.deals], axis=0)
    for seat, own in enumerate(first.own):
        means |= {f"{key} {seat}": getattr(own, key) for key in own._fields}
    for f in ("end", "rounds", "by", "buyer"):
        means[f"{f} played"] = np.mean([getattr(deal, f) for deal in results.deals], axis=0)
    tells = first.sellers.tells(1, first.opening[None])
    means |= {key: getattr(tells, key) for key in tells._fields}
    if not games.seller_type:
        kind = first.sellers.stance.type
        means |= {f.name: getattr(kind, f.name) for f in fields(kind) if f.name != "name"}
    return means


@every_task
def test_drawn_games_are_distributed_as_those_of_seeds(name: str):
    many = numbers(draw_games(name, 4_000 if name in CAREERS else 20_000, np.random.default_rng(0)))
    few = numbers(games_of(name, range(300 if name in CAREERS else 600)))
    assert many.keys() == few.keys()
    for key in many:
        ours, theirs = (np.nan_to_num(np.asarray(a[key], float), posinf=1e9) for a in (many, few))
        error = theirs.std() / len(theirs) ** 0.5
        assert ours.mean() == pytest.approx(theirs.mean(), abs=1e-9 + 4 * error), key


@every_task
def test_fixed_moves_meet_the_same_answers_ends_and_grades(name: str):
    """Rivals that leave, foul and tie, as those of the tasks do not."""
    n, task = 200 if name in CAREERS else 800, get_task(name)
    games = games_of(name, range(n))
    buyer, *rivals = (
        Fixed(games, n, k, 0.15 if k else 0.02) for k in range(len(task.env.agents) - 1)
    )
    met = replace(games, rivals=tuple(rival.batch for rival in rivals))
    results = play_batch(met, buyer.batch)
    for i in range(n):
        seats = {f"rival_{k}": rival.of(i) for k, rival in enumerate(rivals, 1)}
        alone = replace(task, opponents={**task.opponents, **seats})
        assert batch_record(results, i) == episode_record(rollout(alone, buyer.of(i), i))
    ends = np.concatenate([deal.end for deal in results.deals])
    assert set(ends.tolist()) == set(range(len(EndReason)))  # every way to end was met


@pytest.mark.parametrize("decimals", [0, 2, 6])
def test_prices_are_rounded_as_python_rounds_them_ties_included(decimals: int):
    ties = np.arange(1, 40_000, 2) / (2 * 10**decimals)
    prices = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, 1e9), 1000 * ties])
    assert rounded(prices, decimals).tolist() == [round(p, decimals) for p in prices.tolist()]
    assert rounded(-prices, decimals).tolist() == [round(-p, decimals) for p in prices.tolist()]


@pytest.mark.parametrize(("purse", "end"), [(-1, EndReason.FORFEIT), (0, EndReason.AGREEMENT)])
def test_an_ask_the_purse_cannot_pay_forfeits_where_it_is_taken(purse: int, end: EndReason):
    games = games_of("bazaar/open", [1])
    (deal,) = games.deals
    own = deal.own[0]._replace(purse=deal.opening + purse)
    poor = replace(games, deals=(replace(deal, own=(own,)),))
    results = play_batch(poor, lambda view: (np.array([ACCEPT]), np.array([np.nan])))
    assert tuple(EndReason)[results.deals[0].end[0]] == end
