"""Answers a text that makes no move, in character and from public facts alone.

The phrases of `kinds.csv` say what kind of talk it is. No answer is told a limit or a seed, so
none can give it away.
"""

import re
from collections.abc import Sequence

import numpy as np

from env import Table, rupees
from sauda.language.lexicon import NEGATORS, keys, words
from sauda.language.lines import ANSWERS
from sauda.language.markup import without_code
from sauda.language.money import HIGHEST_PRICE, prices
from sauda.language.numerals import VAGUE, Token, tokens
from sauda.language.relative import relative
from sauda.language.speech.closing import LEAVE, closing
from sauda.language.speech.items import condition_in, name_in
from sauda.language.speech.kinds import FOREIGN, NO, QUESTION, TOLD, kind_of_talk
from sauda.language.speech.phrases import kind_of
from sauda.language.speech.situations import ARGUMENTS, prices_of
from sauda.language.speech.spoken import shape
from sauda.language.stances import NUMBER, read

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

UNCLEAR = re.compile(
    r"\d[oO]+(?![A-Za-z])"  # 5oo
    r"|(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])(?!\s*(?:k|l|lakh|lac|thousand|hazaa?r|cr)\b)"  # 5.000
    r"|\d/\d+(?:th)?\s+(?:of|ka|का)\s"  # 3/4 of 800
    r"|(?:\b(?:half|quarters?|thirds?|fifths?|tenths?|percent)|%)\s+of\s+(?:rs\.?\s*)?[₹\d]"
    r"|\d\s+(?:ka|ke|का|के)\s+(?:(?:do|teen|ek|दो|तीन|एक)\s+)?"
    r"(?:aadha|adha|half|tihai|chauthai|आधा|तिहाई|चौथाई)"
)


def slip(text: str) -> str:
    """The kind of talk of a text whose price is not clear, "unclear"; "" elsewhere.

    "Rs.5oo" is not ₹5, "₹5.000" is 5 or 5,000, and "a few thousand" is anything.
    """
    text = without_code(text)
    line = tokens(text)
    vague = any(map(_is_vague, line, line[1:], line[2:]))
    return "unclear" if vague or (UNCLEAR.search(text) and prices(text)) else ""


def _is_vague(before: Token, token: Token, after: Token) -> bool:
    times = after if token.key == "of" else token
    return before.key in VAGUE and times.kind == "times"


def small_talk(text: str, seen: Table, agent: str) -> str:
    """The kind of answer that `agent` gives at `seen` to a `text` that names no acceptable price.

    It is a key of ANSWERS.
    """
    if relative(text):
        return "change"
    text, stance = read(text)
    if stance not in ("", NUMBER) and not prices(text):
        return stance
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
