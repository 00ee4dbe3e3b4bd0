"""Small dialogues in the columns of both corpora, written for tests."""

import json
from typing import Any

LAMP = [  # agent, words, act, price
    (0, "Hi there", "intro", -1),
    (1, "Hello, it is $500", "init-price", 500),
    (0, "Would you take $300?", "counter-price", 300),
    (1, "I can do $400", "counter-price", 400),
    (0, "ok", "agree", -1),
    (0, "", "offer", 400),
    (1, "", "accept", -1),
]


def craigslist_row(events=LAMP, title="Brass lamp", target=350.0, **changes: Any) -> dict[str, Any]:
    """A dialogue about a posting of $500; `changes` replace whole columns."""
    speakers, words, intents, prices = map(list, zip(*events, strict=True))
    row = {
        "agent_info": {
            "Role": ["buyer", "seller"],
            "Target": [target, 500.0],
            "Bottomline": ["None", "None"],
        },
        "agent_turn": speakers,
        "utterance": words,
        "dialogue_acts": {"intent": intents, "price": [float(price) for price in prices]},
        "items": {
            "Category": ["furniture"] * 2,
            "Title": [title] * 2,
            "Description": ["A lamp of 1970"] * 2,
            "Price": [500.0] * 2,
            "Images": ["", ""],
        },
    }
    return row | changes


def lines(*rows: dict[str, Any]) -> str:
    """Rows as the lines of a file."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# One dialogue from each side, as Deal-or-No-Deal holds it.
DIVISION = (
    "<input> 1 4 2 1 4 1 </input> <dialogue> YOU: the book is mine <eos> THEM: then the hats are "
    "mine <eos> YOU: deal <eos> THEM: <selection> </dialogue> <output> item0=1 item1=0 item2=4 "
    "item0=0 item1=2 item2=0 </output> <partner_input> 1 0 2 5 4 0 </partner_input>"
)
MIRROR = (
    "<input> 1 0 2 5 4 0 </input> <dialogue> THEM: the book is mine <eos> YOU: then the hats are "
    "mine <eos> THEM: deal <eos> YOU: <selection> </dialogue> <output> item0=0 item1=2 item2=0 "
    "item0=1 item1=0 item2=4 </output> <partner_input> 1 4 2 1 4 1 </partner_input>"
)


def divisions(count: int) -> str:
    """`count` dialogues of two players who divide one book, two hats and four balls, a line each.

    No two have the same private values.
    """
    worth = [(10 - 2 * hat - 4 * ball, hat, ball) for ball in (0, 1) for hat in range(4)]
    pairs = [(own, other) for own in worth for other in worth if own < other]
    return "".join(f"{_division(own, other)}\n" for own, other in pairs[:count])


def _division(own: tuple[int, ...], other: tuple[int, ...]) -> str:
    """DIVISION with other values: the counts 1, 2 and 4, each before what one is worth."""
    first, second = (
        " ".join(f"{count} {value}" for count, value in zip((1, 2, 4), side, strict=True))
        for side in (own, other)
    )
    text = DIVISION.replace("<input> 1 4 2 1 4 1 <", f"<input> {first} <")
    return text.replace("<partner_input> 1 0 2 5 4 0 <", f"<partner_input> {second} <")
