"""The best response to a seller of the open market, and the value of every move in one position.

`Sellers` holds n sellers as arrays; `dynamics` tabulates their replies on a grid of bids, in the
unit of the sellers' fields. A seller draws chance only for walking away, so the buyer faces a
Markov decision process with the state (moves made, best bid so far), which `solve` solves for many
sellers at once by backward induction. Rival buyers bid by the round and the ask alone, which follow
from that state too.

`informed` is the best play against a seller whose hidden values are known. It bounds from above
what a buyer can earn in a game, so the oracle reports it; no contestant may use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from env import (
    LOW_BID,
    RIVAL_HAZARD_FACTOR,
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

Action = Offer | Accept | WalkAway


@dataclass(frozen=True, eq=False)
class MoveValues:
    """Expected grades of a buyer's moves in one position, by somebody's reckoning."""

    prices: np.ndarray  # (k,), rupees, rising
    offers: np.ndarray  # (k,), of offering each price
    accept: float  # below any grade where the ask cannot be paid
    walk: float

    def best(self, obs: Observation) -> Action:
        """The move with the highest value; of equal ones a walk, then an acceptance."""
        means = np.concatenate([[self.walk, self.accept], self.offers])
        move = int(means.argmax())
        if move < 2:
            return (WalkAway(), Accept())[move]
        return Offer(obs.priced(self.prices[move - 2]))

    def of(self, move: Action) -> float:
        """The value of `move`; an offer between two prices is interpolated."""
        if isinstance(move, Offer):
            return float(np.interp(move.price, self.prices, self.offers))
        return self.accept if isinstance(move, Accept) else self.walk

    def regret(self, move: Action) -> float:
        """How much less `move` is worth than the best move, at least 0."""
        return max(self.walk, self.accept, float(self.offers.max()), self.of(move)) - self.of(move)


@dataclass(frozen=True)
class Sellers:
    """n sellers; every array has shape (n,), and the fields mean what they do in `Stance`."""

    opening: np.ndarray
    reservation: np.ndarray
    exponent: np.ndarray
    reciprocity: np.ndarray
    hazard: np.ndarray  # impatience, times RIVAL_HAZARD_FACTOR where a rival waits
    margin: np.ndarray
    leniency: np.ndarray
    rounds: int
    whole: bool  # prices are whole numbers

    def ask(self, t: int, best: np.ndarray) -> np.ndarray:
        """The ask after round `t` (0: the opening) and best bids of shape (n, k); as `ask_at`."""
        in_time = (t / self.rounds) ** (1 / self.exponent)
        resting = self.reservation + self.margin * (self.opening - self.reservation)
        fields = (self.opening, resting, self.reciprocity, in_time)
        ask = asks_at(*(field[:, None] for field in fields), best)
        return np.ceil(ask - 1e-9) if self.whole else ask

    def threshold(self, t: int, best: np.ndarray) -> np.ndarray:
        """The least bid taken at the ask of round `t`, best bids (n, k); as `threshold_at`."""
        reservation = self.reservation[:, None]
        share = 1 - self.leniency[:, None] * t / self.rounds
        return reservation + share * (self.ask(t, best) - reservation)

    def walks(self, bid: np.ndarray, before: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """The chance of walking from `bid`, as `hazard_at`; shapes broadcast, sellers first."""
        opening = self.opening.reshape(-1, *[1] * (np.ndim(threshold) - 1))
        return hazards_at(opening, self.hazard.reshape(opening.shape), bid, before, threshold)

    def enough(self, t: int, best: np.ndarray) -> np.ndarray:
        """The least bid taken in round `t` after best bids of shape (n, k), by bisection.

        A higher bid only lowers the threshold, so every bid above an accepted one is accepted.
        """
        refused, taken = np.zeros(best.shape), np.broadcast_to(self.opening[:, None], best.shape)
        steps = int(np.log2(self.opening.max())) + 2 if self.whole else 12
        for _ in range(steps):
            middle = (refused + taken) / 2
            middle = np.floor(middle) if self.whole else middle
            accepts = middle >= self.threshold(t, np.maximum(best, middle))
            refused, taken = np.where(accepts, refused, middle), np.where(accepts, middle, taken)
        return taken


@dataclass(frozen=True)
class Dynamics:
    """The sellers' replies on a grid of bids, whatever the buyer's stakes.

    n sellers, T rounds, k prices. An axis of k + 1 is the best bid so far; its last index stands
    for no bid yet.
    """

    sellers: Sellers
    prices: np.ndarray  # (n, k), rising
    asks: np.ndarray  # (n, T, k + 1): the standing ask before the buyer's move of each round
    enough: np.ndarray  # (n, T, k + 1): the least bid taken in each round
    hold: np.ndarray  # (n, T, k + 1): the highest refused bid that leaves the best bid unchanged
    held: np.ndarray  # (n, T, k + 1): chance that the seller stays after that bid
    stays: np.ndarray  # (n, T, k + 1, k): chance that it refuses a higher bid and stays


def dynamics(sellers: Sellers, prices: np.ndarray, first: int = 0) -> Dynamics:
    """The sellers' replies to bids of `prices`, shape (n, k), rising.

    Rounds are counted from 0; those before `first` are left uninitialised.
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


FORBIDDEN = -9.0  # the value of an illegal move; below any grade
ACCEPT, WALK, LOWEST = -1.0, -2.0, 1.0  # codes in a table of moves; any other entry is a bid


@dataclass(frozen=True)
class Stakes:
    """What a buyer plays for: its private values, and the list price that scales a loss."""

    limit: float
    purse: float
    list_price: float
    discount: float
    deadline: int | None

    def kept(self, t: int) -> float:
        """The share of its worth that a deal keeps when it ends in round `t`, counted from 1."""
        return 0.0 if self.deadline and t > self.deadline else self.discount ** (t - 1)

    def gain(self, t: int, price: np.ndarray, reservation: np.ndarray) -> np.ndarray:
        """`market_grade` of a deal at `price` in round `t`; FORBIDDEN if the purse is too small.

        `reservation` is the seller's; arrays that broadcast.
        """
        width = np.where(self.limit > reservation, self.limit - reservation, inf)
        share = self.kept(t) * (self.limit - price) / width
        loss = np.maximum(-1.0, (self.limit - price) / self.list_price)
        gain = np.where((price > self.limit) | (self.limit <= reservation), loss, share)
        return np.where(price > self.purse, FORBIDDEN, gain)

    def left(self, t: int, reservation: np.ndarray) -> np.ndarray:
        """`market_grade` of walking away in round `t` from sellers of `reservation`."""
        return np.where(self.limit > reservation, 0.0, self.kept(t))


def solve(
    known: Dynamics, stakes: Stakes, rival: np.ndarray | None = None, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Best values (n, T + 1, k + 1) and moves (n, T, k + 1) before each of the buyer's moves.

    Exact for bids on the grid, for the least bid that is accepted and for every bid below the best
    one: the least accepted bid and the highest refused one are optimal in their groups. `rival`
    holds the highest bid of the other buyers in each state, (n, T, k + 1), -inf where nobody else
    bids; a tie with it counts as lost, and the value after a rival's bid between two points of the
    grid is interpolated. Rounds before `first` are left uninitialised.
    """
    sellers, rounds = known.sellers, known.sellers.rounds
    reservation = sellers.reservation[:, None]
    values = np.empty((len(reservation), rounds + 1, known.asks.shape[2]))
    moves = np.empty(known.asks.shape)
    values[:, rounds] = stakes.left(rounds, reservation)
    payable = known.prices <= stakes.purse
    for i in reversed(range(first, rounds)):
        t, after = i + 1, values[:, i + 1]
        left = stakes.left(t, reservation)
        ahead = np.where(payable, after[:, :-1] - left, -1.0)  # -1: worse than any walk
        raised = known.stays[:, i] * ahead.astype(np.float32)[:, None, :]
        taken, accepted = known.enough[:, i], stakes.gain(t, known.asks[:, i], reservation)
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
            (taken, stakes.gain(t, taken, reservation)),
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
    """The value of bidding below `rival`, shape (n, k + 1): lost where the seller takes `rival`."""
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
