"""Actions of the bazaar as JSON, as phrases and as Markdown."""

from collections.abc import Mapping
from typing import Any

from env import Accept, Episode, Offer, Turn, WalkAway, get_task, rupees

Action = Offer | Accept | WalkAway
ACTIONS = {"offer": Offer, "accept": Accept, "walk": WalkAway}
NAMES = {kind: name for name, kind in ACTIONS.items()}


def to_json(action: Action) -> dict[str, Any]:
    """The action as a recorded move, without its agent."""
    row: dict[str, Any] = {"action": NAMES[type(action)]}
    if isinstance(action, Offer):
        row["price"] = action.price
    return row | ({"message": action.message} if action.message else {})


def from_json(row: Mapping[str, Any]) -> Action:
    """The action that a recorded move holds; ValueError for a kind that the bazaar has not."""
    if row["action"] not in ACTIONS:
        raise ValueError(f"an action is one of {', '.join(ACTIONS)}, not {row['action']!r}")
    price = (row["price"],) if row["action"] == "offer" else ()
    return ACTIONS[row["action"]](*price, message=row.get("message", ""))


def in_words(turn: Turn) -> str:
    """The turn's action as a phrase without its agent, price first."""
    if isinstance(turn.action, Offer):
        verb = "asks" if turn.agent == "seller" else "bids"
        words = f"{verb} {rupees(turn.action.price)}"
    else:
        words = "accepts" if isinstance(turn.action, Accept) else "walks away"
    return f"{words}: “{turn.action.message}”" if turn.action.message else words


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: every move in order, then how it ended and who gained what."""
    task = get_task(played.task)
    lines = [f"# {played.task}, seed {played.seed}: {policy} as {task.learner}", ""]
    for number, turn in enumerate(played.turns, 1):
        words = in_words(turn) if turn.action is not None else f"forfeits: {turn.error}"
        lines.append(f"{number}. **{turn.agent}** {words}")
    gains = ", ".join(f"{agent} {rupees(gain)}" for agent, gain in played.payoffs.items())
    return "\n".join([*lines, "", f"Ended by {played.end}. Surplus: {gains}.", ""])
