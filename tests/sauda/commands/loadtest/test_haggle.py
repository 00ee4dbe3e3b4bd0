"""The load test reads the page's own description, and takes no answer on trust."""

from sauda.commands.loadtest.haggle import (
    Event,
    Script,
    fault,
    move,
)

EVENTS = {
    4: Event(4, False, ("mini", "any item"), (11,)),
    8: Event(8, False, (None, ""), (12,)),
}
PLAN = Script(
    EVENTS,
    begin=4,
    reply=8,
    again=9,
    trigger=44,
    opponent=0,
    market=1,
    markets=("tea", "shawl"),
    text=1,
    chat=0,
    problem=4,
    badge=5,
    ask_again=6,
    buttons=(1, 2, 3),
)


def shown(
    *texts: str, labels: tuple[str, ...] = ("Accept ₹60", "Halfway ₹40", "Walk away")
) -> list:
    """What the page answers: the chat, then the buttons; without labels the game is over."""
    chat = [{"role": "user", "content": [{"text": text, "type": "text"}]} for text in texts]
    buttons = [{"value": label, "interactive": True} for label in labels]
    return [
        chat,
        *(buttons or [{"value": "…", "interactive": False}] * 3),
        "",
        "",
        {"visible": False},
    ]


def test_a_visitor_bids_what_a_button_would_and_otherwise_takes_the_ask():
    assert move(shown(), PLAN) == "₹40 mein de do"
    assert move(shown(labels=("Accept ₹60", "Halfway", "Walk away")), PLAN) == "ok"
    assert move(shown(labels=("Walk away", "…", "…")), PLAN) == "walk away"


def test_an_answer_counts_only_if_the_chat_grew_by_what_was_said_and_a_reply():
    before = shown("₹60, fixed.")
    answered = shown("₹60, fixed.", "₹40", "₹54, my last word.")
    assert fault(before, answered, "₹40", PLAN) == ""
    taken = shown("₹60, fixed.", "ok", labels=())
    assert fault(before, taken, "ok", PLAN) == ""  # taking the ask ends the game
    for after in (before, shown("₹60, fixed.", "₹40"), shown("₹60, fixed.", "₹41", "₹54")):
        assert fault(before, after, "₹40", PLAN) == "the chat holds no answer to '₹40'"


def test_a_game_that_still_waits_for_the_model_is_no_game_that_is_over():
    waiting = [*shown("₹60", "₹40", labels=())[:-1], {"visible": True}]
    assert fault(shown("₹60"), waiting, "₹40", PLAN) == "the game waits for an answer"
