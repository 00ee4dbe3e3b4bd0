"""Positions of a bazaar game with round numbers, for the tests of players."""

from env import Item, Move, Observation, Offer, Table


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
