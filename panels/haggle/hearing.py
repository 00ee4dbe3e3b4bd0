"""What Sauda hears in the words of both sides, and what a language model wrote.

Style, mood, claim and candour in a seller's words are read by the patterns that the planner reads
by. A buyer's words are an act or none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from env import Offer, rupees, speech
from panels.haggle.game_view import HTML, sells
from panels.haggle.words import Translate
from panels.ui.look import note
from sauda.language import money
from sauda.language.lines import translate_phrases
from sauda.sessions.bazaar import Game

SEGMENT = re.compile(r"[^.!?,।]*(?:[.!?,।]+(?=\s|$)|$)")
PARTS = ("style", "mood", "claim", "candour")


@dataclass(frozen=True)
class Finding:
    """One thing that was heard; its place in the seller's last words, None where it is older."""

    part: str  # one of PARTS
    key: str  # of the words that name it
    phrase: str
    start: int | None
    cost: int = 0  # rupees that a claim names


def findings(lines: Sequence[str]) -> list[Finding]:
    """What was heard in a seller's lines, of each part the newest."""
    found: dict[str, Finding] = {}
    for number, line in enumerate(lines):
        heard: dict[str, Finding] = {}
        for one in _in_line(line):
            before = heard.get(one.part)
            if one.part == "style" and before:  # the phrase may have a comma
                phrase = line[before.start : one.start + len(one.phrase)]
                one = one if "₹" in phrase else replace(before, phrase=phrase)
            heard[one.part] = one
        if number + 1 < len(lines):
            heard = {part: replace(one, start=None) for part, one in heard.items()}
        if "claim" in heard:  # an older mark belongs to the older claim
            found.pop("candour", None)
        found |= heard
    return [found[part] for part in PARTS if part in found]


def _in_line(line: str) -> Iterator[Finding]:
    whole = speech.hear(line)
    claim = ""
    for match in SEGMENT.finditer(line):
        text = match[0].strip()
        if not text:
            continue
        start = match.start() + match[0].index(text)
        one, marked = speech.hear(text), speech.hear(f"{claim}, {text}") if claim else None
        if whole.style and one.style == whole.style:
            yield Finding("style", f"style_{one.style}", text, start)
        if whole.reaction and one.reaction == whole.reaction:
            yield Finding("mood", f"mood_{one.reaction}", text, start)
        if whole.topic and (one.topic, one.content) == (whole.topic, whole.content):
            claim = text.rstrip(".!?,।")
            yield Finding("claim", f"claim_{one.topic}_{one.content}", text, start, one.cost)
            if whole.mark == "plain":
                yield Finding("candour", "candour_plain", text, start)
        elif marked and whole.mark != "plain" and marked.mark == whole.mark:
            yield Finding("candour", f"candour_{marked.mark}", text, start)


def reading(game: Game, translate: Translate, language: str) -> Markup | str:
    """What is heard in the words of the seller, and of a buyer in the open market.

    Empty in the classic game, whose sellers say no such words.
    """
    market = game.play.state.table.standing
    if not (market or sells(game)):
        return ""
    asks, bids = _offers_of(game, "seller"), _offers_of(game, "buyer")
    lines = [offer.message for offer in asks if offer.message]
    if not sells(game):
        lines = [translate_phrases(line, language) for line in lines]
    has_spoken = bool(lines)
    if asks and not asks[-1].message:
        lines.append("")
    heard = findings(lines)
    quote = marked(lines[-1], heard, translate) if heard else ""
    act = _act(bids, translate) if market else ""
    return HTML.reading(quote, heard, has_spoken, act, translate)


def _offers_of(game: Game, seat: str) -> list[Offer]:
    """The prices that a seat named, with its words."""
    moves = game.observation.table.moves
    return [m.action for m in moves if m.agent == seat and isinstance(m.action, Offer)]


def _act(bids: Sequence[Offer], translate: Translate) -> str:
    """Which act the seller heard in the buyer's last words; "" where there were none."""
    said = [bid.message for bid in bids if bid.message]
    if not said:
        return ""
    act, price = speech.act_in(said[-1])
    told = translate(f"act_{act}" if act else "act_none")
    told += f" ({rupees(price)})" if price else ""
    return told if bids[-1].message else f"{told}, {translate('hears_before')}"


def marked(line: str, heard: Sequence[Finding], translate: Translate) -> Markup:
    """The line with each phrase that told something highlighted."""
    parts, end = [], 0
    for one in sorted((o for o in heard if o.start is not None), key=lambda o: o.start):
        if one.start < end:
            continue
        stop = one.start + len(one.phrase)
        parts += [(line[end : one.start], None), (line[one.start : stop], one)]
        end = stop
    return HTML.marked([*parts, (line[end:], None)], translate)


def raw(game: Game, translate: Translate) -> Markup:
    """The language model's last completion, unedited, and the changes made to its move.

    While the game runs, a completion that names a number is hidden: it may tell the limit.
    """
    last = game.model_moves[-1] if game.model_moves and not game.invalid_replies else None
    replies = [*last.invalid_replies, last.reply.text] if last else game.invalid_replies
    if not replies:
        return note(translate("raw_none"))
    shows_all = game.over or not game.model_seat.knows_limit
    parts = [
        Markup("<pre><code>{}</code></pre>").format(text)
        if shows_all or not names_a_number(text)
        else note(translate("raw_later"))
        for text in replies
    ]
    if last:
        changes = "; ".join(last.changes) if shows_all else "…"  # a change may name the limit
        edits = translate("changed", changes=changes) if last.changes else translate("unchanged")
        parts.append(note(f"{last.source}, {last.reply.tokens} tokens. {edits}"))
    return Markup("").join(parts)


def names_a_number(completion: str) -> bool:
    """Whether a completion holds a number, in digits or words."""
    return any(c.isdigit() for c in completion) or bool(money.prices(completion))
