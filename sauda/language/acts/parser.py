"""Reads the act of an utterance by rules; the first that applies decides.

The rules are those that He et al. (2018) describe, with prices found by `sauda.language.money`.
Where a deal closes by buttons (CraigslistBargains), words of agreement bind nobody and are an
"agree"; where words close it (our games), they accept and reject.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from sauda.language import money, numerals
from sauda.language.acts.prices import amounts, as_rupees
from sauda.language.acts.types import Act, Context, Dialogue
from sauda.language.speech.spoken import AGREES, LEAVES

HIGHEST_UNMARKED = 1.5  # times the list price; a higher number without a currency sign is no price

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[?]")
_ASKING = "what|when|where|why|which|who|whose|how|do|does|are|is|would|will|can|could"
_QUESTIONS = frozenset(_ASKING.split("|"))
_GREETINGS = {"hi", "hello", "hey", "hiya", "howdy"}
_GREETING = re.compile(r"how are you|interested in", re.IGNORECASE)
_VAGUE = re.compile(r"come down|highest|lowest|go (?:lower|higher)|too (?:high|low)\b", re.I)
_AGREES = re.compile(
    r"(?:that works|great|ok|okay|great, thanks|deal|i can do that)[.!]*|[\w ]*have a deal[\w ]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def parse(text: str, context: Context) -> Act:
    """The act of `text`, said in `context`; its price is in the context's currency.

    Raises ValueError for a currency whose amounts nobody reads.
    """
    prices: Sequence[float] = ()
    if context.list_price is not None:
        prices = _named(text, context) if context.has_buttons else _the_price(text, context)
    if not context.has_buttons and (closing := _closing(text, context)):
        return closing
    return Act(_intent(text, prices, context), _proposed(prices, context))


def read(dialogue: Dialogue, has_buttons: bool = True) -> list[Act | None]:
    """The act of every turn, each read in the light of the acts that were read before it.

    No annotation of a turn with words is looked at. An event keeps its own act, which is None
    where the source does not say which button was pressed.
    """
    prices: dict[str, float] = {}
    intents: dict[str, str] = {}
    acts: list[Act | None] = []
    for number, turn in enumerate(dialogue.turns):
        act = turn.act
        if turn.text:
            others = [agent for agent in prices if agent != turn.agent]
            heard = [intent for agent, intent in intents.items() if agent != turn.agent]
            context = Context(
                turn.agent,
                dialogue.list_price,
                own=prices.get(turn.agent),
                theirs=prices[others[0]] if others else None,
                first=number == 0,
                asked=heard == ["inquire"],
                currency=dialogue.currency,
                notes=dialogue.notes,
                has_buttons=has_buttons,
            )
            act = parse(turn.text, context)
        acts.append(act)
        if act is not None:
            intents[turn.agent] = act.intent
            if act.price is not None:
                prices[turn.agent] = act.price
    return acts


def price_intent(price: float, context: Context) -> str:
    """What naming `price` does: the first price, a new one, or one that is on the table."""
    if context.own is None and context.theirs is None:
        return "init-price"
    if price != context.list_price:
        if price == context.theirs:
            return "agree" if context.has_buttons else "offer"
        if price == context.own:
            return "insist"
    return "counter-price"


def _intent(text: str, prices: Sequence[float], context: Context) -> str:
    if prices:
        named = {price_intent(price, context) for price in prices}
        for intent in ("init-price", "counter-price", "insist"):
            if intent in named:
                return intent
        return named.pop()
    words = [word.lower() for word in _WORD.findall(text)]
    asks = bool(words) and (words[-1] == "?" or words[0] in _QUESTIONS)
    denies = _denies(words)
    greets = not _GREETINGS.isdisjoint(words) or bool(_GREETING.search(text))
    agrees = bool(_AGREES.fullmatch(text.strip())) and not denies
    if context.first:
        return "intro"
    if _VAGUE.search(text):
        return "vague-price"
    if asks and not (denies or greets or agrees):
        return "inquire"
    if agrees:
        return "agree"
    if not (asks or denies or greets) and context.asked:
        return "inform"
    return "disagree" if denies and not (asks or greets) else "unknown"


def _denies(words: Sequence[str]) -> bool:
    return any(word in ("no", "not", "cannot") or word.endswith(("n't", "n’t")) for word in words)


def _closing(text: str, context: Context) -> Act | None:
    """The act that ends a game by words; None where the words do not.

    Words of agreement that deny, or name another price or another currency, accept nothing.
    """
    rupees = as_rupees(text, context.currency)
    named = {mention.amount for mention in money.prices(rupees)}
    if LEAVES.search(text) and not named:
        return Act("reject")
    if context.theirs is None or not AGREES.search(text):
        return None
    denies = _denies([word.lower() for word in _WORD.findall(text)])
    is_foreign = any(token.key in numerals.FOREIGN for token in numerals.tokens(rupees))
    if denies or is_foreign or named - {context.theirs}:
        return None
    return Act("accept", context.theirs)


def _the_price(text: str, context: Context) -> list[float]:
    """The one price that a message of a game offers; none where it offers no price or several."""
    rupees = as_rupees(text, context.currency)
    try:
        return [money.price(rupees)]
    except ValueError:  # as the reader says in words for a visitor
        return []


def _named(text: str, context: Context) -> list[float]:
    """The prices in a text about an item; numbers of its posting and far too high ones are none."""
    noted = _numbers(context.notes, context.currency) - {context.list_price}
    highest = HIGHEST_UNMARKED * context.list_price
    return [
        amount
        for amount, marked in amounts(text, context.currency)
        if amount > 0 and (marked or (amount <= highest and amount not in noted))
    ]


@lru_cache(maxsize=256)
def _numbers(notes: str, currency: str) -> frozenset[float]:
    """The numbers in a posting: in digits, and as the reader of prices takes them, such as "4K"."""
    digits = (float(number.replace(",", "")) for number in _NUMBER.findall(notes))
    return frozenset(digits) | {amount for amount, _ in amounts(notes, currency)}


def _proposed(prices: Sequence[float], context: Context) -> float | None:
    """The price that the speaker proposes among those it names.

    Where a deal closes by buttons it is a price no better for the speaker than its last one, and
    the best of several; a buyer never proposes the list price.
    """
    if not context.has_buttons:
        return prices[0] if prices else None
    sign = 1 if context.seat == "seller" else -1
    own = context.own
    proposed = [
        price
        for price in prices
        if (own is None or sign * price <= sign * own)
        and (context.seat == "seller" or price != context.list_price)
    ]
    return max(proposed, key=lambda price: sign * price, default=None)
