"""What Sauda hears in the words of both sides, what they changed, and what a model wrote.

Style, mood, claim and candour in a seller's words are read by the patterns that the planner reads
by. A buyer's words are an act or none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from env import Offer, Table, rupees, speech
from panels.haggle.game_view import sells
from panels.haggle.result import ending_of
from panels.haggle.words import Translate
from panels.ui.look import note
from sauda.language import money
from sauda.language.lines import translate_phrases
from sauda.sessions.bazaar import Game, moves_of, without_words
from sauda.sessions.review import is_planned

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
            heard[one.part] = _joined(heard.get(one.part), one, line)
        if number + 1 < len(lines):
            heard = {part: replace(one, start=None) for part, one in heard.items()}
        if "claim" in heard:  # an older mark belongs to the older claim
            found.pop("candour", None)
        found |= heard
    return [found[part] for part in PARTS if part in found]


def _joined(before: Finding | None, one: Finding, line: str) -> Finding:
    """A finding and the one before it in its line as one: a phrase may have a comma."""
    if before is None or one.part != "style":
        return one
    phrase = line[before.start : one.start + len(one.phrase)]
    return replace(before, phrase=phrase) if "₹" not in phrase else one


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


def reading(game: Game, translate: Translate, language: str) -> Markup:
    """What is heard in the words of the seller, and of a buyer in the open market or who speaks.

    Empty in the classic game, whose sellers say no such words.
    """
    table, market = game.observation.table, game.play.state.table.standing
    if not (market or sells(game)):
        return Markup("")
    said = {
        seat: [
            translate_phrases(move.action.message, language)
            if seat != game.you
            else move.action.message
            for move in table.moves
            if move.agent == seat and isinstance(move.action, Offer) and move.action.message
        ]
        for seat in ("seller", "buyer")
    }
    last = _last_offer(table, "seller")
    lines = said["seller"] if last is None or last.message else [*said["seller"], ""]
    heard = findings(lines)
    shown = [_seller(lines[-1], heard, translate)] if heard else []
    if not heard:
        shown.append(note(translate("hears_nothing" if said["seller"] else "hears_wait")))
    if market and said["buyer"]:
        act, price = speech.act_in(said["buyer"][-1])
        act = translate(f"act_{act}") if act else translate("act_none")
        act += f" ({rupees(price)})" if price else ""
        if not _last_offer(table, "buyer").message:
            act += f", {translate('hears_before')}"
        shown.append(Markup("<p>{} <b>{}</b></p>").format(translate("heard_of_you"), act))
    return Markup('<div class="sauda-reads"><h3>{}</h3>{}</div>').format(
        translate("hears"), Markup("").join(shown)
    )


def _seller(line: str, heard: Sequence[Finding], translate: Translate) -> Markup:
    rows = [
        Markup("<li>{} <b>{}</b> · “{}”{}</li>").format(
            translate(f"hears_{one.part}"),
            translate(one.key, price=rupees(one.cost)),
            one.phrase,
            "" if one.start is not None else f" ({translate('hears_before')})",
        )
        for one in heard
    ]
    quote = Markup('<p class="sauda-quote">“{}”</p>').format(marked(line, heard, translate))
    return (quote if line else Markup("")) + Markup("<ul>{}</ul>").format(Markup("").join(rows))


def _last_offer(table: Table, seat: str) -> Offer | None:
    """The last price that a seat named, with its words."""
    made = [m.action for m in table.moves if m.agent == seat and isinstance(m.action, Offer)]
    return made[-1] if made else None


def marked(line: str, heard: Sequence[Finding], translate: Translate) -> Markup:
    """The line with each phrase that told something highlighted."""
    parts, end = [], 0
    for one in sorted((o for o in heard if o.start is not None), key=lambda o: o.start):
        if one.start < end:
            continue
        stop = one.start + len(one.phrase)
        title = translate(one.key, price=rupees(one.cost))
        parts += [
            Markup.escape(line[end : one.start]),
            Markup('<mark class="sauda-tell sauda-tell-{}" title="{}">{}</mark>').format(
                one.part, title, line[one.start : stop]
            ),
        ]
        end = stop
    return Markup("").join([*parts, Markup.escape(line[end:])])


def raw(game: Game, translate: Translate) -> Markup:
    """The language model's last completion, unedited, and the changes made to its move.

    While the game runs, a completion that names a number is hidden: it may tell the limit.
    """
    if not game.model_moves and not game.invalid_replies:
        return note(translate("raw_none"))
    replies = list(game.invalid_replies)
    if game.model_moves and not game.invalid_replies:
        last = game.model_moves[-1]
        replies = [*last.invalid_replies, last.reply.text]
    parts = [
        Markup("<pre><code>{}</code></pre>").format(text)
        if game.over or not game.model_seat.knows_limit or not names_a_number(text)
        else note(translate("raw_later"))
        for text in replies
    ]
    if game.model_moves and not game.invalid_replies:
        changes = "; ".join(last.changes)
        shows = game.over or not game.model_seat.knows_limit  # a change may name the limit
        edits = (
            translate("changed", changes=changes if shows else "…")
            if changes
            else translate("unchanged")
        )
        parts.append(note(f"{last.source}, {last.reply.tokens} tokens. {edits}"))
    return Markup("").join(parts)


def names_a_number(completion: str) -> bool:
    """Whether a completion holds a number, in digits or words."""
    return any(c.isdigit() for c in completion) or bool(money.prices(completion))


def has_effect(game: Game) -> bool:
    """Whether it can be told what the visitor's words changed: some were said where words count."""
    own = [game.play.turns[number].action for number in moves_of(game)]
    return game.over and is_planned(game) and any(action.message for action in own)


def effect_of(game: Game, translate: Translate) -> str:
    """How the finished game ends without the visitor's words, in a sentence."""
    silent = without_words(game)
    if silent.play.state.table.past == game.play.state.table.past:
        return translate("effect_same")
    if silent.over:
        return translate("effect_end", how=ending_of(silent, translate))
    return translate("effect_open", price=rupees(silent.observation.ask))
