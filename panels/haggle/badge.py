"""Who plays against the visitor: the name, the measured score with its row, the load status."""

import time
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup

from env import TYPES
from panels.haggle.choices import chosen_opponent
from panels.haggle.opponents import (
    ANY_SELLER,
    MARKET,
    SELLER_MODEL,
    STAND_IN,
    measured,
    opponent_name,
    persona_of,
    weights_of,
)
from panels.haggle.words import Translate
from panels.results import everything_else, reproduce
from panels.results.winners import MARKET_QUESTION
from panels.ui.look import note
from panels.ui.pictures import SAUDA, STRANGER, picture
from panels.ui.provenance import load_or_say
from sauda.experiments.evaluate import Cell
from sauda.llm.registry import row_name
from sauda.llm.server import Failed, ModelWorker, Ready, Stage
from sauda.records.schemas.base import Interval
from sauda.sessions.bazaar import Game


def opponent_badge(game: Game, model: ModelWorker, translate: Translate) -> Markup:
    """The opponent's name and measured score; for a language model also its load status.

    Of a hidden opponent nothing is told before the end. `model` is the worker of the language
    model in `game`.
    """
    figures, remark = Markup(""), Markup("")
    if game.model_seat and not _is_measured(game.opponent, model.stage):
        remark = note(translate("unmeasured"))
    elif game.model_seat and game.you == "buyer":
        remark = _seller_note(translate)
    elif game.you == "seller" and (game.over or not game.hidden):
        figures = score(game.opponent, translate)
    if figures:
        figures = Markup(" · {}").format(figures)
    who, status = opponent_label(game, translate), Markup("")
    if game.model_seat or game.stands_in_for:
        status = _load_status(game, model.stage, translate)
    name = Markup('<p class="sauda-who"><b>{}</b>{}</p>').format(who, figures) if who else ""
    return Markup('<div class="sauda-badge-row">{}<div>{}</div></div>').format(
        picture(face_of(game), "face"), Markup("").join([name, status, remark])
    )


def face_of(game: Game) -> str:
    """The drawing of the opponent: of its type where that is no longer hidden."""
    if game.you == "seller":
        return SAUDA if game.model_seat else STRANGER
    kind = persona_of(game.opponent) or game.opponent
    return kind if kind in TYPES and (game.over or not game.hidden) else STRANGER


def opponent_label(game: Game, translate: Translate) -> str:
    """The opponent's name; empty while it is hidden, and for the seller that a market has."""
    if game.hidden and not game.over:
        is_seller = chosen_opponent(game) == ANY_SELLER
        return translate("any_seller" if is_seller else "hidden_opponent") if game.opponent else ""
    if not game.opponent:
        return translate("own_seller") if game.stands_in_for else ""
    return opponent_name(game.opponent, translate)


def score(opponent: str, translate: Translate) -> Markup:
    """What a buyer wins on the open market, with a link to its row; empty where it has none."""
    row = row_name(opponent)
    entry = measured().get(row)
    if entry is None:
        return Markup("")
    grade = entry.interval
    sentence = translate(
        "measured_loser" if grade.mean < 0 else "measured_buyer",
        grade=f"{abs(grade.mean):.0%}",
        interval=_percent(grade),
        n=f"{entry.n:,}",
    )
    address = "?" + urlencode({"tab": "results", "part": MARKET_QUESTION.name, "row": row})
    again = reproduce.key(Cell(MARKET, row))
    return Markup('{} <a class="sauda-inpage" href="{}">{}</a> · {}').format(
        sentence,
        address,
        translate("row_link"),
        reproduce.link_to(MARKET_QUESTION.name, again, translate("again_link")),
    )


def _seller_note(translate: Translate) -> Markup:
    """How good a model seller's words are."""
    words = f"{translate('measured_seller', **seller_figures())} {translate('not_again')}"
    address = "?" + urlencode({"tab": "results", "part": everything_else.NAME})
    return Markup('<p class="sauda-note">{} <a class="sauda-inpage" href="{}">{}</a></p>').format(
        words, address, translate("words_link")
    )


def _is_measured(opponent: str, stage: Stage) -> bool:
    """Whether the weights that play are those of the opponent's figures in Results."""
    sells = opponent.startswith(f"{SELLER_MODEL}:")
    weights = SELLER_MODEL if sells else weights_of(opponent)
    if isinstance(stage, Ready) and stage.source.partition(",")[0] != weights:
        return False
    return seller_figures() is not None if sells else row_name(opponent) in measured()


@cache
def seller_figures() -> dict[str, str] | None:
    """How many lines of the model seller were its own words; None where nothing was measured."""
    artifact, _ = load_or_say("seller_quality.json")
    for row in artifact.data.rows if artifact else ():
        side = row.sides.get(SELLER_MODEL)
        if row.criterion == "own_words" and side:
            return {"share": f"{side.mean:.1%}", "n": f"{side.n:,}"}
    return None


def _percent(figure: Interval) -> str:
    """The interval of a share, in percent."""
    return f"[{figure.low:z.0%}, {figure.high:z.0%}]".replace("-", "−")


def _load_status(game: Game, stage: Stage, translate: Translate) -> Markup:
    """Whether the language model can reply, and who plays meanwhile."""
    absent = STAND_IN.replace("_", " ") if game.you == "seller" else translate("own_seller")
    if isinstance(stage, Ready):
        ready = translate("ready", seconds=f"{stage.seconds:.0f}")
        tone, status = "good", f"{stage.source} · {ready}"
    elif isinstance(stage, Failed):
        tone, status = "bad", translate("failed", reason=stage.reason, name=absent)
    else:
        seconds = f"{time.monotonic() - stage.since:.0f}"
        tone, status = "open", translate("loading", seconds=seconds, name=absent)
    return Markup(
        '<p class="sauda-who"><span class="sauda-state sauda-state-{}"></span>{}</p>'
    ).format(tone, status)
