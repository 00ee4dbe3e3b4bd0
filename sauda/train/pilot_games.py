"""The training games of the pilot: drawn together, played with action noise, recorded.

No game has an unseen listing or the unseen type of seller, as in a language model's training.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from env import (
    ACCEPT,
    CATALOGUE,
    RIVAL_HAZARD_FACTOR,
    SELLER_TYPES,
    WALK,
    BatchView,
    Games,
    Moves,
    Results,
    draw_games,
    play_batch,
)
from sauda.policies.pilot import FAR, Intent, Network, features, moves, of_view
from sauda.records.seeds import UNSEEN_SELLER, is_unseen_listing

HIDDEN = 7  # numbers that the critic reads beside the features
SEEN_TYPES = tuple(name for name in SELLER_TYPES if name != UNSEEN_SELLER)
SEEN_PRICES = np.array([i.list_price for i in CATALOGUE if not is_unseen_listing(i)], float)


class Turns(NamedTuple):
    """One turn of the games in which the pilot still moved, m of n."""

    deal: int
    games: np.ndarray  # (m,), indices
    inputs: np.ndarray  # (m, features)
    intent: Intent
    price: np.ndarray  # (m,), percent, with action noise, before rounding
    walked: np.ndarray  # (m,), bool


@dataclass(frozen=True)
class Hand:
    """How the network's moves come out: the price with a normal error, the kind at times another.

    A walk is drawn by its chance. `slips` is the chance that a move comes out as an acceptance, if
    that is no loss, or as a walk, equally often.
    """

    error: float  # standard deviation, percent of the limit
    slips: float = 0.0


@dataclass
class Recorder:
    """The buyers of a batch: a network with action noise, whose turns are recorded."""

    network: Network
    hand: Hand
    rng: np.random.Generator
    turns: list[Turns] = field(default_factory=list)

    def __call__(self, view: BatchView) -> Moves:
        at = of_view(view)
        running = np.flatnonzero(~np.isnan(at.ask))
        inputs = features(at)[running]
        intent = self.network(inputs)
        price = intent.price + self.hand.error * self.rng.standard_normal(len(running))
        walked = self.rng.random(len(running)) < 1 / (1 + np.exp(-intent.walk))
        self.turns.append(Turns(len(at.paid), running, inputs, intent, price, walked))
        whole = Intent(np.zeros(len(at.limit)), np.full(len(at.limit), -1.0))
        whole.price[running], whole.walk[running] = price, np.where(walked, 1.0, -1.0)
        kind, bids = moves(at, whole)
        slip = self.rng.random(len(kind))
        kind = np.where((slip < self.hand.slips / 2) & (at.ask <= at.budget), ACCEPT, kind)
        return np.where(slip > 1 - self.hand.slips / 2, WALK, kind), bids


class Trajectories(NamedTuple):
    """All turns of a batch of games, k in all, in the order of their turns; float32 arrays."""

    inputs: np.ndarray  # (k, features)
    hidden: np.ndarray  # (k, HIDDEN), for the critic alone
    price: np.ndarray  # (k,), percent, as played
    walked: np.ndarray  # (k,), 0 or 1
    meant: np.ndarray  # (k,), percent, as the network meant it
    logit: np.ndarray  # (k,), of walking away
    reward: np.ndarray  # (k,), the grade of the deal at the last turn of it, else 0
    after: np.ndarray  # (k,), int: the same game's next turn, or -1


def play_fresh(
    name: str, n: int, network: Network, hand: Hand, rng: np.random.Generator
) -> tuple[Trajectories, Results]:
    """`n` fresh games of the task `name`, and what came of them."""
    games = draw_games(name, n, rng, SEEN_TYPES, SEEN_PRICES)
    recorder = Recorder(network, hand, rng)
    results = play_batch(games, recorder)
    return _join(games, recorder.turns, results), results


def _join(games: Games, turns: list[Turns], results: Results) -> Trajectories:
    n, count = len(results.grade), sum(len(turn.games) for turn in turns)
    after, reward = np.full(count, -1), np.zeros(count)
    following, deal_of_following = np.full(n, -1), np.full(n, -1)
    secrets = [_hidden_features(games, deal) for deal in range(len(games.deals))]
    start = count
    for turn in reversed(turns):
        start -= len(turn.games)
        rows = np.arange(start, start + len(turn.games))
        after[rows] = following[turn.games]
        ends = deal_of_following[turn.games] != turn.deal
        reward[rows] = np.where(ends, results.parts[turn.deal, turn.games], 0.0)
        following[turn.games], deal_of_following[turn.games] = rows, turn.deal
    columns = (
        np.concatenate([turn.inputs for turn in turns]),
        np.concatenate([secrets[turn.deal][turn.games] for turn in turns]),
        np.concatenate([turn.price for turn in turns]),
        np.concatenate([turn.walked for turn in turns]),
        np.concatenate([turn.intent.price for turn in turns]),
        np.concatenate([turn.intent.walk for turn in turns]),
        reward,
    )
    return Trajectories(*(column.astype(np.float32) for column in columns), after)


def _hidden_features(games: Games, index: int) -> np.ndarray:
    """What the buyer of one deal does not know, shape (n, HIDDEN)."""
    deal = games.deals[index]
    stance, limit = deal.sellers.stance, deal.own[0].reservation
    kind, floor = stance.type, stance.reservation / limit
    hurry = np.where(stance.rival, RIVAL_HAZARD_FACTOR, 1.0)
    columns = (
        floor, kind.exponent, kind.reciprocity, 10 * hurry * kind.impatience, kind.margin,
        kind.leniency, np.log(np.maximum(1 - floor, 0.02)),
    )  # fmt: skip
    return np.clip(np.stack(columns, axis=1), -FAR, FAR)
