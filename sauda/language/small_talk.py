"""Classifies a text that makes no move, and answers it in character and from public facts alone.

`kind_of_talk` finds the kind by the phrases of `kinds.csv`: the first row that has a phrase in a
sentence counts, so the rude and the specific stand before the general. Insults are compared as they
are spelled: folding joins "saale" with "sale" and "fool" with "full".

`read_closing` says whether a text accepts the price that stands, leaves, or only nods:
`closings.csv` lists what people say by its force. A clause counts only where its phrases cover all
of it: "what a deal!" and "deal with it" accept nothing.

No answer is told a limit or a seed, so none can give it away.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache

import numpy as np

from env import Table, rupees
from env.language.money import HIGHEST_PRICE, prices, without_code
from env.language.numerals import LISTS, SHARES, VALUES, WORDS, Token, tokenize
from sauda.language.lines import ANSWERS, name_in
from sauda.language.phrases import PhraseTable, Word, words
from sauda.language.spoken import arguments_in, prices_of, shape
from sauda.language.stances import NUMBER, Reading, read_stances, relative

QUESTION, TOLD = "question", "told"  # of no kind that is known: a question, a statement
_KINDS = PhraseTable("kinds.csv")
_NONE = (1_000, "")  # after every row
_RUDE = (_KINDS.row("insult"), "insult")
_TOLD = _KINDS.row(TOLD)
# An unknown question comes before the pleasantries beside it, which stand after the begging.
_ASKED = _KINDS.row("begging") + 0.5
# A seller's statement about one of these, without a question, needs no answer.
TOPICS = {row["kind"] for row in _KINDS.rows if "topic" in row["traits"]}
SHORT = 2  # words; "?" after so few may be a slip
_SENTENCE = re.compile(r"[^.!?।\n]*[.!?।\n]?")


@lru_cache(maxsize=1024)
def kind_of_talk(text: str, to_buyer: bool = False) -> str:
    """The kind of talk in `text`, said `to_buyer` or to a seller; "" for an unknown one."""
    if whole := min(_KINDS.whole(text), default=None):
        return whole[1]
    sentences = _SENTENCE.findall(text)
    rows = [_in_sentence(sentence, to_buyer) for sentence in sentences]
    asked = [row for sentence, row in zip(sentences, rows, strict=True) if "?" in sentence]
    known = [row for row in asked if row[1] not in ("", "greeting")]
    # What is asked comes before what is said beside it, but for what is rude.
    return min([*(known or rows), *(row for row in rows if row <= _RUDE)])[1]


def _in_sentence(sentence: str, to_buyer: bool) -> tuple[float, str]:
    rows = set(_KINDS.find(sentence))
    length = sum(word.kind != "mark" for word in words(sentence))
    if any(kind == QUESTION for _, kind in rows) or ("?" in sentence and length > SHORT):
        known = {(place, kind) for place, kind in rows if kind not in (QUESTION, TOLD)}
        return min(known | {(_ASKED, QUESTION)})
    if to_buyer:
        rows = {(_TOLD, TOLD) if kind in TOPICS else (place, kind) for place, kind in rows}
    return min(rows, default=_NONE)


ACCEPT = "accept"  # names the deal: "you have a deal"
AGREE = "agree"  # agrees with what was said: "that works for me"
LIKELY = "likely"  # agrees among other words
YES = "yes"  # may answer anything
NOD = "nod"  # "great", "sure": no acceptance by itself
CONDITION = "condition"  # "deal, if you bring it here"
LEAVE = "leave"
# A text that accepts in one clause and says this in another accepts nothing.
COUNTERS = {row["kind"] for row in _KINDS.rows if "counter" in row["traits"]}
_ENDS = frozenset(".!?,;:।()–—\n")
_TABLE = PhraseTable("closings.csv")
_FIRM, _SOFT, _SURE, _REFUSE = "firm", "soft", "sure", "refuse"
_IF, _TERM, _BREAK, _ASKS = "if", "term", "break", "asks"
_PARTING = (_IF, _TERM, _BREAK)  # part a clause in two


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def read_closing(text: str, standing: float | None = None) -> str:
    """What `text` does to the other side's last price, `standing`: one of the above or "".

    A text that names another price closes nothing.
    """
    if {mention.amount for mention in prices(text)} - {standing}:
        return ""
    closings: set[str] = set()
    plainly: set[str] = set()  # in a clause of its own
    rest: list[str] = []  # what else is said
    apart: list[str] = []  # of it, in clauses of their own
    for clause, end in _clauses(words(text)):
        parts = [clause] if _kinds(clause) else [part for part in _parts(clause) if part]
        others = [_text(text, part) + end for part in parts if not _kinds(part)]
        kinds = set[str]().union(*map(_kinds, parts))
        closings |= kinds
        plainly |= kinds if not others else set()
        rest += others
        apart += others if len(others) == len(parts) else []
    if LEAVE in closings:
        return LEAVE if not rest and closings.isdisjoint((_FIRM, _SOFT, YES, _SURE, NOD)) else ""
    table_kinds = {kind for _, kind in _TABLE.find(text)}
    conditional = not table_kinds.isdisjoint((_IF, _TERM))
    if _FIRM in closings and conditional:
        return CONDITION
    if _REFUSE in closings or any(map(_counters, apart)):
        return ""
    if _FIRM in plainly:
        return ACCEPT
    if _TERM in table_kinds and {_SOFT, YES, _SURE} & closings and "?" not in text:
        return "" if any(map(_counters, rest)) else CONDITION
    if {_FIRM, _SOFT} & closings:
        is_talk = conditional or any("?" in other for other in rest)
        return "" if is_talk else LIKELY if rest else AGREE
    if rest or not closings & {YES, _SURE, NOD}:
        return ""
    return NOD if closings & {_SURE, NOD} else YES


def asks_something(message: str, standing: float | None) -> bool:
    """Whether the other side's `message` asks a question that is not about its price."""
    return any(
        end == "?"
        and clause
        and not {mention.amount for mention in prices(_text(message, clause))} & {standing}
        and not _kinds(clause) & {_FIRM, _SOFT, YES, _SURE, _ASKS}
        for clause, end in _clauses(words(message), frozenset(".!?।\n"))
    )


def confirms(text: str) -> bool:
    """Whether a text confirms what the visitor was asked back about."""
    return read_closing(text) in (YES, NOD, AGREE)


def _text(message: str, clause: Sequence[Word]) -> str:
    return message[clause[0].start : clause[-1].end]


def _counters(clause: str) -> bool:
    return _first_word(clause) in WORDS.refusing or kind_of_talk(clause) in COUNTERS


def _first_word(text: str) -> str:
    return next((word.key for word in words(text) if word.kind != "mark"), "")


def _clauses(
    line: Sequence[Word], ends: frozenset[str] = _ENDS
) -> Iterator[tuple[list[Word], str]]:
    """The words of each clause, and the mark after it."""
    clause: list[Word] = []
    for word in line:
        if word.kind == "mark" and (word.key in ends or not word.key):
            yield clause, word.key
            clause = []
        elif word.kind != "mark":
            clause.append(word)


def _parts(clause: list[Word]) -> Iterator[list[Word]]:
    """A clause cut at its conjunctions."""
    part, i = [], 0
    while i < len(clause):
        end, kind = _TABLE.longest(clause, i)
        if kind in _PARTING:
            yield part
            part, i = [], end
        else:
            part, i = [*part, clause[i]], i + 1
    yield part


def _kinds(clause: Sequence[Word]) -> set[str]:
    """The kinds of the phrases that cover a clause; empty where a word is left over."""
    kinds, i = set(), 0
    while i < len(clause):
        end, kind = _TABLE.longest(clause, i)
        if kind in _PARTING or (not kind and clause[i].kind not in ("price", "currency")):
            return set()
        kinds.add(kind)
        i = max(end, i + 1)
    return kinds


HIGHEST_ASK = 10  # times the list price; the rule of the market
ARGUED = "argued_"  # before a kind of argument: "argued_tea" answers "some tea?"
# An argument in a text of these kinds is answered first, as in "hello, some tea?".
GENERAL = {row["kind"] for row in _KINDS.rows if "general" in row["traits"]}
ASK_TO_OPEN = ("price", "nod")  # need a price of the one who answers

UNCLEAR = re.compile(
    r"\d[oO]+(?![A-Za-z])"  # 5oo
    r"|(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])(?!\s*(?:k|l|lakh|lac|thousand|hazaa?r|cr)\b)"  # 5.000
    r"|\d/\d+(?:th)?\s+(?:of|ka|का)\s"  # 3/4 of 800
    r"|(?:\b(?:half|quarters?|thirds?|fifths?|tenths?|percent)|%)\s+of\s+(?:rs\.?\s*)?[₹\d]"
    r"|\d\s+(?:ka|ke|का|के)\s+(?:(?:do|teen|ek|दो|तीन|एक)\s+)?"
    r"(?:aadha|adha|half|tihai|chauthai|आधा|तिहाई|चौथाई)"
)


CLOSE, SHORTEST = 0.8, 3  # the likeness of a misspelt number word; letters that are too few
ENGLISH_NUMBERS = frozenset(VALUES["english"]) | WORDS.english_numbers


def slip(text: str) -> str:
    """The kind of talk of a text whose price is not clear, "unclear"; "" elsewhere.

    "Rs.5oo" is not ₹5, "₹5.000" is 5 or 5,000, and "a few thousand" is anything.
    """
    text = without_code(text)
    line = tokenize(text)
    vague = any(
        (before.key in WORDS.vague and (after if token.key == "of" else token).kind == "times")
        or (token.key in WORDS.doubles and after.is_number)
        or (token.key in WORDS.homophones and after.key in ENGLISH_NUMBERS)
        or (token.kind == "word" and _is_misspelt(before, token.key, after))
        for before, token, after in zip(line, line[1:], line[2:], strict=False)
    )
    return "unclear" if vague or (UNCLEAR.search(text) and prices(text)) else ""


# Words that are no misspelt number: all that a list or a table knows.
_KNOWN = frozenset().union(
    *LISTS.values(),
    SHARES,
    *(place.words for table in (_KINDS, _TABLE) for row in table.phrases for place in row.needs),
)


_EVERYDAY = frozenset(filter(str.isascii, WORDS.weak))  # "pets do", "even one"


def _is_misspelt(before: Token, word: str, after: Token) -> bool:
    """Whether a word is a number that nobody can read: "foure hundred", "ek hajar pancho"."""
    counts = (token for token in (before, after) if token.key not in _EVERYDAY)
    kinds = {token.kind for token in counts} & {"english", "hindi", "times"}
    if not kinds or word in _KNOWN:
        return False
    spoken = {"english", "hindi"} if kinds == {"times"} else kinds  # "sau" is of both
    numbers = [key for kind in {*spoken, "times"} for key in VALUES[kind] if len(key) > SHORTEST]
    return after.kind == "times" or bool(get_close_matches(word, numbers, 1, CLOSE))


def read_heard(text: str, seen: Table, agent: str) -> Reading:
    """The offers in a text that `agent` hears at `seen`, in the light of its own last move."""
    own_prices, _ = prices_of(seen, agent)
    messages = [move.action.message for move in seen.moves if move.agent == agent]
    is_answer = bool(messages) and kind_of_talk(messages[-1]) == "history"  # "how old is it?"
    return read_stances(text, own_prices[-1] if own_prices else None, is_answer)


def small_talk(text: str, seen: Table, agent: str) -> str:
    """The kind of answer that `agent` gives at `seen` to a `text` that names no acceptable price.

    It is a key of ANSWERS.
    """
    if relative(text):
        return "change"
    own_prices, _ = prices_of(seen, agent)
    text, stance = read_heard(text, seen, agent)
    if stance not in ("", NUMBER) and not prices(text):
        return stance
    if trouble := slip(text) or _price_trouble(text):
        return trouble
    kind = kind_of_talk(text, to_buyer=agent == "buyer")
    # "no scratches at all" is told, and no argument.
    is_denied = kind == TOLD and any(word.key in WORDS.negators for word in words(text))
    if (not kind or kind in GENERAL) and not is_denied and (arguments := arguments_in(text)):
        kind = ARGUED + arguments[0]
    if not kind:
        unknown = TOLD if stance == NUMBER else "nonsense"
        kind = "refusal" if _first_word(text) in WORDS.refusing else unknown
    if read_closing(text, own_prices[-1] if own_prices else None) not in ("", LEAVE):
        kind = "nod"
    return "price_first" if kind in ASK_TO_OPEN and not own_prices else kind


def answer_to(
    kind: str, seen: Table, agent: str, language: str, earlier: Sequence[str], seed: int
) -> str:
    """What `agent` says to talk of this `kind`: an answer that was not said yet.

    Where all were said, the one that was said longest ago. `earlier` are the agent's answers before
    it in this game. The facts of an answer are the item's name, condition and list price, the
    highest ask of the market and the agent's own last price.
    """
    answers = ANSWERS[language]
    own_prices, _ = prices_of(seen, agent)
    texts = [
        text.format(
            item=name_in(language, seen.item.name),
            condition=name_in(language, seen.item.condition),
            list=rupees(seen.item.list_price),
            own=rupees(own_prices[-1]) if own_prices else "",
            most=rupees(HIGHEST_ASK * seen.item.list_price),
        )
        for text in answers[agent].get(kind) or answers["both"][kind]
    ]
    last_said = {shape(text): place for place, text in enumerate(earlier)}
    places = [last_said.get(shape(text), -1) for text in texts]
    oldest = [text for text, place in zip(texts, places, strict=True) if place == min(places)]
    return oldest[np.random.default_rng(seed).integers(len(oldest))]


def _price_trouble(text: str) -> str:
    """What is wrong with the prices in a text; empty where it has none."""
    text = without_code(text)
    is_foreign = any(token.key in WORDS.foreign for token in tokenize(text))
    if is_foreign and any(c.isdigit() for c in text):
        return "foreign"
    amounts = {mention.amount for mention in prices(text)}
    if any(abs(amount) > HIGHEST_PRICE for amount in amounts):
        return "high"
    if len(amounts) > 1:
        return "several"
    if amounts:
        return "zero" if min(amounts) <= 0 else "each"
    return ""
