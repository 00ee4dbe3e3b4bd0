"""What the Haggle tab shows of a game: the brief, the opponent, the chat's bubbles, the offers."""

import time
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup

from env import TYPES, Accept, Offer, bonus, rupees
from panels.haggle.conversation import chart_words
from panels.haggle.opponents import (
    ANY_SELLER,
    MARKET,
    SELLER_MODEL,
    STAND_IN,
    chosen_opponent,
    measured,
    opponent_name,
    persona_of,
    weights_of,
)
from panels.haggle.words import ENGLISH, Translate, translator
from panels.results.questions import everything_else, reproduce
from panels.results.questions.winners import MARKET_QUESTION
from panels.ui.html import macros
from panels.ui.look import as_typed, note
from panels.ui.offers import LARGE, Offers, offer_chart
from panels.ui.pictures import SAUDA, STRANGER
from panels.ui.provenance import load_or_say
from sauda.experiments.evaluate import Cell
from sauda.language.lines import category_in, condition_in, name_in
from sauda.language.money import prices
from sauda.llm.registry import row_name
from sauda.llm.server import Failed, ModelWorker, Ready, Stage
from sauda.sessions.bazaar import Game, quick_moves

HTML = macros("haggle")
IN_ENGLISH = translator(ENGLISH)


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.you == "seller"


def brief(game: Game, translate: Translate = IN_ENGLISH, language: str = ENGLISH) -> Markup:
    """The visitor's brief: the item, their limit, the rules of this game."""
    obs, item = game.observation, game.observation.table.item
    name = name_in(language, item.name)
    return HTML.brief(
        obs, game.over, name[0].upper() + name[1:], category_in(language, item.category),
        condition_in(language, item.condition),
        bonus(item.list_price, item.list_price, obs.reservation), translate,
    )  # fmt: skip


def chart(game: Game, size: tuple[int, int] = LARGE, translate: Translate = IN_ENGLISH) -> Markup:
    """The offers as the visitor sees them, with the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    offers = Offers(table.asks, table.bids, table.rounds, deal, zopa)
    return offer_chart(offers, size, say=chart_words(translate))


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal, in rupees: shown only after the end."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def quick_buttons(game: Game, shown_turns: int, translate: Translate) -> Markup:
    """The moves that can be made now as buttons, or that there is none.

    `shown_turns` counts the turns that the browser shows: a press that comes late makes no move.
    """
    if game.over or game.waiting:
        return HTML.quick(None, shown_turns)
    table, labels = game.observation.table, []
    for number, move in enumerate(quick_moves(game.observation)):
        label = translate(f"quick_{move.label}")
        if isinstance(move.action, Offer):
            label += f" {rupees(move.action.price)}"
        elif isinstance(move.action, Accept):
            label += f" {rupees(table.bid if sells(game) else table.asks[-1])}"
        if move.action is not None:
            labels.append((label, number))
    return HTML.quick(labels, shown_turns)


# The chat -----------------------------------------------------------------------------------------


def bubbles(conversation: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages as HTML: `gr.Chatbot` renders it even where Markdown is off."""
    return [{"role": message["role"], "content": _bubble(message)} for message in conversation]


def _bubble(message: Mapping[str, str]) -> str:
    """The words as they were typed, under the price that was read in them if there is one.

    Words that were read as that price stand beside it, "8k2 = ₹8,200"; digits are not repeated.
    The tags bear no attributes: Gradio names a message for screen readers by its source.
    """
    words, price = message["content"], message.get("price")
    if price is None:
        return as_typed(words)
    read = next((words[m.start : m.end] for m in prices(words) if rupees(m.amount) == price), "")
    is_other = bool(read) and _digits(read) != _digits(price)
    tag = f"<b><i>{as_typed(read)} =</i> {price}</b>" if is_other else f"<b>{price}</b>"
    says_more = words.strip(" .!?,") != read.strip()
    return f"{tag} {as_typed(words)}" if says_more else tag


def _digits(text: str) -> str:
    """The ASCII digits of a price, with its point; "35.5" for "₹35.50"."""
    digits = "".join(c for c in text if c in "0123456789.").strip(".")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


# The opponent -------------------------------------------------------------------------------------


def opponent_badge(game: Game, model: ModelWorker, translate: Translate) -> Markup:
    """The opponent's name and measured score; for a language model also its load status.

    Of a hidden opponent nothing is told before the end. `model` is the worker of the language
    model in `game`.
    """
    figures, remark, status = "", "", None
    if game.model_seat and not _is_measured(game.opponent, model.stage):
        remark = note(translate("unmeasured"))
    elif game.model_seat and not sells(game):
        remark = HTML.seller_note(
            f"{translate('measured_seller', **seller_figures())} {translate('not_again')}",
            "?" + urlencode({"tab": "results", "part": everything_else.NAME}),
            translate,
        )
    elif sells(game) and (game.over or not game.hidden):
        figures = score(game.opponent, translate)
    if game.model_seat or game.stands_in_for:
        status = _load_status(game, model.stage, translate)
    return HTML.badge(_face_of(game), _label(game, translate), figures, status, remark)


def _face_of(game: Game) -> str:
    """The drawing of the opponent: of its type where that is no longer hidden."""
    if sells(game):
        return SAUDA if game.model_seat else STRANGER
    kind = persona_of(game.opponent) or game.opponent
    return kind if kind in TYPES and (game.over or not game.hidden) else STRANGER


def _label(game: Game, translate: Translate) -> str:
    """The opponent's name; empty while it is hidden, and for the seller that a market has."""
    if game.opponent and game.hidden and not game.over:
        return translate("any_seller" if chosen_opponent(game) == ANY_SELLER else "hidden_opponent")
    return opponent_name(game.opponent, translate) if game.opponent else ""


def score(opponent: str, translate: Translate) -> Markup | str:
    """What a buyer wins on the open market, with a link to its row; empty where it has none."""
    row = row_name(opponent)
    entry = measured().get(row)
    if entry is None:
        return ""
    grade = entry.grade
    sentence = translate(
        "measured_loser" if grade.mean < 0 else "measured_buyer",
        grade=f"{abs(grade.mean):.0%}",
        interval=f"[{grade.low:z.0%}, {grade.high:z.0%}]".replace("-", "−"),
        n=f"{entry.n:,}",
    )
    again = reproduce.link_to(
        MARKET_QUESTION.name, reproduce.key(Cell(MARKET, row)), translate("again_link")
    )
    address = "?" + urlencode({"tab": "results", "part": MARKET_QUESTION.name, "row": row})
    return HTML.score(sentence, address, again, translate)


def _is_measured(opponent: str, stage: Stage) -> bool:
    """Whether the weights that play are those of the opponent's figures in Results."""
    writes = opponent.startswith(f"{SELLER_MODEL}:")
    weights = SELLER_MODEL if writes else weights_of(opponent)
    if isinstance(stage, Ready) and stage.source.partition(",")[0] != weights:
        return False
    return seller_figures() is not None if writes else row_name(opponent) in measured()


@cache
def seller_figures() -> dict[str, str] | None:
    """How many lines of the model seller were its own words; None where nothing was measured."""
    artifact, _ = load_or_say("seller_quality.json")
    for row in artifact.data.rows if artifact else ():
        side = row.sides.get(SELLER_MODEL)
        if row.criterion == "own_words" and side:
            return {"share": f"{side.mean:.1%}", "n": f"{side.n:,}"}
    return None


def _load_status(game: Game, stage: Stage, translate: Translate) -> tuple[str, str]:
    """A tone, and whether the language model can reply or who plays meanwhile."""
    if isinstance(stage, Ready):
        ready = translate("ready", seconds=f"{stage.seconds:.0f}")
        return "good", f"{stage.source} · {ready}"
    absent = STAND_IN.replace("_", " ") if sells(game) else translate("own_seller")
    if isinstance(stage, Failed):
        return "bad", translate("failed", reason=stage.reason, name=absent)
    seconds = f"{time.monotonic() - stage.since:.0f}"
    return "open", translate("loading", seconds=seconds, name=absent)
