"""Answers a text that makes no move, in character and from public facts alone.

The phrases of `kinds.csv` say what kind of talk it is. No answer is told a limit or a seed, so
none can give it away.
"""

import re
from collections.abc import Sequence

import numpy as np

from env import Table, rupees
from sauda.language.lexicon import NEGATORS, keys, words
from sauda.language.markup import without_code
from sauda.language.money import HIGHEST_PRICE, find_price, prices
from sauda.language.speech.closing import LEAVE, closing
from sauda.language.speech.items import condition_in, name_in
from sauda.language.speech.kinds import FOREIGN, NO, QUESTION, TOLD, kind_of_talk
from sauda.language.speech.lines import ANSWERS
from sauda.language.speech.past_prices import without_past_prices
from sauda.language.speech.phrases import kind_of
from sauda.language.speech.situations import ARGUMENTS, prices_of
from sauda.language.speech.spoken import shape

HIGHEST_ASK = 10  # times the list price; the rule of the market
ARGUED = "argued_"  # before a kind of argument: "argued_tea" answers "some tea?"
# An argument in a text of these kinds is answered first, as in "hello, some tea?".
GENERAL = frozenset(
    (
        *("item", "opinion", "press", "too_far", "begging", "thanks", "compliment", "greeting"),
        *("nod", "interest", QUESTION, TOLD),
    )
)
DENIALS = keys(NEGATORS)  # "no scratches at all" is told, and no argument
ASK_TO_OPEN = ("price", "nod")  # need a price of the one who answers
SIGNS = "$€£¥"  # of currencies that are not taken

UNCLEAR = re.compile(r"\d[oO]+(?![A-Za-z])")  # "5oo"
_RUPEES = r"(?:rupees?|rs\.?|rupaye|rupay|रुपये|रुपए|रु\.?)"
_AMOUNT = rf"(?:₹|{_RUPEES})?\s*(\d[\d,]*)\s*{_RUPEES}?"
CHANGES = tuple(  # of a price, such as "10 rupees more": no price by itself
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_AMOUNT}\s+(?:more|extra|aur|zyada|jyada|और|ज़्यादा|ज़्यादा)"
        r"(?=\s*(?:[.,!?।]|$|than\b|please\b|plz\b|ok\b|dunga\b|denge\b|ji\b))",
        rf"\b(?:add|by)\s+{_AMOUNT}",
    )
)


def slip(text: str) -> str:
    """The kind of talk of a text whose one price is none: "unclear", "change"; "" elsewhere.

    "Rs.5oo" is not ₹5, and "10 rupees more" is not ₹10.
    """
    text = without_code(text)
    amount = find_price(text)
    if amount is None:
        return ""
    if UNCLEAR.search(text):
        return "unclear"
    changes = (found[1] for pattern in CHANGES for found in pattern.finditer(text))
    return "change" if any(int(each.replace(",", "")) == amount for each in changes) else ""


def small_talk(text: str, seen: Table, agent: str) -> str:
    """The kind of answer that `agent` gives at `seen` to a `text` that names no acceptable price.

    It is a key of ANSWERS.
    """
    kept = without_past_prices(text)
    if kept != text and not prices(kept):
        return "past"
    text = kept
    if trouble := slip(text) or _price_trouble(text):
        return trouble
    kind = kind_of_talk(text, to_buyer=agent == "buyer")
    is_denied = kind == TOLD and any(word.key in DENIALS for word in words(text))
    if (not kind or kind in GENERAL) and not is_denied and (argument := kind_of(text, ARGUMENTS)):
        kind = ARGUED + argument
    if not kind:
        kind = "refusal" if _begins_with_no(text) else "nonsense"
    own, _ = prices_of(seen, agent)
    if closing(text, own[-1] if own else None) not in ("", LEAVE):
        kind = "nod"
    return "price_first" if kind in ASK_TO_OPEN and not own else kind


def answer_to(
    kind: str, seen: Table, agent: str, language: str, said: Sequence[str], seed: int
) -> str:
    """What `agent` says to talk of this `kind`: an answer that was not said yet.

    Where all were said, the one that was said longest ago. `said` are the agent's answers before
    it in this game. The facts of an answer are the item's name, condition and list price, the
    highest ask of the market and the agent's own last price.
    """
    answers = ANSWERS[language]
    own, _ = prices_of(seen, agent)
    texts = [
        text.format(
            item=name_in(language, seen.item.name),
            condition=condition_in(language, seen.item.condition),
            list=rupees(seen.item.list_price),
            own=rupees(own[-1]) if own else "",
            most=rupees(HIGHEST_ASK * seen.item.list_price),
        )
        for text in answers[agent].get(kind) or answers["both"][kind]
    ]
    last_said = {shape(text): place for place, text in enumerate(said)}
    places = [last_said.get(shape(text), -1) for text in texts]
    oldest = [text for text, place in zip(texts, places, strict=True) if place == min(places)]
    return oldest[np.random.default_rng(seed).integers(len(oldest))]


def _begins_with_no(text: str) -> bool:
    spoken = [word.key for word in words(text) if word.kind != "mark"]
    return bool(spoken) and spoken[0] in NO


def _price_trouble(text: str) -> str:
    """What is wrong with the prices in a text; empty where it has none."""
    text = without_code(text)
    if any(c.isdigit() for c in text) and (set(text) & set(SIGNS) or kind_of(text, FOREIGN)):
        return "foreign"
    amounts = {mention.amount for mention in prices(text)}
    if any(abs(amount) > HIGHEST_PRICE for amount in amounts):
        return "high"
    if len(amounts) > 1:
        return "several"
    if amounts:
        return "zero" if min(amounts) <= 0 else "each"
    return ""
