"""The best reply to a known seller of the open market, by dynamic programming.

A seller's answer depends on (round, bid, best bid so far) and on its own draw for walking, so a
buyer who knows it faces a Markov decision process with the state (moves made, best bid so far). A
crowd's rivals bid by the round and the ask alone, which that state tells too. `solve` does it for
many sellers at once. Prices are in the unit of the sellers' fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from env import (
    LOW_BID,
    RIVAL_HURRY,
    Accept,
    Instance,
    Observation,
    Offer,
    Policy,
    Table,
    Task,
    WalkAway,
    asks_at,
    begin,
    hazards_at,
)

GRID = 161  # best bids told apart, from 0 to the opening ask; every rupee where they are fewer
FORBIDDEN = -9.0  # worse than any grade
ACCEPT, WALK, LOWEST = -1.0, -2.0, 1.0  # in a table of moves; a bid is its price


@dataclass(frozen=True)
class Sellers:
    """Many sellers, one value each, shape (n,); the fields mean what they do in Stance."""

    opening: np.ndarray
    reservation: np.ndarray
    exponent: np.ndarray
    reciprocity: np.ndarray
    hazard: np.ndarray  # impatience, doubled where a rival waits
    margin: np.ndarray
    leniency: np.ndarray
    rounds: int
    whole: bool  # whether prices are whole numbers

    def ask(self, t: int, best: np.ndarray) -> np.ndarray:
        """`ask_at` for best bids of shape (n, k); round `t` from 0."""
        in_time = (t / self.rounds) ** (1 / self.exponent)
        resting = self.reservation + self.margin * (self.opening - self.reservation)
        fields = (self.opening, resting, self.reciprocity, in_time)
        ask = asks_at(*(field[:, None] for field in fields), best)
        return np.ceil(ask - 1e-9) if self.whole else ask

    def threshold(self, t: int, best: np.ndarray) -> np.ndarray:
        """`threshold_at` at the ask of round `t` after best bids of shape (n, k)."""
        floor = self.reservation[:, None]
        share = 1 - self.leniency[:, None] * t / self.rounds
        return floor + share * (self.ask(t, best) - floor)

    def walks(self, bid: np.ndarray, before: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """`hazard_at`, for shapes that broadcast with the sellers first."""
        opening = self.opening.reshape(-1, *[1] * (np.ndim(threshold) - 1))
        return hazards_at(opening, self.hazard.reshape(opening.shape), bid, before, threshold)

    def enough(self, t: int, best: np.ndarray) -> np.ndarray:
        """The least bid taken in round `t` after best bids of shape (n, k): found by halving.

        A higher bid only lowers the threshold, so all bids above one that is taken are taken.
        """
        refused, taken = np.zeros(best.shape), np.broadcast_to(self.opening[:, None], best.shape)
        steps = int(np.log2(self.opening.max())) + 2 if self.whole else 12
        for _ in range(steps):
            middle = (refused + taken) / 2
            middle = np.floor(middle) if self.whole else middle
            yes = middle >= self.threshold(t, np.maximum(best, middle))
            refused, taken = np.where(yes, refused, middle), np.where(yes, middle, taken)
        return taken


@dataclass(frozen=True)
class Stakes:
    """What a buyer plays for: its private values, and the list price that a loss is counted by."""

    limit: float
    purse: float
    list_price: float
    discount: float
    deadline: int | None

    def kept(self, t: int) -> float:
        """What the end of a deal in round `t`, from 1, keeps of its worth."""
        return 0.0 if self.deadline and t > self.deadline else self.discount ** (t - 1)

    def gain(self, t: int, price: np.ndarray, floor: np.ndarray) -> np.ndarray:
        """`market_grade` of a deal in round `t`; FORBIDDEN where the purse forbids it."""
        width = np.where(self.limit > floor, self.limit - floor, inf)
        share = self.kept(t) * (self.limit - price) / width
        loss = np.maximum(-1.0, (self.limit - price) / self.list_price)
        gain = np.where((price > self.limit) | (self.limit <= floor), loss, share)
        return np.where(price > self.purse, FORBIDDEN, gain)

    def left(self, t: int, floor: np.ndarray) -> np.ndarray:
        """`market_grade` of no deal, given up in round `t`."""
        return np.where(self.limit > floor, 0.0, self.kept(t))


@dataclass(frozen=True)
class Dynamics:
    """The sellers' answers on a grid of prices, whatever the buyer's stakes.

    The last index of a best bid stands for no bid yet. n sellers, T rounds, k prices.
    """

    sellers: Sellers
    prices: np.ndarray  # (n, k), rising
    asks: np.ndarray  # (n, T, k + 1): the standing ask before the buyer's move of each round
    enough: np.ndarray  # (n, T, k + 1): the least bid taken in each round
    hold: np.ndarray  # (n, T, k + 1): the highest bid refused that moves nothing
    held: np.ndarray  # (n, T, k + 1): chance that it stays for that
    stays: np.ndarray  # (n, T, k + 1, k): chance that it refuses a bid above the best, and stays


def dynamics(sellers: Sellers, prices: np.ndarray, first: int = 0) -> Dynamics:
    """The sellers' answers for `prices`, shape (n, k), from round `first` on, counted from 0.

    What lies before `first` is not filled in.
    """
    n, k = prices.shape
    zero = np.zeros((n, 1))
    best = np.hstack([prices, zero])
    before = np.hstack([prices, LOW_BID * sellers.opening[:, None]])
    above = np.vstack([np.triu(np.ones((k, k), bool), 1), np.ones((1, k), bool)])
    shape = (n, sellers.rounds, k + 1)
    asks, enough, hold, held = (np.empty(shape) for _ in range(4))
    stays = np.empty((*shape, k), np.float32)
    step = 1.0 if sellers.whole else 1e-3 * float(sellers.opening.min())
    for i in range(first, sellers.rounds):
        asks[:, i] = sellers.ask(i, best)
        enough[:, i] = sellers.enough(i + 1, best)
        hold[:, i] = np.minimum(best, enough[:, i] - step)
        held[:, i] = 1 - sellers.walks(hold[:, i], before, sellers.threshold(i + 1, best))
        threshold = sellers.threshold(i + 1, prices)[:, None, :]
        raised = prices[:, None, :]
        stay = 1 - sellers.walks(raised, before[:, :, None], threshold)
        stays[:, i] = np.where(above & (raised < threshold), stay, 0)
    held[..., -1] = 0  # without a bid there is none to repeat
    return Dynamics(sellers, prices, asks, enough, hold, held, stays)


def solve(
    known: Dynamics, stakes: Stakes, rival: np.ndarray | None = None, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Best values (n, T + 1, k + 1) and moves (n, T, k + 1) before each of the buyer's moves.

    Exact for bids on the grid, for the least bid that is taken and for every bid below the best:
    of those that are taken the least is best, of those refused the highest. `rival` holds the
    highest bid of the others in each state, (n, T, k + 1), -inf where nobody else bids; a tie with
    it counts as lost, and the value after a rival's bid between two of the grid is interpolated.
    Rounds before `first` are not filled in.
    """
    sellers, rounds = known.sellers, known.sellers.rounds
    floor = sellers.reservation[:, None]
    values = np.empty((len(floor), rounds + 1, known.asks.shape[2]))
    moves = np.empty(known.asks.shape)
    values[:, rounds] = stakes.left(rounds, floor)
    payable = known.prices <= stakes.purse
    for i in reversed(range(first, rounds)):
        t, after = i + 1, values[:, i + 1]
        left = stakes.left(t, floor)
        ahead = np.where(payable, after[:, :-1] - left, -1.0)  # -1: worse than any walk
        raised = known.stays[:, i] * ahead.astype(np.float32)[:, None, :]
        taken, accepted = known.enough[:, i], stakes.gain(t, known.asks[:, i], floor)
        held = np.where(known.held[:, i] > 0, left + known.held[:, i] * (after - left), -inf)
        if rival is not None:
            theirs = rival[:, i]
            raised = np.where(known.prices[:, None, :] > theirs[:, :, None], raised, -inf)
            taken = np.maximum(taken, theirs + 1)
            accepted = np.where(known.asks[:, i] > theirs, accepted, FORBIDDEN)
            held = np.where(known.hold[:, i] > theirs, held, -inf)
        best = raised.argmax(2)
        raising = left + _at(known.stays[:, i], best) * np.take_along_axis(ahead, best, 1)
        if rival is not None:
            raising = np.where(_at(raised, best) > -inf, raising, -inf)
        bids = np.take_along_axis(known.prices, best, 1)
        options = [
            (WALK, np.broadcast_to(left, after.shape)),
            (ACCEPT, accepted),
            (taken, stakes.gain(t, taken, floor)),
            (known.hold[:, i], held),
            (bids, raising),
        ]
        if rival is not None:
            options.append((LOWEST, _outbid(known, i, rival[:, i], after, left)))
        worth = np.stack([value for _, value in options])
        choices = np.stack([np.broadcast_to(move, after.shape) for move, _ in options])
        chosen = worth.argmax(0)
        values[:, i], moves[:, i] = _at(worth, chosen, 0), _at(choices, chosen, 0)
    return values, moves


def _outbid(
    known: Dynamics, i: int, rival: np.ndarray, after: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """The value of a bid under `rival`, shape (n, k + 1): lost where the seller takes that."""
    sellers, zero = known.sellers, np.zeros((len(left), 1))
    best = np.hstack([known.prices, zero])
    before = np.hstack([known.prices, LOW_BID * sellers.opening[:, None]])
    bid = np.maximum(rival, 0.0)
    reached = np.maximum(best, bid)
    threshold = sellers.threshold(i + 1, reached)
    stay = 1 - sellers.walks(bid, before, threshold)
    grid = zip(reached, known.prices, after, strict=True)
    then = np.stack([np.interp(r, prices, value[:-1]) for r, prices, value in grid])
    value = np.where(bid >= threshold, left, left + stay * (then - left))
    return np.where(rival > -inf, value, -inf)


def _at(table: np.ndarray, index: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.take_along_axis(table, np.expand_dims(index, axis), axis).squeeze(axis)


@dataclass(frozen=True)
class Informed:
    """One deal as one sees it who knows the seller, and the rivals if there are any."""

    prices: np.ndarray  # (k,), the best bids told apart
    rival: np.ndarray | None  # (T, k + 1), highest bid of the rivals
    values: np.ndarray  # (T + 1, k + 1)
    moves: np.ndarray  # (T, k + 1)


def informed(instance: Instance, rivals: Sequence[Policy] = (), grid: int = GRID) -> Informed:
    """The best values and moves against a known seller, and rivals in the order of `instance`."""
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
    """The one seller of a deal, in whole rupees."""
    stance = instance.seller["stance"]
    kind = stance.type
    hazard = kind.impatience * (RIVAL_HURRY if stance.rival else 1.0)
    numbers = (stance.opening, stance.reservation, kind.exponent, kind.reciprocity, hazard)
    fields = [np.array([float(x)]) for x in (*numbers, kind.margin, kind.leniency)]
    return Sellers(*fields, rounds=stance.rounds, whole=True)


def rival_bids(instance: Instance, rivals: Sequence[Policy], asks: np.ndarray) -> np.ndarray:
    """The highest bid of `rivals` at each standing ask, shape (T, k + 1); -inf where all leave.

    They must bid by the round, the ask and their own last bid alone, as `TimeDependent` does.
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
            unmoved = move(inf)  # what it bids while the ask is too high: its path
            if not isinstance(unmoved, Offer):
                break
            bids = (*bids, unmoved.price)
    return highest


def _bid_of(move: Offer | Accept | WalkAway, ask: float) -> float:
    if isinstance(move, Accept):
        return ask
    return move.price if isinstance(move, Offer) else -inf


def informed_value(instance: Instance, rivals: Sequence[Policy] = (), grid: int = GRID) -> float:
    """The expected grade of the best play against a seller known but for when it walks."""
    return float(informed(instance, rivals, grid).values[0, -1])


def rivals_in(task: Task) -> tuple[Policy, ...]:
    """The other buyers of a task, in the order of an instance's."""
    return tuple(policy for seat, policy in task.opponents.items() if seat != "seller")


def informed_policy(task: Task, seed: int) -> Policy:
    """The best reply to the known seller of this one episode, deal by deal.

    In a career each deal is played for itself, against the seller as it remembers the earlier ones
    and with the purse that is left.
    """
    deals = begin(task, seed).state.private["nature"]
    solved: dict[tuple, Informed] = {}

    def play(obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        past = obs.table.past
        if past not in solved:
            deal = deals[len(past)]
            remembered = task.env.remember(deal, past) if past else deal
            solved[past] = informed(remembered, rivals_in(task))
        here = solved[past]
        move = here.moves[obs.round, _state(here, obs.table.bids)]
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(move) or Offer(int(move))

    return play


def _state(here: Informed, bids: Sequence[float]) -> int:
    """Where the best bid so far stands on the grid, the rivals' counted in; -1 before any."""
    state = -1
    for t, bid in enumerate(bids):
        others = -inf if here.rival is None else here.rival[t, state]
        best = max(bid, others, here.prices[state] if state >= 0 else 0)
        nearest = int(np.searchsorted(here.prices, best))
        state = min(nearest, len(here.prices) - 1)
    return state
