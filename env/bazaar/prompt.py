"""The bazaar for a language model: an observation as a prompt, a completion as a move.

Goods of 50 and of 80,000 rupees read alike: a buyer's prices are whole percent of the list price,
which is public, so that its bids do not tell its limit; a seller's are percent of its own limit.
Where any words count (`speaks_freely`) a buyer's move begins with what it is, and it says a
sentence of its own; where a bid may hold extras they stand after its price, and to hold is to bid
the last bid again. In words `#` stands for the price, `@` for the price of another shop, and a
message that names another price makes no move, but for a sentence of its own. Training and serving
use the same prompt, `render`.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, zip_longest
from pathlib import Path
from typing import Any

from ..amounts import rupees
from ..core import IllegalAction, refuse_constant
from ..language import money
from .types import Accept, Deal, Move, Observation, Offer, WalkAway

Action = Offer | Accept | WalkAway

# What each seat is told: "people" for a buyer where any words count, "package" where its bids may
# hold extras too.
RULES = tomllib.loads(Path(__file__).with_name("prompt.toml").read_text(encoding="utf-8"))
HISTORY = 5  # deals before this one whose prices are told
LONGEST_QUOTE = 120  # characters of what the other side said
LONGEST_COMPLETION = 4_000  # characters that are looked at
QUOTED = 80  # characters of a completion in an error
HIGHEST = 10_000  # percent of the limit; beyond it a number is a slip
ALONE = re.compile(r"(^|[.!?।] )\d+[.।](?: |$)")  # a price that is a sentence of its own
SAY = 60  # characters of it
LETTERS = r"A-Za-z\u0900-\u0965\u0970-\u097f ,.!?'#-"  # of a constrained message: no digits
VERBS = ("offer", "raise", "hold", "accept", "walk")


def render(obs: Observation) -> list[dict[str, str]]:
    """`obs` as chat messages, to which a deal's later observations only append.

    First the rules, which are the same for every game of a seat; then the position and the other
    side's first move; then each own move as the completion that makes it, and each answer to it. A
    decoder can so reuse its cache, and a whole deal is one training sequence.
    """
    seat = "seller" if obs.agent == "seller" else "buyer"
    chat = [{"role": "system", "content": RULES[_rules_for(obs, seat)]}]
    news, made = [*_position(obs, seat)], []
    for move in _moves(obs):
        if move.agent == obs.agent:
            chat.append({"role": "user", "content": _turn(obs, news, made)})
            chat.append({"role": "assistant", "content": _completion(move.action, obs, made)})
            news, made = [], [*made, move.action]
        else:
            news.append(_answer(move, obs))
    if obs.table.rivals:
        active = sum(rival.active for rival in obs.table.rivals)
        news.append(f"Rivals {active}.{' You were outbid.' if obs.table.outbid else ''}")
    chat.append({"role": "user", "content": _turn(obs, news, made)})
    return chat


def _rules_for(obs: Observation, seat: str) -> str:
    """The key of RULES for who sits there."""
    if not speaks_freely(obs):
        return seat
    return "package" if obs.table.extras else "people"


def speaks_freely(obs: Observation) -> bool:
    """Whether it buys where any words count, and answers with a sentence of its own."""
    return obs.agent != "seller" and obs.table.version > 0


def _moves(obs: Observation) -> Iterator[Move]:
    """The deal's moves in order; own bids under seal, which no table holds, in their places."""
    table = obs.table
    sealed = [Move(obs.agent, Offer(bid)) for bid in table.bids] if table.rivals else []
    for pair in zip_longest(table.moves, sealed):
        yield from filter(None, pair)


def bid_to_hold(obs: Observation, made: Sequence[Action] | None = None) -> Offer | None:
    """The own bid that is bid again by who holds; None before the first.

    It is the one that counts: the best where bids stand, else the last. Which one counts with
    extras the seller alone knows, and there it is the last. `made` are own moves of the deal, by
    default all so far.
    """
    made = _own_moves(obs) if made is None else made
    bids = [action for action in made if isinstance(action, Offer)]
    if obs.table.standing and not obs.table.extras:
        return max(bids, key=lambda bid: bid.price, default=None)
    return bids[-1] if bids else None


def _position(obs: Observation, seat: str) -> Iterator[str]:
    """The facts that do not change during a deal."""
    table, private = obs.table, obs.own
    item = f"{clean(table.item.name)}, {clean(table.item.condition)}".replace("_", " ")
    if seat == "buyer":
        limit = "" if table.standing else f" Limit {_inside(obs, obs.reservation)}."
        yield f"{item}.{limit}"
    else:
        yield f"{item}. List {percent_of(obs, table.item.list_price)}."
    if private.get("quote") is not None and seat == "buyer":
        yield f"Shop {percent_of(obs, private['quote'])}."
    for name, label in (("values", "Worth to you"), ("costs", "Cost to you")):
        if name in private:
            amounts = (f"{extra} {_inside(obs, private[name][extra])}" for extra in table.extras)
            yield f"{label}: {', '.join(amounts)}."
    if "discount" in private:
        yield f"Keeps {round(100 * private['discount'])}%."
    if table.deals > 1:
        paid = " ".join(map(_share, table.past[-HISTORY:]))
        purse = f", purse {_inside(obs, private['purse'])}" if "purse" in private else ""
        paid = f"Before, percent of the first ask: {paid}." if paid else "Before: none."
        yield f"Deal {len(table.past) + 1}/{table.deals}{purse}. {paid}"
    if table.seller_type and seat == "buyer":
        yield f"Seller {table.seller_type}."


def _answer(move: Move, obs: Observation) -> str:
    """A move of the other side: its price and its words, without its manner."""
    seat = "Bid" if obs.agent == "seller" else "Ask"
    parts = [f"{seat} {_price_and_extras(obs, move.action)}."] * isinstance(move.action, Offer)
    if message := _quote(obs, move.action.message):
        parts.append(f"Says {json.dumps(message, ensure_ascii=False)}")
    return " ".join(parts)


def _price_and_extras(obs: Observation, offer: Offer) -> str:
    """An offer in percent, and what it asks for at that price: "45 with delivery, later"."""
    extras = ", ".join(name for name in obs.table.extras if name in offer.extras)
    return f"{percent_of(obs, offer.price)}{' with ' if extras else ''}{extras}"


def _turn(obs: Observation, news: Sequence[str], made: Sequence[Action]) -> str:
    """The events since the last own move, the round, and the round by which a deal must be made.

    Where bids stand, the one to hold and the limit come last, next to the reply: a small model that
    read its limit only at the start bid above it in nine games of ten.
    """
    deadline, number = obs.own.get("deadline"), len(made)
    until = "" if deadline is None else f", deadline {deadline}"
    parts = [*news, f"Round {number + 1}/{obs.table.rounds}{until}."]
    if speaks_freely(obs):
        parts += _so_far(obs, made)
    if obs.table.standing and obs.agent != "seller":
        which = "last" if obs.table.extras else "best"
        if bid := bid_to_hold(obs, made):
            parts.append(f"Your {which} bid {_price_and_extras(obs, bid)}.")
        parts.append(f"Limit {_inside(obs, obs.reservation)}.")
    return " ".join(filter(None, parts))


def _so_far(obs: Observation, made: Sequence[Action]) -> Iterator[str]:
    """What the own moves so far came to, and whether the next one is the last."""
    if len(made) + 1 == obs.table.rounds:
        yield "Last round."
    bids = [action for action in made if isinstance(action, Offer)]
    before = [bid_to_hold(obs, bids[:at]) for at in range(len(bids))]
    rises = sum(
        last is None or bid.price > last.price or bid.extras != last.extras
        for bid, last in zip(bids, before, strict=True)
    )
    if bids:
        yield f"You raised {rises}, held {len(bids) - rises}."


def completion(action: Action, obs: Observation) -> str:
    """The canonical completion that makes `action` at `obs`."""
    return _completion(action, obs, _own_moves(obs))


def _own_moves(obs: Observation) -> list[Action]:
    return [move.action for move in _moves(obs) if move.agent == obs.agent]


def _completion(action: Action, obs: Observation, made: Sequence[Action]) -> str:
    """The completion of a move at `obs`, or earlier in its deal after the own moves `made`."""
    verb = {Offer: "offer", Accept: "accept", WalkAway: "walk"}[type(action)]
    price = action.price if isinstance(action, Offer) else _last_price(obs)
    if speaks_freely(obs) and isinstance(action, Offer):
        last = bid_to_hold(obs, made)
        same = last is not None and action.extras == last.extras
        holds = same and percent_of(obs, price) <= percent_of(obs, last.price)
        verb = "hold" if holds else "raise"
    row: dict[str, Any] = {verb: percent_of(obs, price) if isinstance(action, Offer) else True}
    if verb == "raise" and action.extras:
        row["with"] = [name for name in obs.table.extras if name in action.extras]
    words = clean(action.message)[: money.LONGEST_MESSAGE]
    quote = obs.own.get("quote") if speaks_freely(obs) else None
    for mention in reversed(money.prices(words)):
        if mention.amount in (price, quote):
            mark = "#" if mention.amount == price else "@"
            words = words[: mention.start] + mark + words[mention.end :]
    if words:
        row["say"] = words[:LONGEST_QUOTE]
    return as_text(row)


def as_text(row: Mapping[str, Any]) -> str:
    """A completion as it is written: JSON without spaces."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def unit(obs: Observation) -> float:
    """The rupees that are 100 percent at `obs`: a buyer's list price, a seller's own limit."""
    return obs.reservation if obs.agent == "seller" else obs.table.item.list_price


def percent_of(obs: Observation, price: float) -> int:
    """`price` in whole percent, as the model reads it; halves are rounded up."""
    return math.floor(100 * price / unit(obs) + 0.5)


def _inside(obs: Observation, purse: float) -> int:
    """A limit in whole percent, rounded so that keeping to it keeps to the limit itself."""
    return math.floor(100 * purse / unit(obs) + 1e-9)


def _share(deal: Deal) -> str:
    """The price of a deal in percent of its first ask; "-" without one."""
    return "-" if deal.price is None else f"{math.floor(100 * deal.price / deal.opening_ask + 0.5)}"


def _quote(obs: Observation, message: str) -> str:
    """The other side's words with their prices in percent, to be quoted as data."""
    text = clean(message)[: money.LONGEST_MESSAGE]
    for mention in reversed(money.prices(text)):
        amount = str(percent_of(obs, mention.amount)) if abs(mention.amount) <= 1e12 else "too much"
        text = text[: mention.start] + amount + text[mention.end :]
    text = ALONE.sub(r"\1", text).strip()  # the ask, told already
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def clean(text: str) -> str:
    """One line without control characters and without a chat template's own marks."""
    text = re.sub(r"<\|[^|<>]{0,40}\|>|</?s>|<(?:start|end)_of_turn>", " ", text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def parse(completion: str, obs: Observation) -> Action:
    """The move that the first JSON object in `completion` makes at `obs`.

    Reads our own form and the published one (action, price, message); numbers also as text, in
    rupees where they bear a currency. A price that reads like the other side's takes it. Raises
    IllegalAction, quoting the completion, where there is no move or the words differ from it.
    """
    try:
        return _parse(completion, obs)
    except IllegalAction as error:
        form = f'expected a move such as {{"offer":45}}; {error}: {completion[:QUOTED]!r}'
        raise IllegalAction(form) from None


def _parse(completion: str, obs: Observation) -> Action:
    row = first_object(completion)
    verb, amount, words = _verb(row)
    extras = _extras(row, verb, obs)
    if speaks_freely(obs):
        quote = obs.own.get("quote")  # a claim of a price that it does not know stays without one
        words = words.replace("@", "" if quote is None else rupees(quote))
    standing = _last_price(obs)
    if verb == "hold":
        if (bid := bid_to_hold(obs)) is None:
            raise IllegalAction("to hold is to bid the best bid again, and there is none yet")
        return replace(bid, message=_fill_prices(words, None, bid.price, obs))
    if verb == "walk":
        return WalkAway(_fill_prices(words, None, standing, obs))
    price = None if amount is None else _price(amount, obs)
    if verb == "accept" and price not in (None, standing):
        raise IllegalAction("to accept is to take the other side's last price")
    if verb == "accept" or (price == standing and not extras):
        return Accept(_fill_prices(words, amount, standing, obs))
    if price is None:
        raise IllegalAction("an offer needs a price")
    return Offer(price, _fill_prices(words, amount, price, obs), extras)


def preview(text: str, obs: Observation) -> str:
    """The readable part of a growing completion: its price in rupees and its words.

    `parse` judges the completion once it is whole. Words that hold a number are left out until
    then, since the number may be the limit.
    """
    number = re.search(r'"(?:offer|raise|hold)"\s*:\s*"?(\d{1,5})(?=\D)', text)
    price = rupees(obs.priced(unit(obs) * int(number[1]) / 100)) if number else ""
    extras = re.search(r'"with"\s*:\s*\[([^\]]*)\]', text)
    words = re.search(r'"(?:say|message)"\s*:\s*"((?:[^"\\]|\\.)*)', text)
    message = words[1] if words and not re.search(r"\d", words[1]) else ""
    message = "" if money.prices(message) else re.sub("#", price, message)
    asked = f"with {', '.join(re.findall(r'[a-z]+', extras[1]))}" if extras else ""
    return " ".join(part for part in (price, asked, clean(message)) if part)


def first_object(completion: str) -> Mapping[str, Any]:
    """The first balanced JSON object, its keys in lower case; IllegalAction where there is none."""
    text = completion[:LONGEST_COMPLETION]
    decoder = json.JSONDecoder(parse_constant=refuse_constant, strict=False)
    for brace in re.finditer(r"\{", text):
        try:
            row, _ = decoder.raw_decode(text, brace.start())
        except (ValueError, RecursionError):  # prose in braces, or one never closed
            continue
        return {key.strip().lower(): value for key, value in row.items()}
    raise IllegalAction("it holds no JSON object")


def _verb(row: Mapping[str, Any]) -> tuple[str, Any, str]:
    """The verb, the number given with it or None, and the words."""
    words = row.get("say", row.get("message")) or ""
    if not isinstance(words, str):
        raise IllegalAction("what is said is a text")
    if isinstance(action := row.get("action"), str):
        verb, amount = action.strip().lower(), row.get("price")
        if verb not in VERBS:
            raise IllegalAction(f"an action is one of {', '.join(VERBS)}")
        return verb, amount if verb in ("offer", "raise") else None, words
    verbs = [verb for verb in VERBS if verb in row]
    if len(verbs) != 1:
        raise IllegalAction(f"it needs exactly one of {', '.join(VERBS)}")
    verb, amount = verbs[0], row[verbs[0]]
    if verb == "hold" or (verb not in ("offer", "raise") and amount is True):
        return verb, None, words
    if verb == "walk" or amount is None or isinstance(amount, bool):
        raise IllegalAction(f"{amount!r:.20} does not say what to {verb}")
    return verb, amount, words


def _extras(row: Mapping[str, Any], verb: str, obs: Observation) -> frozenset[str]:
    names, allowed = row.get("with", row.get("extras")) or [], obs.table.extras
    if not names:
        return frozenset()
    if not allowed:
        raise IllegalAction("a bid here is a price alone, without extras")
    if verb not in ("offer", "raise"):
        raise IllegalAction("only a bid with a price has extras")
    if not isinstance(names, list) or not all(name in allowed for name in names):
        raise IllegalAction(f"extras are a list of {', '.join(allowed)}")
    return frozenset(names)


def _price(amount: Any, obs: Observation) -> float:
    """The rupees that a completion's `amount` means at `obs`."""
    if isinstance(amount, str):
        text = amount[:QUOTED].replace("%", " ")
        mentions = money.prices(text) or money.prices(f"₹ {text}")  # alone, "sau" may be no price
        if len(mentions) != 1:
            raise IllegalAction("the price is no single number")
        (mention,) = mentions
        if any(mark in amount.lower() for mark in ("₹", "rs", "rupee", "inr", "रु")):
            return obs.priced(mention.amount)
        amount = mention.amount
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise IllegalAction("the price is no number")
    if not 0 < amount <= HIGHEST:
        raise IllegalAction(f"a price is over 0 and at most {HIGHEST} percent")
    asks = obs.table.asks
    standing = (asks[-1] if asks else None) if obs.agent == "seller" else obs.bid
    for price in (_last_price(obs), standing):
        if price is not None and amount == percent_of(obs, price):
            return price  # what reads the same is the same, whatever the rounding hid
    return obs.priced(unit(obs) * amount / 100)


def _last_price(obs: Observation) -> float | None:
    """The other side's last price, which an acceptance takes."""
    if obs.agent == "seller":
        return obs.bid
    return obs.ask if obs.table.asks else None


def _fill_prices(words: str, amount: Any, price: float | None, obs: Observation) -> str:
    """The words of a move with every price in them put in rupees; all must be the move's own.

    Who speaks freely is taken at its word: another price in a sentence is a fault of the sentence.
    """
    text = clean(words)
    if speaks_freely(obs):
        return text.replace("#", "" if price is None else rupees(price))
    if isinstance(amount, int | float):
        text = text.replace(f"{amount}%", "#")
    named = rupees(price) if price is not None else ""
    for mention in reversed(money.prices(text)):
        meant = {price, amount} if price is None else {price, amount, percent_of(obs, price)}
        if mention.amount == obs.own.get("quote") and obs.agent != "seller":
            continue  # the price that it knows of another shop
        if mention.amount not in meant or not named:
            quote = f"{text[mention.start : mention.end]!r:.20}"
            raise IllegalAction(f"it says {quote} and does not mean it")
        text = text[: mention.start] + named + text[mention.end :].removeprefix("%")
    return re.sub(r"#(?:\s?%)?", named, text).strip()


def schema(obs: Observation) -> Mapping[str, Any]:
    """The legal moves at `obs` as a JSON schema, for decoding that cannot forfeit.

    What is legal, not what is wise: offers go up to the purse, and where bids stand from the best
    one, but for bids of other extras. Words are a text without digits.
    """
    low, high = _legal_offers(obs)
    free = speaks_freely(obs)
    moves = [_move("walk", {"const": True}, obs)]
    theirs, sells = _last_price(obs), obs.agent == "seller"
    if theirs is not None and (sells or theirs <= obs.own.get("purse", obs.reservation)):
        moves.insert(0, _move("accept", {"const": True}, obs))
    if free and (bid := bid_to_hold(obs)):
        moves.insert(0, _move("hold", {"const": percent_of(obs, bid.price)}, obs))
        low += not obs.table.extras
    if low <= high:
        number = {"type": "integer", "minimum": low, "maximum": high}
        moves.insert(0, _move("raise" if free else "offer", number, obs))
    return {"anyOf": moves, "x-guidance": {"whitespace_flexible": False}}


def _move(verb: str, value: Mapping[str, Any], obs: Observation) -> dict[str, Any]:
    properties, extras = {verb: value}, obs.table.extras
    if verb == "raise" and extras:
        sizes = range(1, len(extras) + 1)
        packages = chain.from_iterable(combinations(extras, size) for size in sizes)
        properties["with"] = {"enum": list(map(list, packages))}
    shop = "@" if speaks_freely(obs) and obs.own.get("quote") is not None else ""
    properties["say"] = {"type": "string", "pattern": f"^[{LETTERS}{shop}]{{1,{SAY}}}$"}
    return {
        "type": "object",
        "properties": properties,
        "required": [verb],
        "additionalProperties": False,
    }


def _legal_offers(obs: Observation) -> tuple[int, int]:
    """The least and the most whole percent that may be offered; crossed where nothing may."""
    least = math.ceil(100 * 10.0**-obs.table.decimals / unit(obs))
    if obs.agent == "seller":
        over = max(least, percent_of(obs, obs.bid) + 1) if obs.bid is not None else least
        return over, math.floor(1000 * obs.table.item.list_price / unit(obs))
    if obs.table.standing and not obs.table.extras and obs.bid is not None:
        least = max(least, percent_of(obs, obs.bid))
    return least, _inside(obs, obs.own.get("purse", obs.reservation))
