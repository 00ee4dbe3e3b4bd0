"""Asks a visitor back about a move that may be a slip: a price beyond the own limit, one that takes
the own last price back, or one that is far off.
"""

from dataclasses import replace

from env import Accept, Offer
from sauda.sessions.bazaar import Action, Game, answer

LOWEST_SHARE = {"seller": 1 / 5, "buyer": 1 / 10}  # of the lower standing offer; see `is_far_off`
HIGHEST_MULTIPLE = 5  # of the higher standing offer
FAR_OFF, LOSS, BACKWARDS = "far_off", "loss", "backwards"


def propose(game: Game, action: Action) -> Game:
    """The game after the visitor's move, or with the move `unconfirmed` where there is a doubt.

    An unconfirmed move binds nobody. The same move again is made. Raises as `answer`.
    """
    after = answer(game, action)
    repeated = game.unconfirmed is not None and _silent(game.unconfirmed) == _silent(action)
    if repeated or not doubt(game, action):
        return after
    return replace(game, unconfirmed=action)


def doubt(game: Game, action: Action) -> str:
    """Why the visitor is asked back about `action`: LOSS, BACKWARDS, FAR_OFF, or "" for no doubt.

    The rules allow all of them. A visitor who has already named a losing price in this deal is not
    asked about the next one.
    """
    own, theirs = own_and_their_prices(game)
    if isinstance(action, Accept):
        return LOSS if theirs and loss_at(game, theirs[-1]) > 0 else ""
    if not isinstance(action, Offer):
        return ""
    if loss_at(game, action.price) > 0 and not any(loss_at(game, price) > 0 for price in own):
        return LOSS
    if own and (action.price - own[-1]) * (1 if game.you == "seller" else -1) > 0:
        return BACKWARDS
    return FAR_OFF if is_far_off(game, action.price) else ""


def own_and_their_prices(game: Game) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The prices in the deal in play: the visitor's, then the other side's."""
    table = game.observation.table
    return (table.asks, table.bids) if game.you == "seller" else (table.bids, table.asks)


def loss_at(game: Game, price: float) -> float:
    """The rupees that a deal at `price` would cost the visitor; negative where it gains."""
    limit = game.observation.reservation
    return limit - price if game.you == "seller" else price - limit


def is_far_off(game: Game, price: float) -> bool:
    """Whether `price` is so far from both standing offers that the visitor may have slipped.

    The standing offers are each side's last price; the list price replaces one that is missing. A
    seller's price is far off below a fifth of the lower one, because any buyer takes it at once. A
    buyer's is far off below a tenth, because hard opening bids are common and cost only a round.
    Either is far off above five times the higher one.
    """
    table = game.observation.table
    standing = [prices[-1] if prices else table.item.list_price
                for prices in (table.asks, table.bids)]  # fmt: skip
    lowest = LOWEST_SHARE["seller" if game.you == "seller" else "buyer"] * min(standing)
    return not lowest <= price <= HIGHEST_MULTIPLE * max(standing)


def _silent(action: Action) -> Action:
    return replace(action, message="")
