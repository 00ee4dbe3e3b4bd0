"""The bazaar's actions in words and as recorded moves, and its episodes for people."""

from collections.abc import Collection, Mapping
from typing import Any

from env import Accept, Episode, Offer, Turn, WalkAway, get_task, rupees
from env.bazaar.prompt import Action

EXTRA_NAMES = {"delivery": "delivery", "warranty": "warranty", "later": "later payment"}
ACTIONS = {"offer": Offer, "accept": Accept, "walk": WalkAway}
NAMES = {kind: name for name, kind in ACTIONS.items()}


def to_json(action: Action) -> dict[str, Any]:
    """The action as a recorded move, without its agent."""
    row: dict[str, Any] = {"action": NAMES[type(action)]}
    if isinstance(action, Offer):
        row["price"] = action.price
        if action.extras:
            row["extras"] = sorted(action.extras)
    return row | ({"message": action.message} if action.message else {})


def from_json(row: Mapping[str, Any]) -> Action:
    """The action that a recorded move holds.

    ValueError for a kind that the bazaar has not, and for extras that are no list of names.
    """
    if row["action"] not in ACTIONS:
        raise ValueError(f"an action is one of {', '.join(ACTIONS)}, not {row['action']!r}")
    message, extras = row.get("message", ""), row.get("extras", [])
    is_list = isinstance(extras, list | tuple) and all(isinstance(name, str) for name in extras)
    if not is_list or (extras and row["action"] != "offer"):
        raise ValueError(f"an offer's extras are a list of names, not {extras!r:.40}")
    if row["action"] == "offer":
        return Offer(row["price"], message, frozenset(extras))
    return ACTIONS[row["action"]](message)


def in_words(turn: Turn) -> str:
    """The turn's action as a phrase without its agent, price first; or why it is a forfeit."""
    if turn.action is None:
        return f"forfeits: {turn.error}"
    if isinstance(turn.action, Offer):
        verb = "asks" if turn.agent == "seller" else "bids"
        words = f"{verb} {rupees(turn.action.price)}{with_extras(turn.action.extras)}"
    else:
        words = "accepts" if isinstance(turn.action, Accept) else "walks away"
    return f"{words}: “{turn.action.message}”" if turn.action.message else words


def with_extras(extras: Collection[str]) -> str:
    """What a price includes, in words: " with delivery and later payment", "" for nothing."""
    named = [EXTRA_NAMES[name] for name in EXTRA_NAMES if name in extras]
    if not named:
        return ""
    *first, last = named
    return f" with {', '.join(first)}{' and ' if first else ''}{last}"


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: every move in order, then how it ended and who gained what."""
    task = get_task(played.task)
    lines = [f"# {played.task}, seed {played.seed}: {policy} as {task.learner}", ""]
    for number, turn in enumerate(played.turns, 1):
        lines.append(f"{number}. **{turn.agent}** {in_words(turn)}")
    gains = ", ".join(f"{agent} {rupees(gain)}" for agent, gain in played.payoffs.items())
    return "\n".join([*lines, "", f"Ended by {played.end}. Surplus: {gains}.", ""])
