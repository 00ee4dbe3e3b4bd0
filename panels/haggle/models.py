"""The language models a visitor can play against: names, load status, measured figures."""

import time
from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from panels.haggle.words import Translate
from panels.ui.look import note
from panels.ui.provenance import load_or_say
from sauda.llm.registry import row_name
from sauda.llm.seller.personas import PERSONAS
from sauda.llm.serving.events import Failed, Ready
from sauda.llm.serving.served import SEATS, THIS_PAGE, backends
from sauda.llm.serving.worker import ModelWorker
from sauda.sessions.bazaar import Game

BUYER_MODELS: Mapping[str, str] = {  # what a visitor can sell to: its label
    "sauda-mini+honest": "Sauda",
    "sauda-mini": "Sauda, bare",
    "sauda-mini+steering": "Sauda under the published steering",
}
SELLER_MODEL = SEATS["seller"].model
SELLER_MODELS: Mapping[str, str] = {  # what a visitor can buy from: its label
    f"{SELLER_MODEL}:{persona}": f"SmolLM2, {persona}" for persona in PERSONAS
}
MODELS: Mapping[str, str] = {**BUYER_MODELS, **SELLER_MODELS}
READY_SOON = 0.5  # seconds that a new game waits for a model that has nearly loaded
STAND_IN = "tit_for_tat"  # the scripted buyer that plays until the model has loaded


@cache
def models() -> dict[str, dict[str, ModelWorker]]:
    """The language models of this page by seat and backend; all visitors share them."""
    return backends()


def load_in_background() -> None:
    """Start to load the page's own buyer, so that the first visitor finds it ready."""
    models()["buyer"][THIS_PAGE].start()


def model_badge(game: Game | None, model: ModelWorker, translate: Translate) -> Markup:
    """The opponent's label, and the load status of its language model."""
    stage = model.stage
    stand_in = STAND_IN.replace("_", " ")
    if game and game.you == "buyer":
        stand_in = translate("own_seller")
    if isinstance(stage, Ready):
        tone, status = (
            "good",
            f"{stage.source} · {translate('ready', seconds=f'{stage.seconds:.0f}')}",
        )
    elif isinstance(stage, Failed):
        tone, status = "bad", translate("failed", reason=stage.reason, name=stand_in)
    else:
        seconds = f"{time.monotonic() - stage.since:.0f}"
        tone, status = "open", translate("loading", seconds=seconds, name=stand_in)
    # The player name shows which wrapper steers the model.
    plays = f"({game.opponent}) " if game and game.model_seat else ""
    playing = Markup("<b>{}</b> {}").format(opponent_label(game, translate), plays) if game else ""
    line = Markup('<p class="sauda-who">{}<span class="sauda-state sauda-state-{}"></span>{}</p>')
    return line.format(playing, tone, status) + measured_figures(game, model, translate)


def measured_figures(game: Game | None, model: ModelWorker, translate: Translate) -> Markup:
    """The measured figures of the language model in `game`; empty where a script plays."""
    if game is None or not game.model_seat or not isinstance(model.stage, Ready):
        return Markup("")
    seat = game.model_seat.agent
    loaded = model.stage.source.partition(",")[0]
    figures = buyer_figures(game.opponent) if seat == "buyer" else seller_figures()
    if model.name != THIS_PAGE or loaded != SEATS[seat].model or figures is None:
        return note(translate("unmeasured"))
    return note(translate(f"measured_{seat}", **figures))


@cache
def buyer_figures(opponent: str) -> dict[str, str] | None:
    """Grade and n of a buyer's row in the model comparison; None where there is none."""
    artifact, _ = load_or_say("evaluation/model-comparison.json")
    where = ("bazaar/open", row_name(opponent))
    for row in artifact.data.rows if artifact else ():
        if (row.task, row.policy) == where:
            grade = row.grade
            interval = f"{grade.mean:.3f} [{grade.low:.3f}, {grade.high:.3f}]"
            return {"row": row.policy, "grade": interval, "n": f"{row.n}"}
    return None


@cache
def seller_figures() -> dict[str, str] | None:
    """How many lines of the model seller were its own words; None where nothing was measured."""
    artifact, _ = load_or_say("seller_quality.json")
    for row in artifact.data.rows if artifact else ():
        side = row.sides.get(SELLER_MODEL)
        if row.criterion == "own_words" and side:
            return {"share": f"{side.mean:.1%}", "n": f"{side.n:,}"}
    return None


def opponent_label(game: Game, translate: Translate) -> str:
    """The opponent's label; empty while a scripted opponent is hidden."""
    if game.model_seat:
        return MODELS.get(game.opponent, game.opponent)
    if not game.stands_in_for:
        return ""
    return translate("own_seller") if game.you == "buyer" else STAND_IN.replace("_", " ")


def health_list(workers: Mapping[str, ModelWorker], translate: Translate) -> Markup:
    """One line a backend: whether it replies."""
    lines = [
        Markup("<li><b>{}</b>: {}</li>").format(name, health_of(model, translate))
        for name, model in workers.items()
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def health_of(model: ModelWorker, translate: Translate) -> str:
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {translate('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"
