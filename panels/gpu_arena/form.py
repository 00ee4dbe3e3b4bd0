"""The actions that a visitor can take for `lab_0`: choices, the terms of a form, typed JSON."""

import json

from env import arena
from sauda.games.arena.transcript import action_in_words
from sauda.sessions.arena import ArenaGame

TERMS = ("payment", "conditions", "message")  # what a form can change of a choice
ACTION_NAMES = {name: name.replace("_", " ") for name in arena.KINDS}


def choices(game: ArenaGame) -> dict[str, list[tuple[str, str]]]:
    """The legal actions of `lab_0` by type, each as (words, JSON), without the terms of a form."""
    by_type: dict[str, dict[str, str]] = {}
    if game.over:
        return {}
    for action in arena.legal_actions(game.observation):
        bare = without_terms(action)
        shown = bare._replace(message="") if changeable(action.action_type) else bare
        options = by_type.setdefault(action.action_type, {})
        options.setdefault(action_in_words(shown), json.dumps(action.as_json()))
    return {kind: list(options.items()) for kind, options in by_type.items()}


def changeable(kind: str) -> tuple[str, ...]:
    """Which of TERMS the form of this type of action offers."""
    fields = (*arena.KINDS[kind].required, *arena.KINDS[kind].optional)
    return tuple(name for name in TERMS if name in fields)


def without_terms(action: arena.Action) -> arena.Action:
    """`action` without the payment and the conditions that its form can change."""
    fields = changeable(action.action_type)
    if "payment" in fields:
        action = action._replace(payment=0.0)
    return action._replace(conditions=()) if "conditions" in fields else action


def composed(
    choice: str, payment: float | None, ask: float | None, share: float | None, message: str
) -> arena.Action | arena.Malformed:
    """The chosen action with the terms of the form; Malformed where they cannot be read.

    ValueError where `choice` holds no action.
    """
    row = chosen_action(choice).as_json()
    fields = changeable(row["action_type"])
    if "payment" in fields:
        row["payment"] = payment or 0.0
    if "conditions" in fields:
        name, value = ("share", share) if row["action_type"] == "form_coalition" else ("ask", ask)
        row["conditions"] = {name: value} if value else {}
    if "message" in fields:
        row["message"] = message or ""
    return arena.action_from(row)


def chosen_action(choice: str) -> arena.Action:
    """The action in a value of the list of choices; ValueError where it holds none."""
    action = from_text(choice) if isinstance(choice, str) else None
    if not isinstance(action, arena.Action):
        raise ValueError("choose one of the actions in the list")
    return action


def from_text(text: str) -> arena.Action | arena.Malformed:
    """The action that a visitor typed as JSON; ValueError where it is no JSON."""
    try:
        return arena.action_from(json.loads(text))
    except (ValueError, RecursionError):  # a number of 5,000 digits is a plain ValueError
        raise ValueError(
            'an action is JSON such as {"action_type": "wait"}; this is none'
        ) from None
