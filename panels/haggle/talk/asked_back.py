"""The question about a visitor's move that waits for a yes, as an exchange of the talk."""

from env import Accept, Offer, rupees
from panels.haggle.talk.state import Exchange
from sauda.language.small_talk import CONDITION, read_closing
from sauda.language.stances import relative
from sauda.sessions.bazaar import (
    BACKWARDS,
    FAR_OFF,
    Action,
    Game,
    both_prices,
    doubt,
    loss_at,
)


def asked_back(game: Game) -> Exchange:
    """The unconfirmed move of `game` in the visitor's words, "" for a button, and the question."""
    action = game.unconfirmed
    kind, values = question(game, action)
    turns, table = len(game.play.turns), game.observation.table
    return Exchange(turns, action.message, kind, table, tuple(values.items()))


def question(game: Game, action: Action) -> tuple[str, dict[str, str]]:
    """The question about a move, as a key of the page's words, and the values of its sentence."""
    own, theirs = both_prices(game)
    price = action.price if isinstance(action, Offer) else theirs[-1]
    values, why = {"price": rupees(price)}, doubt(game, action)
    if why == FAR_OFF:
        return "did_you_mean", values
    if why == BACKWARDS:
        stands = game.you == "buyer" and game.observation.table.standing
        return f"backwards_{'bid' if stands else game.you}", values | {"own": rupees(own[-1])}
    if (loss := loss_at(game, price)) > 0:
        kind = "loss_accept" if isinstance(action, Accept) else f"loss_{game.you}"
        limit = rupees(game.observation.reservation)
        return kind, values | {"loss": rupees(loss), "limit": limit}
    if isinstance(action, Offer) and (way := relative(action.message)):
        return f"mean_{way.kind}", values
    is_plain = read_closing(action.message, price) != CONDITION
    return "take_it" if is_plain else "take_it_plain", values
