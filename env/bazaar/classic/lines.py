"""What the classic sellers say, by personality and kind of line; our own wording.

A line is filled in with the price of the move that it goes with and tells nothing hidden.
"""

from ...money import rupees
from ..types import Observation

LINES = {
    "default": {
        "opening": ("{price} for this {item}. That is the price.", "This {item}? {price}, fixed."),
        "counter": ("{price}. I cannot go under that.", "Fine, {price}, and there I stop.",
                    "Let us say {price}. That is it.", "{price}, my last word."),
        "accept": ("Done. {price}.", "All right, {price}. Take it."),
        "walk": ("No. We are too far apart.", "Leave it, this goes nowhere."),
        "pressure": ("It is the only one left.", "A lady asked for it this morning."),
    },
    "deceptive": {
        "opening": ("{price}, and my supplier says I am mad to sell so low.",
                    "Two people want this {item}. For you, {price}."),
        "counter": ("{price}, and I lose money on it.", "My brother would scold me: {price}.",
                    "Another buyer is coming. {price}, now.", "{price}. I close in ten minutes."),
        "accept": ("{price}. You are robbing me.", "Take it for {price}, before I think again."),
        "walk": ("The other buyer pays more. Goodbye.", "I would rather keep it."),
        "pressure": ("He is calling me right now.", "Tomorrow it costs more."),
    },
    "impatient": {
        "opening": ("{price}. Quickly, please.", "{item}, {price}. Yes or no?"),
        "counter": ("{price}. Decide.", "{price}, hurry.", "I have no time: {price}.",
                    "{price}. Last chance."),
        "accept": ("{price}. Good. Next!", "Fine, {price}. Pay and go."),
        "walk": ("Enough. I have customers.", "No time for this."),
        "pressure": ("There is a queue behind you.", "Well?"),
    },
    "collaborative": {
        "opening": ("Welcome! I thought of {price} for this {item}.",
                    "For this {item}, {price} seems fair to both of us."),
        "counter": ("Let us meet nearer: {price}?", "I can come to {price} for you.",
                    "Would {price} suit you?", "We are close. {price}?"),
        "accept": ("{price} it is, thank you.", "Happy with {price}. Enjoy it."),
        "walk": ("I am sorry, I cannot make that work.", "Perhaps another time."),
        "pressure": ("It is well made, you can see.", "I hope we find a price."),
    },
}  # fmt: skip


def line(
    persona: str, kind: str, obs: Observation, price: float, draw: float, pushy: bool = False
) -> str:
    """One line of `kind` at `price`, picked by `draw` in [0, 1).

    `pushy` adds a line that presses the buyer; only a deceptive seller does so more than twice.
    """
    options = LINES[persona][kind]
    text = options[int(draw * len(options))].format(price=rupees(price), item=obs.table.item.name)
    if not pushy or (persona != "deceptive" and _pressed(obs, persona) >= 2):
        return text
    lines = LINES[persona]["pressure"]
    return f"{text} {lines[obs.table.round % len(lines)]}"


def _pressed(obs: Observation, persona: str) -> int:
    lines = LINES[persona]["pressure"]
    messages = [move.action.message for move in obs.table.moves if move.agent == "seller"]
    return sum(text.endswith(lines) for text in messages)
