"""Games of the open markets whose buyer bids what a test says, over and over."""

from collections.abc import Sequence

from env import Episode, Offer, Task, rollout


def bids(
    task: Task,
    seed: int,
    shares: Sequence[float],
    words: Sequence[str] = ("",),
    packages: Sequence[frozenset[str]] = (frozenset(),),
    overbids: bool = False,
) -> Episode:
    """The game of a buyer that bids these shares of the opening ask, with these words, over again.

    Within its purse, and below the ask unless it `overbids`.
    """

    def policy(obs, rng):
        number = obs.round
        most = obs.own["purse"] if overbids else min(obs.own["purse"], obs.ask - 1)
        price = max(1, min(round(shares[number % len(shares)] * obs.opening_ask), most))
        package = packages[number % len(packages)] if obs.table.extras else frozenset()
        return Offer(price, words[number % len(words)], package)

    return rollout(task, policy, seed)
