"""The informed optimum: the best play against a seller whose hidden values are known.

It bounds from above what a buyer can earn in a game, so the oracle reports it; no contestant may
use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from env import (
    RIVAL_HAZARD_FACTOR,
    Accept,
    Instance,
    Observation,
    Offer,
    Policy,
    Table,
    Task,
    WalkAway,
    begin,
)
from sauda.policies.best_response.sellers import Sellers, dynamics
from sauda.policies.best_response.solver import ACCEPT, WALK, Stakes, solve

GRID = 161  # points of the grid of best bids, from 0 to the opening ask; every rupee if fewer


@dataclass(frozen=True)
class Informed:
    """The solution of one deal whose seller, and rivals if there are any, are known."""

    prices: np.ndarray  # (k,), the grid of best bids
    rival: np.ndarray | None  # (T, k + 1), highest bid of the rivals
    values: np.ndarray  # (T + 1, k + 1)
    moves: np.ndarray  # (T, k + 1)


def informed(instance: Instance, rivals: Sequence[Policy] = (), grid: int = GRID) -> Informed:
    """The best values and moves against a known seller and its `rivals`, in the seats' order.

    `grid` is the number of best bids that are told apart.
    """
    own, opening = instance.buyer, instance.seller["stance"].opening
    prices = np.unique(np.round(np.linspace(0, opening, grid)))[None, 1:]
    known = dynamics(known_seller(instance), prices)
    purse = own.get("purse", own["reservation"])
    stakes = Stakes(
        own["reservation"], purse, instance.item.list_price, own["discount"], own["deadline"]
    )
    rival = rival_bids(instance, rivals, known.asks[0]) if rivals else None
    values, moves = solve(known, stakes, None if rival is None else rival[None])
    return Informed(prices[0], rival, values[0], moves[0])


def known_seller(instance: Instance) -> Sellers:
    """The seller of a deal as arrays of shape (1,), in whole rupees."""
    stance = instance.seller["stance"]
    kind = stance.type
    hazard = kind.impatience * (RIVAL_HAZARD_FACTOR if stance.rival else 1.0)
    numbers = (stance.opening, stance.reservation, kind.exponent, kind.reciprocity, hazard)
    fields = [np.array([float(x)]) for x in (*numbers, kind.margin, kind.leniency)]
    return Sellers(*fields, rounds=stance.rounds, whole=True)


def rival_bids(instance: Instance, rivals: Sequence[Policy], asks: np.ndarray) -> np.ndarray:
    """The highest bid of `rivals` at each standing ask, shape (T, k + 1); -inf where all leave.

    Their bids may depend on the round, the ask and their own last bid alone, as `TimeDependent`'s.
    """
    highest = np.full(asks.shape, -inf)
    rng = np.random.default_rng(0)  # none of them draws
    opening, rounds = instance.seller["stance"].opening, len(asks)
    for policy, own in zip(rivals, instance.rivals, strict=True):
        bids: tuple[float, ...] = ()
        for t, standing in enumerate(asks):
            table = Table(instance.item, rounds, 1, 0, round=t, bids=bids)

            def move(ask: float, table: Table = table, own=own, policy=policy):
                return policy(Observation("rival_1", table._replace(asks=(opening, ask)), own), rng)

            moves = {ask: move(ask) for ask in np.unique(standing).tolist()}
            bid = np.array([_bid_of(moves[ask], ask) for ask in standing.tolist()])
            highest[t] = np.maximum(highest[t], bid)
            unmoved = move(inf)  # the bid on its concession path, while the ask is too high
            if not isinstance(unmoved, Offer):
                break
            bids = (*bids, unmoved.price)
    return highest


def _bid_of(move: Offer | Accept | WalkAway, ask: float) -> float:
    if isinstance(move, Accept):
        return ask
    return move.price if isinstance(move, Offer) else -inf


def informed_value(instance: Instance, rivals: Sequence[Policy] = (), grid: int = GRID) -> float:
    """The expected grade of the best play against a seller known except for when it walks.

    In [-1, 1], the scale of `market_grade`.
    """
    return float(informed(instance, rivals, grid).values[0, -1])


def rivals_in(task: Task) -> tuple[Policy, ...]:
    """The policies of the other buyers of a task, in the order of `Instance.rivals`."""
    return tuple(policy for seat, policy in task.opponents.items() if seat != "seller")


def informed_policy(task: Task, seed: int) -> Policy:
    """The best response to the known seller of the episode of `seed`."""
    (deal,) = begin(task, seed).state.private["nature"]
    solution = informed(deal, rivals_in(task))

    def play(obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        move = solution.moves[obs.round, _state(solution, obs.table.bids)]
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(move) or Offer(int(move))

    return play


def _state(solution: Informed, bids: Sequence[float]) -> int:
    """The grid index of the best bid so far, the rivals' bids included; -1 before any bid."""
    state = -1
    for t, bid in enumerate(bids):
        others = -inf if solution.rival is None else solution.rival[t, state]
        best = max(bid, others, solution.prices[state] if state >= 0 else 0)
        nearest = int(np.searchsorted(solution.prices, best))
        state = min(nearest, len(solution.prices) - 1)
    return state
