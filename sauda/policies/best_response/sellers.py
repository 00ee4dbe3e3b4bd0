"""What a seller of the open market replies to each bid: asks, thresholds, chances of walking.

`Sellers` holds n sellers as arrays; `dynamics` tabulates their replies on a grid of bids, so that
`solver.solve` can plan against them. Prices are in the unit of the sellers' fields.
"""

from dataclasses import dataclass

import numpy as np

from env import LOW_BID, asks_at, hazards_at


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
