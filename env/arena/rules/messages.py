"""Rules for the public message board: messages, pitches, and the signal of each text."""

from ..actions import Action
from ..types import Market, Message
from .transaction import Draft, Refused

SHORTEST_PITCH = 12  # characters
SIGNALS = (  # the first signal with one of its words in the text decides
    ("urgency", ("urgent", "deadline", "asap")),
    ("fairness", ("fair", "mutual", "both")),
    ("coalition", ("coalition", "partner", "commit")),
    ("threat", ("punish", "never", "retaliate")),
)
SIGNAL_ROUNDS = 1  # rounds after its own in which a message still has an effect


def signal_of(text: str) -> str:
    """The signal of a text: urgency, fairness, coalition, threat or neutral."""
    lowered = text.lower()
    for signal, words in SIGNALS:
        if any(word in lowered for word in words):
            return signal
    return "neutral"


def last_signal(market: Market, sender: str, listener: str) -> str:
    """The signal of the last message from `sender` to `listener` or to all; "" if it is too old."""
    for message in reversed(market.messages):
        if message.round_index < market.round_index - SIGNAL_ROUNDS:
            return ""
        if message.from_lab_id == sender and message.to_lab_id in (listener, None):
            return message.signal
    return ""


def send_message(draft: Draft, agent: str, action: Action) -> tuple[str, str]:
    _check_target(draft, agent, action)
    if not action.message.strip():
        raise Refused("empty_message", "a message needs words")
    _say(draft, agent, action, "message")
    return "message_sent", "it is said"


def pitch(draft: Draft, agent: str, action: Action) -> tuple[str, str]:
    _check_target(draft, agent, action)
    if len(action.message.strip()) < SHORTEST_PITCH:
        raise Refused("empty_pitch", f"a pitch has at least {SHORTEST_PITCH} characters")
    _say(draft, agent, action, "pitch")
    return "pitch_recorded", "it is heard"


def _check_target(draft: Draft, agent: str, action: Action) -> None:
    if action.target_lab_id is not None and action.target_lab_id not in draft.labs:
        raise Refused("unknown_lab", f"there is no lab {action.target_lab_id}")
    if action.target_lab_id == agent:
        raise Refused("self_message", "you cannot address yourself")


def _say(draft: Draft, agent: str, action: Action, kind: str) -> None:
    now, text = draft.market.round_index, action.message
    draft.say(Message(agent, action.target_lab_id, now, text, signal_of(text), kind))
