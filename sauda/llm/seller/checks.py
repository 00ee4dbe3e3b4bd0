"""Checks that a seller's words say the decision: its price, its end, its claim, and nothing else.

The words are read as a buyer would read them: prices by `money`, claims by `tells`, the rest by
short lists of words. A line may hold only what its move needs: its words come from the listing or
from SPOKEN, and each sentence names the price or the listing, says the move, or is a courtesy.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from env import Accept, Item, Offer, WalkAway
from sauda.language import money, tells

LONGEST = 160  # characters


@dataclass(frozen=True, slots=True)
class Decision:
    """A seller's move as code made it; the message of `action` is its scripted line."""

    action: Offer | Accept | WalkAway
    kind: str  # opening, counter, rival, final, urgent, accept or walk
    price: float | None  # rupees; that of the ask or of the bid it takes, None when it walks
    item: Item
    heard: str  # what the buyer said last
    turn: int  # rounds played before


# What each claim sounds like, beside the tells of `language`; a claim is to be heard.
CLAIMS = {
    "rival": ("deception", r"another|other|somebody|someone"),
    "final": ("confidence", r"final|last|fixed|not a rupee|no less"),
    "urgent": ("urgency", r"now|soon|hurry|quick|fast|little time|no time|today"),
}
ACCEPTS = (
    r"all right|alright|done|deal|agreed|accept|ok|okay|yes|sure|fine|sold|(?:is|it's) yours|"
    r"take (?:it|your|the)|theek|pakka"
)
AGREES = r"agreed|i accept|accepted|sold|(?:we have|it's|it is) a deal|done"  # no counter says so
REFUSES = r"(?:not|cannot|can't|won't|unable to)(?: be)?(?: able to)? sell(?:ing)?(?!.* less)"
DENIES = rf"{REFUSES}|sorry|cannot|can't|won't|unable|no|not|never"
LEAVES = (
    r"goodbye|good bye|bye|leave it|another time|next time|nowhere|no deal|too far apart|"
    r"keep (?:it|my|this|the)|(?:cannot|can't|won't|not) sell|not for sale"
)
LIMITS = (
    r"lowest|minimum|bottom|my floor|reservation|at least|my limit|cost(?:s|ed)? me|"
    r"i (?:paid|bought)|break even|(?:no|any) profit|at a loss|lose money"
)
FOREIGN = r"[$€£¥]|dollars?|euros?|pounds?|usd|eur|gbp"
MARKS = r"<[|/\w]|[{}\[\]]|```|\*\*|^\s*[-•#]|\b(?:seller|buyer|listing|you|system|user)\s*:"
MACHINE = (
    r"an ai|language model|assistant|assist you|instructions?|prompt|listing|persona|system|"
    r"customer service|your (?:final|last|lowest|best|current) price|"
    r"i(?:'ll| will| would|'d| want to| can| am going to)? (?:buy|pay)"
)
# Words that state a fact of a thing. Each is to stand in the listing, or to follow from it.
FACTS = """new unused used original genuine authentic real pure warranty guarantee guaranteed
imported foreign handmade handcrafted handwoven antique vintage rare unique limited exclusive luxury
premium expensive free delivery deliver delivered doorstep shipping gift discount box bill receipt
charger accessories certified branded sealed waterproof organic leather silk cotton wool woollen
wooden wood teak sheesham rosewood brass copper bronze silver gold golden diamond steel iron glass
marble plastic linen velvet jute bamboo clay red blue green yellow black white pink purple orange
brown grey two three four five six ten dozen pair set"""
STATED = frozenset(FACTS.split())
FOLLOWS = {  # from a condition
    "new": "new unused brand good great excellent perfect mint fine condition",
    "like_new": "new like good great excellent perfect fine used condition",
    "very_good": "very good great fine used condition",
    "good": "good fine used condition",
    "acceptable": "acceptable used worn condition",
}
SAYS_LITTLE = {"a", "an", "as", "in", "is", "it", "its", "of", "the", "this", "that", "very"}
# All words that a line may hold beside those of its listing. "me", "pay", "send", "your" and their
# like are left out: with them a line could give the buyer an order.
SPOKEN_WORDS = """
able about accept again agreed all alright am and another apart are ask asking at be beautiful
beauty been best bhai bring but buyer buyers by bye came can can't cannot chance choice close
closing come coming could deal decide do does done down else eye fair far fast final fine fixed
for friend from get give given go goes good goodbye great haan had hai has have here honest hope
how hurry i i'll i'm interested it's item ji just keep last leave less let little looking lovely
lower lowest madam make may more much must my nahi never next nice no not now nowhere offer
offering ok okay on one only or other pakka piece please price prices quick quickly right rs
rupee rupees say sell selling shall shop sir so sold somebody someone soon sorry stand sure take
thank thanks that's theek them then these thing think those thought time to today too unable up
us waiting waits want wants was we we're welcome well what when will with won't worth would yes
you you're yours"""
SPOKEN = SAYS_LITTLE | frozenset(SPOKEN_WORDS.split())
COURTESY = (
    r"no|yes|well|ok|okay|(?:yes|no),? (?:sir|madam|friend)|yes or no|please|"
    r"(?:thank you|thanks)(?: (?:so|very) much)?(?: for coming)?|"
    r"(?:you(?:'re| are) )?welcome(?: here)?|what do you (?:say|think)|how (?:is|about) that|"
    r"is (?:that|it|this) (?:all right|okay|ok|fine|fair)|"
    r"i stand by (?:it|that)|that is (?:how it is|it|all)|(?:you have )?a (?:fine|good) eye|"
    r"what a (?:beauty|(?:beautiful|lovely|nice|fine) (?:thing|item|piece))(?: it is)?"
)


def faults(text: str, decision: Decision) -> tuple[str, ...]:
    """How `text` differs from what was decided, one short sentence each; () where it does not."""
    return tuple(dict.fromkeys(_faults(text, decision)))


def _faults(text: str, decision: Decision) -> Iterator[str]:
    if not text.strip():
        yield "is empty"
        return
    yield from _form(text)
    body = _without(text, decision.item.name)
    if _says(MACHINE, body):
        yield "does not speak as the seller"
    yield from _price_faults(body, decision)
    yield from _end_faults(body, decision.kind)
    yield from _claim_faults(body, decision.kind)
    if _says(LIMITS, body):
        yield "speaks of a limit"
    if unsupported(text, decision.item):
        yield "states what the listing does not"
    if foreign_words(body, decision.item):
        yield "holds a word that neither the listing nor the move needs"
    if not all(_serves(sentence, decision) for sentence in sentences(body)):
        yield "holds a sentence that its move does not need"


def _form(text: str) -> Iterator[str]:
    if len(text) > LONGEST:
        yield "is too long"
    if not re.search(r"[.!?।…][\"'”’)]*$", text.strip()):
        yield "breaks off"
    if re.search(MARKS, text, re.IGNORECASE | re.MULTILINE) or "\n" in text:
        yield "is more than a line of speech"
    parts = sentences(text)
    if len(set(parts)) < len(parts):
        yield "repeats itself"
    if any(c.isalpha() and not c.isascii() for c in text):
        yield "is in another script"
    elif not re.fullmatch(r"[\w\s₹,.!?'’‘\"“”–—…:;&()-]*", text) or "_" in text:
        yield "holds a sign that is not speech"


def sentences(text: str) -> list[str]:
    """The sentences of a text in lower case, without their marks."""
    parts = (part.strip(" ,;:\"'“”").lower() for part in re.split(r"[.!?।…]+(?=\s|$)", text))
    return [part for part in parts if part]


def _price_faults(body: str, decision: Decision) -> Iterator[str]:
    listed = set(_numbers(decision.item.name))
    mentions = [
        mention
        for mention in money.prices(body)
        if body[mention.start : mention.end] not in listed  # a bare number of the listing
    ]
    amounts = {mention.amount for mention in mentions}
    if _says(FOREIGN, body):
        yield "names another currency"
    if decision.kind == "walk":
        if amounts:
            yield "walks and names a price"
    elif amounts - {decision.price}:
        yield "names another price"
    elif decision.kind != "accept" and not amounts:
        yield "does not name the price"
    rest = body
    for mention in reversed(mentions):
        rest = rest[: mention.start] + " " + rest[mention.end :]
    if set(_numbers(rest)) - listed:
        yield "names a number that is not in the listing"


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*", text)


def _end_faults(body: str, kind: str) -> Iterator[str]:
    if kind == "walk":
        if not _says(LEAVES, body):
            yield "does not take leave"
        if "?" in body:
            yield "walks and asks"
    elif kind == "accept":
        if not _says(ACCEPTS, body) or _says(DENIES, body):
            yield "does not sound like a yes"
        if "?" in body:
            yield "accepts and asks"
    else:
        if _says(AGREES, body):
            yield "sounds like a yes"
        if _says(REFUSES, body) or _says("goodbye|bye", body):
            yield "refuses to sell"


def _claim_faults(body: str, kind: str) -> Iterator[str]:
    signals = {tell.signal for tell in tells.read(body) if "worth" not in tell.text.lower()}
    for claim, (signal, words) in CLAIMS.items():
        if kind == claim:
            if signal not in signals and not _says(words, body):
                yield f"does not say that it is {claim}" if claim != "rival" else "names no rival"
        elif signal in signals and kind != "walk":  # who leaves is firm and in a hurry
            yield f"makes a claim that was not decided: {signal}"
    if "sympathy" in signals and kind != "walk":
        yield "makes a claim that was not decided: sympathy"


def foreign_words(body: str, item: Item) -> list[str]:
    """The words of `body` that are neither in SPOKEN nor in the listing of `item`."""
    allowed = SPOKEN | _listed(item)
    words = _words(body.replace("’", "'"))
    return [word for word in dict.fromkeys(words) if not {word, word.removesuffix("s")} & allowed]


def _serves(sentence: str, decision: Decision) -> bool:
    """Whether a sentence names the price or the listing, says the move, or is a courtesy."""
    kind = decision.kind
    plain = re.sub(r",? (?:sir|madam|my friend|friend|ji|bhai|please)$", "", sentence)
    moves = {
        "accept": ACCEPTS,
        "walk": f"{LEAVES}|{DENIES}",
        **{c: w for c, (_, w) in CLAIMS.items()},
    }
    about = (_listed(decision.item) - SPOKEN) | {"thing", "item", "piece", "condition"}
    return (
        any(mention.amount == decision.price for mention in money.prices(sentence))
        or bool(about & set(_words(sentence)))
        or (kind in moves and _says(moves[kind], sentence))
        or re.fullmatch(COURTESY, plain) is not None
    )


def _listed(item: Item) -> set[str]:
    """The words of a listing and those that follow from its condition, plurals as singulars too."""
    words = set(_words(f"{item.name} {item.category} {item.condition.replace('_', ' ')}"))
    words |= set(FOLLOWS[item.condition].split())
    return words | {word.removesuffix("s") for word in words}


def unsupported(text: str, item: Item) -> list[str]:
    """The words of `text` that state a fact of the item which its listing does not hold."""
    given = _listed(item) | SAYS_LITTLE
    stated = [word for word in _words(text) if word in STATED]
    for tell in tells.read(_without(text, item.name)):
        if tell.signal == "condition":
            stated += _words(tell.text)
    return [word for word in dict.fromkeys(stated) if word not in given]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z\u0900-\u097f']+", text.lower())


def _without(text: str, name: str) -> str:
    """`text` with the item's own name, which may hold numbers and fine words, as "thing"."""
    return re.sub(re.escape(name), "thing", text, flags=re.IGNORECASE)


def _says(words: str, text: str) -> bool:
    return bool(re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE))
