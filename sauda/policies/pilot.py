"""The pilot: a small network that plays the open market from the numbers of the prompt alone.

Its price is in whole percent of its limit, as a language model's is. `python -m sauda train pilot`
trains it. The hand that plays it may be unsteady: `hand` is the standard deviation of an error of
its price, in percent of the limit. The network is run by numpy in double precision, so that a batch
and a single game make the same moves. It reads prices in whole percent of the buyer's own limit and
the discount in whole percent, rounded as in `sauda.games.bazaar_prompt`, so that whoever reads the
prompt can know every input of the network.

`pilot_values` says what each move is worth if the pilot plays on. Sellers are resampled from the
belief and each is played to the end, with every chance to walk weighed instead of drawn, so one
position has one table. Unlike the belief buyer's own values these assume no knowledge of the seller
in later moves. A career's later deals and rival buyers are left out, as they are by the belief
buyer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from env import ACCEPT, LOW_BID, OFFER, WALK, Accept, BatchView, Moves, Observation, Offer, WalkAway
from sauda.policies.belief import Belief, believe
from sauda.policies.best_response import MoveValues, Sellers, Stakes
from sauda.records.store import ROOT, load

MIDDLE, SPREAD = 60.0, 40.0  # of the price in percent: what an output of 0 and a change of 1 mean
RELUCTANCE = 4.0  # logit of walking away at an output of 0, negated: at first it hardly walks


class Intent(NamedTuple):
    """What the network wants in n positions; arrays of shape (n,)."""

    price: np.ndarray  # percent of the own limit, before any rounding
    walk: np.ndarray  # logit of walking away


@dataclass(frozen=True, eq=False)
class Network:
    """A multilayer perceptron with tanh between its layers."""

    weights: tuple[np.ndarray, ...]  # (outputs, inputs) of each layer
    biases: tuple[np.ndarray, ...]  # (outputs,)

    def __call__(self, inputs: np.ndarray) -> Intent:
        """The intents at `inputs` of shape (n, features)."""
        values, last = inputs, len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight.T + bias
            values = values if i == last else np.tanh(values)
        return Intent(MIDDLE + SPREAD * values[:, 0], values[:, 1] - RELUCTANCE)

    @property
    def parameters(self) -> int:
        return sum(part.size for part in (*self.weights, *self.biases))

    def as_lists(self) -> dict[str, list]:
        """Its numbers as an artifact holds them."""
        return {
            "weights": [part.tolist() for part in self.weights],
            "biases": [part.tolist() for part in self.biases],
        }


def network(weights: Sequence[Sequence], biases: Sequence[Sequence[float]]) -> Network:
    """A network from nested lists, as an artifact holds it."""
    return Network(
        tuple(np.array(weight, float) for weight in weights),
        tuple(np.array(bias, float) for bias in biases),
    )


FEATURES = (
    "list price", "cost of a round", "useful moves left", "moves left", "round",
    "first ask", "ask", "last fall", "fall before", "fall in all",
    "best bid", "last bid", "bid before", "first bid", "gap", "first move", "second move",
    "rival", "deals left", "purse", "paid before", "deals paid", "last deal paid",
)  # fmt: skip
FAR = 3.0  # limits: a price or a purse above it reads as it
LONG = 12.0  # moves that count as 1


class Position(NamedTuple):
    """What n buyers see before a move; arrays of shape (n,), prices in rupees."""

    limit: np.ndarray
    list_price: np.ndarray
    discount: np.ndarray
    deadline: np.ndarray  # a round; infinite if there is none
    rounds: np.ndarray
    asks: np.ndarray  # (moves made + 1, n)
    bids: np.ndarray  # (moves made, n)
    purse: np.ndarray
    deals: int
    paid: tuple[np.ndarray, ...]  # of each earlier deal, share of its first ask; NaN without one
    contested: np.ndarray | bool  # a rival is still active

    @property
    def round(self) -> int:
        return len(self.bids)

    @property
    def ask(self) -> np.ndarray:
        return self.asks[-1]

    @property
    def budget(self) -> np.ndarray:
        return np.minimum(self.limit, self.purse)


def of_view(view: BatchView) -> Position:
    """The position of every buyer in a batch."""
    own = view.own
    return Position(
        own.reservation, view.list_price, own.discount, own.deadline, view.rounds, view.asks,
        view.bids, own.purse, view.deals, view.paid, view.contested,
    )  # fmt: skip


def of_observation(obs: Observation) -> Position:
    """The position of one buyer, n = 1."""
    table, own = obs.table, obs.own

    def one(value: float | None, absent: float = np.inf) -> np.ndarray:
        return np.array([absent if value is None else value], float)

    paid = (np.nan if d.price is None else d.price / d.opening_ask for d in table.past)
    return Position(
        one(obs.reservation), one(table.item.list_price), one(own.get("discount"), 1.0),
        one(own.get("deadline")), one(table.rounds), np.array(table.asks, float)[:, None],
        np.array(table.bids, float).reshape(-1, 1), one(own.get("purse")), table.deals,
        tuple(map(one, paid)), any(rival.active for rival in table.rivals),
    )  # fmt: skip


def percent(price: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """`price` in whole percent of `limit`, halves rounded up, as `prompt.percent_of`."""
    return np.floor(100 * price / limit + 0.5)


def features(at: Position) -> np.ndarray:
    """The inputs of the network, shape (n, len(FEATURES)), near [-1, 1]; 0 where a game is over."""
    shown = [percent(price, at.limit) / 100 for price in at.asks]
    bid = [percent(price, at.limit) / 100 for price in at.bids]
    zero, made, first, ask = np.zeros(len(at.limit)), at.round, shown[0], shown[-1]
    falls = [a - b for a, b in pairwise(shown)]
    best = np.max(bid, axis=0) if made else zero
    last = bid[-1] if made else zero
    left = at.rounds - made
    earlier = [np.nan_to_num(share) for share in at.paid]
    career = at.deals > 1
    purse = np.floor(100 * at.purse / at.limit) / 100 if career else zero
    columns = (
        percent(at.list_price, at.limit) / 100,
        10 * (1 - np.round(100 * at.discount) / 100),
        np.minimum(left, at.deadline - made) / LONG,
        left / LONG,
        zero + made / LONG,
        first,
        ask,
        10 * falls[-1] if made else zero,
        10 * falls[-2] if made > 1 else zero,
        first - ask,
        best,
        last,
        bid[-2] if made > 1 else zero,
        bid[0] if made else zero,
        ask - best,
        zero + (made == 0),
        zero + (made == 1),
        zero + at.contested,
        zero + (at.deals - len(earlier) - 1) / 10,
        np.minimum(purse, 10 * FAR) / 10,
        zero + sum(earlier) / max(1, len(earlier)),
        zero + len(earlier) / 10,
        earlier[-1] if earlier else zero,
    )
    return np.clip(np.nan_to_num(np.stack(columns, axis=1)), -FAR, FAR)


NEAR = 1  # percent of the limit: a price so near to an ask within the limit takes it
PARTS = ("deal", "deadline")  # the networks
WEIGHTS = "training/pilot.json"  # under artifacts/
LIKELY = 1e-4  # moves less likely than that are left out of a distribution


@dataclass(frozen=True, eq=False)
class Pilot:
    """Plays the likeliest move of its networks."""

    deal: Network  # plays a deal without a deadline
    deadline: Network  # a deal that is worth nothing after a round

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        kind, price = self.move(of_observation(obs))
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(int(kind[0])) or Offer(
            obs.priced(float(price[0]))
        )

    def batch(self, view: BatchView) -> Moves:
        """The same over arrays."""
        return self.move(of_view(view))

    def move(self, at: Position) -> Moves:
        """Its moves in n positions."""
        return moves(at, self.intent(at))

    def intent(self, at: Position) -> Intent:
        """What it wants in each position."""
        return (self.deadline if np.isfinite(at.deadline).any() else self.deal)(features(at))

    def distribution(self, obs: Observation, hand: float) -> dict[str, float]:
        """The probability of each move, above 0, given action noise of `hand` percent of the limit.

        A move is "accept", "walk" or a price in whole percent as text; chances sum to 1, but for
        moves less likely than LIKELY.
        """
        from scipy.special import ndtr

        at = of_observation(obs)
        intent = self.intent(at)
        walks = 1 / (1 + np.exp(-intent.walk))
        edges = np.arange(1.5, 100)
        below = ndtr((edges - intent.price) / hand)
        aimed = np.diff(np.concatenate([[0.0], below, [1.0]])) * (1 - walks)
        chances = {"walk": float(walks[0])}
        aims = np.arange(1.0, 101)
        kinds, prices = moves(at, Intent(aims, np.full(len(aims), -np.inf)))
        named = percent(prices, at.limit).astype(int)
        for kind, price, chance in zip(kinds.tolist(), named.tolist(), aimed.tolist(), strict=True):
            move = {ACCEPT: "accept", WALK: "walk"}.get(kind, str(price))
            chances[move] = chances.get(move, 0.0) + chance
        return {move: chance for move, chance in chances.items() if chance > LIKELY}


def moves(at: Position, intent: Intent) -> Moves:
    """The legal moves next to an intent: prices in whole percent of the limit, within the budget.

    An offer within NEAR percent of an ask that can be paid without a loss takes it.
    """
    budget = at.budget
    most = np.floor(100 * budget / at.limit)
    aim = np.minimum(np.clip(np.rint(intent.price), 1, 100), most)
    price = np.maximum(1.0, np.rint(at.limit * aim / 100))
    takes = (percent(at.ask, at.limit) - NEAR <= aim) & (at.ask <= budget)
    kind = np.where((intent.walk > 0) | (budget < 1), WALK, np.where(takes, ACCEPT, OFFER))
    return kind, price


@cache
def load_pilot() -> Pilot:
    """The pilot with the committed weights; ArtifactError, with its command, without them."""
    saved = load(WEIGHTS, ROOT).data.networks
    parts = ((name, getattr(saved, name)) for name in PARTS)
    return Pilot(**{name: network(part.weights, part.biases) for name, part in parts})


SELLERS = 64  # sellers of the belief to play against


def pilot_values(pilot: Pilot, obs: Observation, percents: Sequence[int] = ()) -> MoveValues:
    """The value of accepting, walking and offering each of `percents` of the limit at `obs`.

    By default every whole percent up to the ask, the limit and the purse.
    """
    at = of_observation(obs)
    limit, budget = float(at.limit[0]), float(at.budget[0])
    most = min(100, int(100 * budget / limit), int(np.ceil(100 * obs.ask / limit)))
    aims = np.array(percents or range(1, max(1, most) + 1))
    prices = np.unique(np.maximum(1.0, np.rint(limit * aims / 100)))
    few = believe(obs.table).drawn(SELLERS)
    game = _Playout.of(few, obs, at, len(prices))
    weight = few.weights[:, None]
    first = np.broadcast_to(prices, game.shape)
    offers = (weight * game.value(pilot, first)).sum(0)
    t = obs.round + 1
    floor = few.sellers.reservation[:, None]
    accept = game.stakes.gain(t, np.full_like(floor, obs.ask / few.opening), floor)
    left = game.stakes.left(t, floor)
    return MoveValues(
        prices, np.round(offers, 9), float((weight * accept).sum()), float((weight * left).sum())
    )


@dataclass(frozen=True, eq=False)
class _Playout:
    """One position against n sellers and k first offers; arrays of shape (n, k)."""

    sellers: Sellers  # prices in units of the opening ask
    opening: float
    stakes: Stakes
    at: Position
    shape: tuple[int, int]

    @classmethod
    def of(cls, few: Belief, obs: Observation, at: Position, k: int) -> "_Playout":
        opening, own = few.opening, obs.own
        stakes = Stakes(
            obs.reservation / opening, own.get("purse", obs.reservation) / opening,
            obs.table.item.list_price / opening, own.get("discount", 1.0), own.get("deadline"),
        )  # fmt: skip
        return cls(few.sellers, opening, stakes, at, (len(few.weights), k))

    def value(self, pilot: Pilot, first: np.ndarray) -> np.ndarray:
        """The expected grade of each first offer, in rupees, with the pilot's moves after it."""
        many = self.shape[0] * self.shape[1]
        asks, bids = self._history(self.at.asks, many), self._history(self.at.bids, many)
        worth, alive = np.zeros(self.shape), np.ones(self.shape)
        floor = np.broadcast_to(self.sellers.reservation[:, None], self.shape)
        bid, ends = first, np.zeros(self.shape, int)  # an end: OFFER, or how the pilot leaves
        for t in range(self.at.round + 1, self.sellers.rounds + 1):
            leaves = np.where(ends == WALK, self.stakes.left(t, floor), 0.0)
            taken = self.stakes.gain(t, asks[-1].reshape(self.shape) / self.opening, floor)
            worth += alive * np.where(ends == ACCEPT, taken, leaves)
            alive = np.where(ends > 0, 0.0, alive)
            worth, alive, ask = self._answer(t, bid / self.opening, bids, floor, worth, alive)
            if t == self.sellers.rounds or not alive.any():
                break
            bids = np.vstack([bids, bid.reshape(1, many)])
            asks = np.vstack([asks, np.minimum(asks[-1], np.ceil(ask * self.opening).ravel())])
            kind, price = pilot.move(self._position(asks, bids, many))
            ends, bid = (np.asarray(x).reshape(self.shape) for x in (kind, price))
        return worth + alive * self.stakes.left(self.sellers.rounds, floor)

    def _answer(
        self, t: int, bid: np.ndarray, bids: np.ndarray, floor: np.ndarray,
        worth: np.ndarray, alive: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Worth, chance of going on and next ask after the sellers' replies to `bid`."""
        best = bids.max(axis=0).reshape(self.shape) / self.opening if len(bids) else 0.0
        reached = np.maximum(best, bid)
        threshold = self.sellers.threshold(t, reached)
        before = best if len(bids) else np.full(self.shape, LOW_BID)
        stay = 1 - self.sellers.walks(bid, before, threshold)
        agreed = bid >= threshold
        left = (1 - stay) * self.stakes.left(t, floor)
        worth = worth + alive * np.where(agreed, self.stakes.gain(t, bid, floor), left)
        return worth, alive * np.where(agreed, 0.0, stay), self.sellers.ask(t, reached)

    def _history(self, rows: np.ndarray, many: int) -> np.ndarray:
        return np.repeat(rows.reshape(len(rows), 1), many, axis=1)

    def _position(self, asks: np.ndarray, bids: np.ndarray, many: int) -> Position:
        def spread(value: np.ndarray) -> np.ndarray:
            return np.full(many, value[0])

        at = self.at
        return Position(
            spread(at.limit), spread(at.list_price), spread(at.discount), spread(at.deadline),
            spread(at.rounds), asks, bids, spread(at.purse), at.deals,
            tuple(spread(share) for share in at.paid), at.contested,
        )  # fmt: skip
