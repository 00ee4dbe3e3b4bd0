"""Words moves as short lines in English and Hinglish that always name the move's price."""

from env import Accept, Offer, WalkAway, rupees
from sauda.language import money

LINES = {
    "buyer": {
        "first": ("Bhaiya, {price} mein de do?", "I thought of {price}.", "{price}, theek hai?"),
        "more": ("Chalo, {price}.", "{price}, a good price.", "Thoda kam karo: {price}?",
                 "I can go to {price}.", "{price} de dunga, bas."),
        "accept": ("Done, {price}. Pack kar do.", "Theek hai, {price}.", "{price} it is."),
        "walk": ("Rehne do, not at that price.", "Phir kabhi. Goodbye.", "Too much for me, sorry."),
    },
    "seller": {
        "first": ("{price} for this {item}.", "This {item}? {price}."),
        "more": ("I can do {price}.", "{price}, best price.", "For you, {price}.",
                 "{price} se kam nahi."),
        "accept": ("Done, {price}.", "Theek hai, {price}. Le jao.", "{price}, deal."),
        "walk": ("No, we are too far apart.", "Nahi, rehne do."),
    },
}  # fmt: skip


def line(
    action: Offer | Accept | WalkAway, agent: str, standing: float | None, item: str, number: int
) -> str:
    """The line of `agent` for its move `number`, counted from 0.

    It is the action's own message if there is one; an offer's price is put before a message that
    names no price. `standing` is the other side's last price, which an acceptance takes.
    """
    if action.message and isinstance(action, Offer) and not money.prices(action.message):
        return f"{rupees(action.price)}: {action.message}"
    if action.message:
        return action.message
    seat = LINES["seller" if agent == "seller" else "buyer"]
    if isinstance(action, Offer):
        kind, price = ("more" if number else "first"), action.price
    else:
        kind, price = ("accept" if isinstance(action, Accept) else "walk"), standing
    named = "" if price is None else rupees(price)
    return seat[kind][number % len(seat[kind])].format(price=named, item=item)
