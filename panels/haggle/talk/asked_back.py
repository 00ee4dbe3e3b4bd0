"""The question about a visitor's move that waits for a yes, as an exchange of the talk."""

from env import Accept, Offer, rupees
from panels.haggle.talk.state import Exchange
from sauda.language.relative import relative
from sauda.sessions.bazaar import Game
from sauda.sessions.doubts import FAR_OFF, doubt, loss_at


def asked_back(game: Game) -> Exchange:
    """The unconfirmed move of `game` in the visitor's words, "" for a button, and the question."""
    action, table = game.unconfirmed, game.observation.table
    theirs = table.bids if game.you == "seller" else table.asks
    price = action.price if isinstance(action, Offer) else theirs[-1]
    values = {"price": rupees(price)}
    if doubt(game, action) == FAR_OFF:
        kind = "did_you_mean"
    elif (loss := loss_at(game, price)) > 0:
        kind = "loss_accept" if isinstance(action, Accept) else f"loss_{game.you}"
        values |= {"loss": rupees(loss), "limit": rupees(game.observation.reservation)}
    elif isinstance(action, Offer) and (way := relative(action.message)):
        kind = f"mean_{way.kind}"
    else:
        kind = "take_it"
    turns = len(game.play.turns)
    return Exchange(turns, action.message, kind, table, tuple(values.items()))
