"""What the Haggle tab shows of a game: the brief, the offers, the chat's bubbles, the opponent.

And what Sauda hears in the words of both sides: style, mood, claim and candour of a seller by the
patterns that the planner reads by; a buyer's words are an act or none.
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from urllib.parse import urlencode

from markupsafe import Markup

from env import Accept, Offer, amount_of, bonus, ear, rupees
from env.language.money import prices
from panels.haggle.conversation import NOTE, chart_words
from panels.haggle.opponents import (
    ANY_SELLER,
    BRIEF_TASK,
    SELLER_MODEL,
    STAND_IN,
    chosen_opponent,
    opponent_name,
    read_measured,
    weights_of,
)
from panels.haggle.words import ENGLISH, Translate, translator
from panels.results import everything_else
from panels.site.card import HIDDEN, face_at
from panels.ui.html import macros
from panels.ui.look import as_typed, note, person_line
from panels.ui.offers import LARGE, Offers, offer_chart
from panels.ui.provenance import load_or_say
from panels.ui.terms import term
from sauda.language.lines import name_in
from sauda.llm.server import Failed, ModelWorker, Ready, Stage
from sauda.sessions import ladder, nerves
from sauda.sessions.bazaar import Action, Game, quick_moves

HTML = macros("haggle")
IN_ENGLISH = translator(ENGLISH)
AGAIN = ":again"  # of a quick move's name, once a move was asked back
PARTS = ("style", "mood", "claim", "candour")


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.you == "seller"


def brief(game: Game, translate: Translate = IN_ENGLISH, language: str = ENGLISH) -> Markup:
    """The visitor's brief: the item, their limit, the rules of this game."""
    obs, item = game.observation, game.observation.table.item
    name = name_in(language, item.name)
    return HTML.brief(
        obs, game.over, name[0].upper() + name[1:], name_in(language, item.category),
        name_in(language, item.condition),
        most_bonus(game), translate,
    )  # fmt: skip


def most_bonus(game: Game) -> int | None:
    """The bonus of a sale at the list price; None where the game has none."""
    obs = game.observation
    if game.task_name != BRIEF_TASK:
        return None
    return bonus(obs.table.item.list_price, obs.table.item.list_price, obs.reservation)


def chart(game: Game, size: tuple[int, int] = LARGE, translate: Translate = IN_ENGLISH) -> Markup:
    """The offers as the visitor sees them, with the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    offers = Offers(table.asks, table.bids, table.rounds, deal, zopa)
    return offer_chart(offers, size, say=chart_words(translate))


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal, in rupees: shown only after the end.

    They are those for the item with `extras_sold`.
    """
    instance, extras = game.play.state.private["nature"][-1], extras_sold(game)
    return (
        instance.seller["reservation"] + amount_of(extras, instance.seller.get("costs", {})),
        instance.buyer["reservation"] + amount_of(extras, instance.buyer.get("values", {})),
    )


def extras_sold(game: Game) -> Collection[str]:
    """What was sold with the item; without a deal the extras that would have been worth it."""
    instance, past = game.play.state.private["nature"][-1], game.play.state.table.past
    if past and past[-1].price is not None:
        return past[-1].extras
    values, costs = instance.buyer.get("values", {}), instance.seller.get("costs", {})
    return [extra for extra in values if values[extra] > costs[extra]]


def open_moves(game: Game) -> dict[str, tuple[str, Action]]:
    """The quick moves that can be made now, each with its label's key, by what they are.

    A move is called "offer:1169", "accept:950" or "walk", with AGAIN once a move was asked back, so
    that a press which comes late makes the move that its button named, or none.
    """
    table, moves = game.observation.table, {}
    again = "" if game.unconfirmed is None else AGAIN
    for move in quick_moves(game.observation):
        name = "walk"
        if isinstance(move.action, Offer):
            name = f"offer:{move.action.price}"
        elif isinstance(move.action, Accept):
            name = f"accept:{table.bid if sells(game) else table.asks[-1]}"
        if move.action is not None:
            moves[name + again] = move.label, move.action
    return moves


def quick_labels(game: Game, translate: Translate) -> list[tuple[str, str]]:
    """The labels of the moves that can be made now, each with its move, or that there is none."""
    if game.waiting:
        return [("…", "")]
    labels = []
    for name, (label, _) in open_moves(game).items():
        price = name.removesuffix(AGAIN).partition(":")[2]
        shown = f"{translate(f'quick_{label}')} {rupees(float(price)) if price else ''}"
        labels.append((shown.strip(), name))
    return labels


# The chat -----------------------------------------------------------------------------------------


def chat_classes(game: Game) -> list[str]:
    """CSS classes of the chat: the face across, and whose colour the visitor's bubbles have."""
    face = face_of(game).replace(" ", "-")
    return [f"sauda-face-{face}"] + (["sauda-selling"] if sells(game) else [])


def bubbles(conversation: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages as HTML: `gr.Chatbot` renders it even where Markdown is off.

    A note of the page bears a tag by which the stylesheet draws it beside the bubbles.
    """
    return [
        {"role": "assistant", "content": f"<small>{as_typed(message['content'])}</small>"}
        if message["role"] == NOTE
        else {"role": message["role"], "content": _bubble(message["content"], message.get("price"))}
        for message in conversation
    ]


@lru_cache(maxsize=4096)  # a move draws the whole chat again
def _bubble(words: str, price: str | None) -> str:
    """The words as they were typed, under the price that was read in them if there is one.

    Words that were read as that price stand beside it, "8k2 = ₹8,200"; digits are not repeated.
    The tags bear no attributes: Gradio names a message for screen readers by its source.
    """
    if price is None:
        return as_typed(words)
    read = next((words[m.start : m.end] for m in prices(words) if rupees(m.amount) == price), "")
    is_other = bool(read) and _digits(read) != _digits(price)
    tag = f"<b><i>{as_typed(read)} =</i> {price}</b>" if is_other else f"<b>{price}</b>"
    rest = re.sub(rf"^{re.escape(price)}[.।]\s+", "", words)  # the tag says it already
    says_more = words.strip(" .!?,") != read.strip()
    return f"{tag} {as_typed(rest)}" if says_more else tag


def _digits(text: str) -> str:
    """The ASCII digits of a price, with its point; "35.5" for "₹35.50"."""
    digits = "".join(c for c in text if c in "0123456789.").strip(".")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


# The opponent -------------------------------------------------------------------------------------


def opponent_badge(
    game: Game, model: ModelWorker, translate: Translate, language: str = ENGLISH
) -> Markup:
    """The opponent's name; for a language model also its load status, and how it words its moves.

    Of a person of the ladder the introduction, and what its level asks.

    No row of Results stands beside it: those are of buyers that play scripts, and no table has
    games against people. Of a hidden opponent nothing is told before the end. `model` is the worker
    of the language model in `game`.
    """
    remark, status = "", None
    if game.model_seat and not _is_measured(game.opponent, model.stage):
        remark = note(translate("unmeasured"))
    elif game.model_seat and not sells(game):
        remark = HTML.seller_note(
            f"{translate('measured_seller', **seller_figures())} {translate('not_again')}",
            "?" + urlencode({"tab": "results", "part": everything_else.NAME}),
            translate,
        )
    if game.model_seat or game.stands_in_for:
        status = _load_status(game, model.stage, translate)
    label = _label(game, translate)
    if person := ladder.person_of(game):
        label, level = person.text("name", language), ladder.level_of(game)
        remark = person_line(person.text("line", language), level.shares if level else ())
    return HTML.badge(face_of(game), label, status, patience(game, translate), remark)


def patience(game: Game, translate: Translate) -> Markup | str:
    """A seller's patience in three dots, and how often it would leave; "" where unknown."""
    if game.over or not nerves.can_leave(game):
        return ""
    risk = nerves.chance_to_leave(game)
    dots = 3 - sum(risk >= least for least in (nerves.CALM, nerves.TENSE))
    key = "nerves_tense" if risk >= nerves.TENSE else "nerves"
    return HTML.patience(dots, translate(key, risk=f"{100 * risk:.0f}"))


def face_of(game: Game) -> str:
    """The drawing of the opponent."""
    return face_at(game.task_name, game.play.seed, HIDDEN if game.hidden else game.opponent)


def _label(game: Game, translate: Translate) -> str:
    """The opponent's name; empty while it is hidden, and for the seller that a market has."""
    if game.opponent and game.hidden and not game.over:
        return translate("any_seller" if chosen_opponent(game) == ANY_SELLER else "hidden_opponent")
    return opponent_name(game.opponent, translate) if game.opponent else ""


def _is_measured(opponent: str, stage: Stage) -> bool:
    """Whether the weights that play are those of the opponent's figures in Results."""
    writes = opponent.startswith(f"{SELLER_MODEL}:")
    weights = SELLER_MODEL if writes else weights_of(opponent)
    if isinstance(stage, Ready) and stage.source.partition(",")[0] != weights:
        return False
    return seller_figures() is not None if writes else opponent in read_measured()


@cache
def seller_figures() -> dict[str, str] | None:
    """How many lines of the model seller were its own words; None where nothing was measured."""
    artifact, _ = load_or_say("seller_quality.json")
    for row in artifact.data.rows if artifact else ():
        side = row.sides.get(SELLER_MODEL)
        if row.criterion == "own_words" and side:
            return {"share": f"{side.mean:.1%}", "n": f"{side.n:,}"}
    return None


def _load_status(game: Game, stage: Stage, translate: Translate) -> Markup | str:
    """Whether the language model can reply, or who plays meanwhile."""
    if isinstance(stage, Ready):
        ready = translate("ready", seconds=f"{stage.seconds:.0f}")
        return term(translate("is_ready"), f"{stage.source}, {ready}")
    absent = STAND_IN.replace("_", " ") if sells(game) else translate("own_seller")
    if isinstance(stage, Failed):
        return translate("failed", reason=stage.reason, name=absent)
    seconds = f"{time.monotonic() - stage.since:.0f}"
    return translate("loading", seconds=seconds, name=absent)


# What is heard ------------------------------------------------------------------------------------


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
    newest: dict[str, Finding] = {}
    for number, line in enumerate(lines):
        heard = {finding.part: finding for finding in _in_line(line)}
        if number + 1 < len(lines):
            heard = {part: replace(finding, start=None) for part, finding in heard.items()}
        if "claim" in heard:  # an older mark belongs to the older claim
            newest.pop("candour", None)
        newest |= heard
    return [newest[part] for part in PARTS if part in newest]


def _in_line(line: str) -> Iterator[Finding]:
    whole, start = ear.hear(line), 0
    for sentence in re.split(r"(?<=[.!?।])\s+", line):
        start = line.index(sentence, start)
        heard = ear.hear(sentence)
        if heard.style and heard.style == whole.style:
            yield Finding("style", f"style_{heard.style}", sentence, start)
        if heard.reaction and heard.reaction == whole.reaction:
            yield Finding("mood", f"mood_{heard.reaction}", sentence, start)
        if heard.topic and (heard.topic, heard.content) == (whole.topic, whole.content):
            claim, comma, tail = sentence.rpartition(", ")
            named = f"claim_{heard.topic}_{heard.content}"
            if heard.mark == "plain":
                yield Finding("claim", named, sentence, start, heard.cost)
                yield Finding("candour", "candour_plain", sentence, start)
            else:
                yield Finding("claim", named, claim, start, heard.cost)
                place = start + len(claim) + len(comma)
                yield Finding("candour", f"candour_{heard.mark}", tail, place)


def reading(game: Game, words: Sequence[str], translate: Translate) -> Markup | str:
    """What is heard in the words of the seller, and of a buyer in the open market.

    `words` are those of the chat, with each ask. Empty where nothing is heard, as in the classic
    game, whose sellers say no such words.
    """
    market = game.play.state.table.standing
    if not (market or sells(game)):
        return ""
    asks, bids = _offers_of(game, "seller"), _offers_of(game, "buyer")
    lines = [line for offer, line in zip(asks, words, strict=True) if offer.message]
    if asks and not asks[-1].message:
        lines.append("")
    heard = findings(lines)
    quote = mark(lines[-1], heard, translate) if heard else ""
    act = _act(bids, translate) if market else ""
    return HTML.reading(quote, heard, act, sells(game), translate) if heard or act else ""


def _offers_of(game: Game, seat: str) -> list[Offer]:
    """The prices that a seat named, with its words."""
    moves = game.observation.table.moves
    return [m.action for m in moves if m.agent == seat and isinstance(m.action, Offer)]


def _act(bids: Sequence[Offer], translate: Translate) -> str:
    """Which act the seller heard in the buyer's last words; "" where there were none."""
    messages = [bid.message for bid in bids if bid.message]
    if not messages:
        return ""
    act, price = ear.act_in(messages[-1])
    phrase = translate(f"act_{act}" if act else "act_none")
    phrase += f" ({rupees(price)})" if price else ""
    return phrase if bids[-1].message else f"{phrase}, {translate('hears_before')}"


def mark(line: str, heard: Sequence[Finding], translate: Translate) -> Markup:
    """The line with each phrase that told something highlighted."""
    parts, end = [], 0
    for finding in sorted((o for o in heard if o.start is not None), key=lambda o: o.start):
        if finding.start < end:
            continue
        stop = finding.start + len(finding.phrase)
        parts += [(line[end : finding.start], None), (line[finding.start : stop], finding)]
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
    return any(c.isdigit() for c in completion) or bool(prices(completion))
