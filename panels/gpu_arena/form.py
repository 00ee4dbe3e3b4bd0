"""The actions that a visitor can take for `lab_0`: choices, the terms of a form, typed JSON."""

import json

from env import arena
from panels.gpu_arena.words import choice_in_words
from sauda.sessions.arena import ArenaGame

TERMS = ("payment", "conditions", "message")  # what a form can change of a choice
PAYMENT, ASK = "You pay, credits", "They pay you, credits"  # the labels of the numbers
SHARE = "Owner’s share of a pooled gain, 0 to 1"
MOST_CREDITS = 1_000_000  # that the form takes for an amount; a lab has about 100
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
        options.setdefault(choice_in_words(obs, shown), json.dumps(action.as_json()))
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

    ValueError with one sentence where `choice` holds no action or a number cannot be.
    """
    row = chosen_action(choice).as_json()
    fields = changeable(row["action_type"])
    if "payment" in fields:
        row["payment"] = _amount(PAYMENT, payment)
    if "conditions" in fields and row["action_type"] == "form_coalition":
        row["conditions"] = {"share": _number(SHARE, share, 1)}
    elif "conditions" in fields:
        amount = _amount(ASK, ask)
        row["conditions"] = {"ask": amount} if amount else {}
    if "message" in fields:
        row["message"] = message or ""
    return arena.action_from(row)


def _amount(label: str, value: object) -> float:
    """Credits that were typed in a field; an empty field is 0."""
    return 0.0 if value is None else _number(label, value, MOST_CREDITS)


def _number(label: str, value: object, most: float) -> float:
    """The number from 0 to `most` that was typed in a field; ValueError where it holds none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    shown = f", not {value:g}" if isinstance(value, int | float) and abs(value) < 1e300 else ""
    raise ValueError(f"“{label}” takes a number from 0 to {most:,}{shown}; this cost no action")


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
