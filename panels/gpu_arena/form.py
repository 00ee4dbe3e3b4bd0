"""The actions that a visitor can take for `lab_0`: choices, the terms of a form, typed JSON."""

import json

from env import arena
from panels.gpu_arena.words import deed
from sauda.sessions.arena import LEARNER, ArenaGame

TERMS = ("payment", "conditions", "message")  # what a form can change of a choice
Choices = dict[str, list[tuple[str, str]]]  # by type of action: (words, JSON)


def choices(game: ArenaGame) -> Choices:
    """The legal actions of `lab_0` by type, each as (words, JSON), without the terms of a form."""
    by_type: dict[str, dict[str, str]] = {}
    if game.over:
        return {}
    obs = game.observation
    for action in arena.legal_actions(obs):
        bare = without_terms(action)
        shown = bare._replace(message="") if changeable(action.action_type) else bare
        options = by_type.setdefault(action.action_type, {})
        options.setdefault(deed(obs, LEARNER, shown), json.dumps(action.as_json()))
    return {kind: list(options.items()) for kind, options in by_type.items()}


def bid_for(options: Choices, block_id: str) -> str | None:
    """The choice that asks for this block and gives no block; None where there is none."""
    for _, choice in options.get("send_offer", []):
        action = chosen_action(choice)
        if action.requested_block_ids == (block_id,) and not action.block_ids:
            return choice
    return None


def answer_to(options: Choices, offer_id: str) -> str | None:
    """The first choice that answers this offer with other terms; None where there is none."""
    for _, choice in options.get("counter_offer", []):
        if chosen_action(choice).offer_id == offer_id:
            return choice
    return None


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
