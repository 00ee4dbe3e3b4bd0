"""Words an act: a strategy decides what is done, language says it, and the words are read back.

A line is said only if `parse` reads the same act from it, so that nothing is lost in words.
"""

from env import Accept, IllegalAction, Offer, Table, WalkAway
from sauda.language.acts.parser import parse, price_intent
from sauda.language.acts.prices import written
from sauda.language.acts.types import Act, Context
from sauda.language.speech.situations import prices_of
from sauda.language.speech.spoken import Decided, from_lines, spoken

Action = Offer | Accept | WalkAway
TRIES = 8  # lines of the speaker before a plain one
PLAIN = {"accept": "Agreed, #.", "reject": "Goodbye."}  # "#" stands for the price
TALK = {  # of acts that no move makes, in English; {item} and {condition} are public
    "intro": (
        "Hello! I am interested in the {item}.",
        "Hi there, I saw your {item}.",
        "Good day. You sell the {item}?",
        "Hey, the {item} caught my eye.",
    ),
    "inquire": (
        "What condition is it in?",
        "Is it still available?",
        "Does everything on it work?",
        "How long have you had it?",
    ),
    "inform": (
        "Its condition is {condition}, as the card says.",
        "The card has it: {condition}.",
        "It is {condition}, and it works well.",
    ),
    "vague-price": ("Your price is too high for me.", "Can you come down a little?"),
    "agree": ("That works.", "Great.", "Okay."),
    "disagree": (
        "No, we are too far apart.",
        "I cannot do that, sorry.",
        "That is not for me, thank you.",
    ),
    "unknown": ("I have looked at many of these.", "These are hard to find."),
}


def context_of(table: Table, agent: str) -> Context:
    """What the words of `agent` are read against at `table`, before its move."""
    own, theirs = prices_of(table, agent)
    return Context(
        "seller" if agent == "seller" else "buyer",
        table.item.list_price,
        own=own[-1] if own else None,
        theirs=theirs[-1] if theirs else None,
        first=not table.moves,
    )


def act_of(action: Action, context: Context) -> Act:
    """The act of a move that is made in `context`. Raises IllegalAction for what is no move."""
    if isinstance(action, Offer):
        return Act(price_intent(action.price, context), action.price)
    if isinstance(action, Accept):
        return Act("accept", context.theirs)
    if isinstance(action, WalkAway):
        return Act("reject")
    raise IllegalAction(f"expected an Offer, Accept or WalkAway, got {action!r:.80}")


def move_of(act: Act, message: str = "") -> Action:
    """The move that an act makes in a game without buttons, with its words.

    Raises IllegalAction for an act that makes none, such as a question.
    """
    if act.intent in ("accept", "agree"):
        return Accept(message)
    if act.intent in ("reject", "quit"):
        return WalkAway(message)
    if act.price is not None:
        return Offer(act.price, message)
    raise IllegalAction(f"{act} makes no move; say a price, accept or leave")


def realised(act: Act, context: Context, decided: Decided, seed: int) -> str:
    """Words for the act of a decided move, from which `parse` reads that act in `context`.

    A line of the speaker is tried first, then a plain one. Raises IllegalAction where neither says
    it, such as a price above those that are read.
    """
    for attempt in range(TRIES):
        line = spoken(decided, {"lines": from_lines}, seed + attempt).text
        if line and parse(line, context) == act:
            return line
    price = "" if act.price is None else written(act.price, context.currency)
    line = PLAIN.get(act.intent, "#.").replace("#", price)
    if parse(line, context) != act:
        raise IllegalAction(f"no words for {act}: {line!r} is read as {parse(line, context)}")
    return line


def talked(act: Act, context: Context, facts: dict[str, str], seed: int) -> str:
    """Words for an act that is no move, with `facts` about the item, read back like a move's.

    Raises ValueError where no line of TALK is read as the act in `context`.
    """
    lines = [line.format(**facts) for line in TALK.get(act.intent, ())]
    fitting = [line for line in lines if parse(line, context) == act]
    if not fitting:
        raise ValueError(f"no words for {act} here")
    return fitting[seed % len(fitting)]
