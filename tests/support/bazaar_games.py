"""Positions and games of the bazaar with round numbers, for the tests of players and sellers."""

from collections.abc import Sequence

from env import Episode, Item, Move, Observation, Offer, Table, Task, rollout


def seen(
    asks=(1000.0, 900.0),
    bids=(400.0,),
    reservation=1000.0,
    agent="buyer",
    says="",
    name="brass lamp",
    scale=1,
    **own,
) -> Observation:
    """A position with a list price of 1,000 rupees, so that a percent is ten of them."""
    asks, bids = tuple(a * scale for a in asks), tuple(b * scale for b in bids)
    moves = []
    for i, ask in enumerate(asks):
        moves.append(Move("seller", Offer(ask)))
        moves += [Move("buyer", Offer(bid)) for bid in bids[i : i + 1]]
    if moves[-1].agent == agent:
        moves.pop()  # it is this agent's move
    moves[-1] = Move(moves[-1].agent, Offer(moves[-1].action.price, says))
    item = Item(name, "Handicrafts", "good", 1000 * scale)
    table = Table(item, rounds=8, deals=1, decimals=0, round=len(bids), asks=asks, bids=bids,
                  moves=tuple(moves))  # fmt: skip
    return Observation(agent, table, {"reservation": reservation * scale, **own})


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
